import { isObject } from '../answers/objects.ts';
import { check, shown } from '../options/check.ts';
import { define, fromProfile } from './define.ts';
import { type GatewayReader, isDefined } from './find.ts';
import { liteLLM } from './litellm.ts';
import { newApi } from './new-api.ts';
import { openAICompatible } from './openai.ts';
import { openRouter } from './openrouter.ts';
import type { GatewayProfile } from '../options/gateway-profile.ts';

/** Every gateway that has a name. */
const gateways = [newApi, openRouter, liteLLM, openAICompatible].map(fromProfile);
const unlisted = fromProfile(newApi);

/** The names that the option `gateway` accepts. */
export const gatewayNames: readonly string[] = [
  'auto',
  ...gateways.map(({ profile }) => profile.name),
];

const isHost = (host: string, known: string): boolean =>
  host === known || host.endsWith(`.${known}`);

const isAt = ({ hosts = [] }: GatewayProfile, host: string): boolean =>
  hosts.some((known) => isHost(host, known));

/** Reads the option `gateway` of a client that knows every gateway of the package. */
export const readGateway: GatewayReader = (gateway) => {
  if (isDefined(gateway)) return () => gateway;
  const named = isObject(gateway)
    ? define(gateway)
    : gateways.find(({ profile }) => profile.name === gateway);
  if (named !== undefined) return () => named;
  const names = gatewayNames.join('", "');
  check(
    gateway === 'auto',
    'gateway',
    `must be one of "${names}", or a profile, not ${shown(gateway)}.`,
  );
  return (host) => gateways.find(({ profile }) => isAt(profile, host)) ?? unlisted;
};
