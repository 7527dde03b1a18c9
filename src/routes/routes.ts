import type { GatewayPromise } from '../http/promise.ts';
import type { RawRequestOptions } from '../http/request.ts';
import { routeSpec } from '../http/route.ts';
import { baseOf } from '../http/settings.ts';
import type { Transport } from '../http/transport.ts';
import { rawBody } from '../uploads/raw-body.ts';
import { routeAnswer } from './answers.ts';

/** Calls a route by its path. Bad input rejects like everything else, so that one `catch` serves for all. */
export function callRoute(
  transport: Transport,
  method: unknown,
  path: string,
  options: RawRequestOptions | undefined,
): GatewayPromise<unknown> {
  return transport.raw(
    (client) => routeSpec(method, path, baseOf(client).version, options, rawBody(options)),
    routeAnswer(options),
  );
}
