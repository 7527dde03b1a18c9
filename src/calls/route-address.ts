import { means, unusableModel } from '../answers/error-codes.ts';
import { isJSON } from '../answers/failure.ts';
import { isModelMissing } from '../http/classify.ts';
import type { FailedAttempt } from '../http/retry.ts';
import type { BaseURL } from '../http/url.ts';

/**
 * What the clients of a gateway learned about an address without a version. Such a base URL gets `/v1`, as
 * gateways need it. Some providers have their routes directly below it, so a 404 is followed by one request
 * without `/v1`, which is free.
 */
export interface LearnedAddress {
  readonly root: string;
  /** Replaces `/v1` in paths. */
  readonly api: BaseURL['api'];
}

/** Operations whose route is missing with and without `/v1`, by the state that clients of a gateway share. */
const missing = new WeakMap<object, Set<string>>();

function findMissing(shared: object): Set<string> {
  const known = missing.get(shared) ?? new Set();
  missing.set(shared, known);
  return known;
}

/** Notes that an operation has no route, with and without `/v1`. */
export function noteMissing(shared: object, root: string, operation: string): void {
  findMissing(shared).add(`${root} ${operation}`);
}

/** Returns whether a 404 may mean that the routes are not below the `/v1` that was added to the base URL. */
export function mayLackVersion(
  { status, body }: FailedAttempt,
  shared: { readonly address?: LearnedAddress | undefined },
  { root, api, version }: BaseURL,
  { path, operation }: { readonly path: string; readonly operation: string },
): boolean {
  if (status !== 404 || version !== '' || api !== '/v1' || !/^\/v1(\/|$)/.test(path)) return false;
  // Only the route itself can say that a model or a task is missing.
  if (isModelMissing(status, body) || body?.envelope === 'task') return false;
  if (means(body ?? {}, unusableModel)) return false;
  return shared.address?.root !== root && !findMissing(shared).has(`${root} ${operation}`);
}

/** Returns whether a failed attempt shows that its server has the route, or leaves the outcome open. */
export const provesRoute = ({ status, body, phase }: FailedAttempt): boolean =>
  phase !== 'headers' || (status !== 404 && status !== 405 && body !== undefined && isJSON(body));
