import { isObject } from '../answers/objects.ts';
import { check, shown } from '../options/check.ts';
import type { DefinedGateway } from '../options/gateway-profile.ts';

/** Returns the gateway of a host; `undefined` if the host is unknown. */
export type HostFinder = (host: string) => DefinedGateway | undefined;

/**
 * Reads the option `gateway`.
 *
 * @throws `InvalidInputError` if it is invalid
 */
export type GatewayReader = (gateway: unknown) => HostFinder;

export function isDefined(gateway: unknown): gateway is DefinedGateway {
  return (
    isObject(gateway) && typeof gateway['write'] === 'function' && isObject(gateway['profile'])
  );
}

/** Reads the option `gateway` of a client that does not know any gateway by name. */
export const readDefined: GatewayReader = (gateway) => {
  if (isDefined(gateway)) return () => gateway;
  const problem = `must be "auto" or defineGateway(profile), not ${shown(gateway)}.`;
  check(gateway === 'auto', 'gateway', problem);
  return () => undefined;
};
