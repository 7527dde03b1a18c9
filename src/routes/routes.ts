import { lateAnswer } from '../http/call.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { type RawRequestOptions, type RouteRequest, routeSpec } from '../http/request.ts';
import { baseOf } from '../http/settings.ts';
import type { Transport } from '../http/transport.ts';
import { loadRare } from '../load-rare.ts';
import { rawBody } from '../uploads/raw-body.ts';

/**
 * Calls a route by its path.
 *
 * Bad input rejects like everything else, so that one `catch` serves for all.
 *
 * @param first - Its method, or all of the request.
 */
export function callRoute(
  transport: Transport,
  first: string | RouteRequest,
  ownPath = '',
  ownOptions?: RawRequestOptions,
): GatewayPromise<unknown> {
  const whole = typeof first === 'object' ? first : undefined;
  const { method, path, ...options } = whole ?? { ...ownOptions, method: first, path: ownPath };
  return transport.raw(
    (client) => routeSpec(method, path, baseOf(client).version, options, rawBody(options)),
    lateAnswer('json', loadRare, ({ routeAnswer }) => routeAnswer(options)),
  );
}
