import { followSignal } from '../http/abort.ts';

/** Returns the shorter of two time limits; `null` is none. */
export function shorter(
  one: number | null | undefined,
  other: number | null | undefined,
): number | null {
  const limit = Math.min(one ?? Infinity, other ?? Infinity);
  return limit === Infinity ? null : limit;
}

/**
 * Runs `work` with a signal that is aborted with `signal`, or with `reason` once `limit` milliseconds have passed.
 *
 * @param limit - `null` for none.
 */
export async function withLimit<T>(
  signal: AbortSignal | null | undefined,
  limit: number | null,
  reason: unknown,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const unfollow = followSignal(signal, controller);
  const end = (): void => controller.abort(reason);
  const timer = limit !== null && limit > 0 ? setTimeout(end, limit) : undefined;
  if (limit !== null && limit <= 0) end();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    unfollow();
  }
}
