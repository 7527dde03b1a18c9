import type { OpenResponse } from '../../calls/open-response.ts';
import type { GatewayRequest } from '../../calls/gateway-request.ts';
import { type Send, sendEach } from '../../calls/send-each.ts';
import { requireBase } from '../../calls/settings.ts';
import type { Change } from '../../http/request.ts';
import type { FailedAttempt } from '../../http/retry.ts';

/** The parameters that were rejected, by client: gateway, model and name. */
const rejected = new WeakMap<object, Set<string>>();

/** Returns whether a provider rejected a request, uncharged, because of a parameter. */
function refuses({ kind, status, body }: FailedAttempt, name: string): boolean {
  if (kind !== 'refused' || (status !== 400 && status !== 422)) return false;
  const { param, code, message } = body ?? {};
  return `${param} ${code} ${message}`.includes(name);
}

const isLeftOut = (name: string, { params }: Change): boolean =>
  Object.hasOwn(params, name) && params[name] === undefined;

/**
 * Sends a request, and once more without an optional parameter if a provider rejected that. Later requests for the
 * model are sent without it.
 */
export function sendOptional<T>(next: Send, request: GatewayRequest<T>): Promise<OpenResponse<T>> {
  const { optional = [] } = request.source;
  if (optional.length === 0) return next(request);
  const { client } = request;
  const known = rejected.get(client.shared) ?? new Set();
  rejected.set(client.shared, known);
  const model = String(request.params['model']);
  const toKey = (name: string): string => `${requireBase(client).root} ${model} ${name}`;
  const without = (names: readonly string[], params = request.change.params): GatewayRequest<T> => {
    const left = Object.fromEntries(names.map((name) => [name, undefined]));
    return names.length === 0 ? request : request.with({ params: { ...params, ...left } });
  };
  const first = without(optional.filter((name) => known.has(toKey(name))));
  return sendEach(next, first, {
    next({ failure, change }) {
      if (failure === undefined) return undefined;
      const name = optional.find((each) => !isLeftOut(each, change) && refuses(failure, each));
      if (name === undefined) return undefined;
      const details = { model, parameter: name };
      client.log.write('info', 'A parameter was rejected; the request is sent without it', details);
      return without([name], change.params);
    },
    reading(change) {
      for (const name of optional) if (isLeftOut(name, change)) known.add(toKey(name));
    },
  });
}
