const firstPause = 500;
const longestPause = 8_000;

/** The longest wait that a server may ask for, in milliseconds; past it the call fails at once. */
export const longestRetryAfter = 60_000;

function secondsToMilliseconds(value: string | null): number | undefined {
  if (value === null || value.trim() === '') return undefined;
  const seconds = Number(value);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.ceil(seconds * 1_000) : undefined;
}

/**
 * How long the server asks to wait, in milliseconds, or `undefined`.
 *
 * Reads `retry-after-ms`, `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), and the reset of
 * the `RateLimit` headers.
 */
export function retryAfterFrom(headers: Headers, now: number): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact);
  const header = headers.get('retry-after');
  const seconds = secondsToMilliseconds(header);
  if (seconds !== undefined) return seconds;
  const date = header === null ? Number.NaN : Date.parse(header);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  return secondsToMilliseconds(headers.get('ratelimit-reset'));
}

/**
 * The pause before a retry, in milliseconds: exponential with full jitter, so that many clients that
 * failed together do not come back together.
 *
 * @param retry - 0 for the first retry.
 * @param random - 0 to 1.
 */
export function backoffPause(retry: number, random: number): number {
  return Math.round(Math.min(longestPause, firstPause * 2 ** retry) * random);
}
