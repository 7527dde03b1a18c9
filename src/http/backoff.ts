const firstPause = 500;
const longestPause = 8_000;

/** The longest wait that a server may ask for, in milliseconds; past it the call fails at once. */
export const longestRetryAfter = 60_000;

/** Numbers above this are a point in time and not a duration: 30 years are no wait. */
const oldestUnixTime = 1_000_000_000;

function numberFrom(text: string | null): number | undefined {
  if (text === null || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}

function dateFrom(text: string | null): number | undefined {
  // Engines parse almost anything as a date ("-5" is in May 2001), so a time of day is asked for.
  if (text === null || !/\d:\d\d:\d\d/.test(text)) return undefined;
  // The asctime form of RFC 9110, 5.6.7 has no zone and means UTC.
  const date = Date.parse(/(gmt|utc|z|[+-]\d\d:?\d\d)\s*$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : date;
}

/**
 * How long the server asks to wait, in milliseconds, or `undefined`.
 *
 * Reads `retry-after-ms`, `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), what LiteLLM hands
 * on of a provider, and after a 429
 * the reset of the `RateLimit` headers, which other answers carry for information only.
 */
export function retryAfterFrom(
  headers: Headers,
  status: number | undefined,
  now: number,
): number | undefined {
  const exact = numberFrom(headers.get('retry-after-ms'));
  if (exact !== undefined) return Math.ceil(exact);
  const header = headers.get('retry-after') ?? headers.get('llm_provider-retry-after');
  const seconds = numberFrom(header);
  if (seconds !== undefined) return Math.ceil(seconds * 1_000);
  const date = dateFrom(header);
  if (date !== undefined) return Math.max(0, date - now);
  const reset = status === 429 ? numberFrom(headers.get('ratelimit-reset')) : undefined;
  if (reset === undefined) return undefined;
  const wait = reset * 1_000 - (reset > oldestUnixTime ? now : 0);
  return Math.max(0, Math.ceil(wait));
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
