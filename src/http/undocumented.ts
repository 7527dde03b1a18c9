import type { ChargeClass } from '../endpoints.ts';
import type { RequestOptions } from '../options.ts';
import type { CallSpec } from './call-spec.ts';
import { check } from '../check.ts';
import { resolvePath, type BaseURL } from './url.ts';

/** The methods that `request` takes. */
export type HTTPMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Options of a call to a route that this package does not know. */
export interface RawRequestOptions extends RequestOptions {
  /** The JSON body. */
  body?: unknown;
}

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** RFC 9110, 9.2.2: these methods may be repeated; of any other it is not known what it costs. */
const repeatable: readonly string[] = ['GET', 'PUT', 'DELETE'];

/** Makes the call of a route that is not documented. A `POST` counts as charged. */
export function undocumentedSpec(
  method: HTTPMethod,
  path: string,
  version: BaseURL['version'],
  options: RawRequestOptions | undefined,
): CallSpec {
  check(methods.includes(method), 'method', `must be one of ${methods.join(', ')}.`);
  const isRead = method === 'GET';
  check(!isRead || options?.body === undefined, 'body', 'cannot go with a GET; use query instead.');
  const resolved = resolvePath(path, version);
  const charge: ChargeClass = repeatable.includes(method) ? 'free' : 'charged';
  return {
    operation: `${method} ${resolved.split('?', 1)[0]}`,
    method,
    path: resolved,
    query: undefined,
    charge,
    accept: 'application/json',
    json: options?.body,
    options,
  };
}
