import type { ErrorBody } from '../answers/failure.ts';
import { codeText, findFirst, isObject, parseJSON, toFields } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

/** Larger numbers are a Unix time, because 30 years is not a duration to wait. */
const minUnixTime = 1_000_000_000;

/** A Unix time in milliseconds is this close, and one in seconds isn't. */
const day = 86_400_000;

const number = /^\d+(\.\d+)?$/;

/** Durations as OpenAI writes them in `x-ratelimit-reset-*`, for example `1m30.5s` or `20ms`. */
const duration = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?$/;
const shortDuration = /^(\d+(?:\.\d+)?)ms$/;

function parseDuration(text: string): number | undefined {
  const [, short] = shortDuration.exec(text) ?? [];
  if (short !== undefined) return Math.ceil(Number(short));
  const [match, hours = 0, minutes = 0, seconds = 0] = duration.exec(text) ?? [];
  if (!match) return undefined;
  return Math.ceil(((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000);
}

/** Converts seconds, a duration, a Unix time or a date to a wait in milliseconds. */
export function parseWait(text: string | null): number | undefined {
  if (text === null) return undefined;
  const now = Date.now();
  if (number.test(text)) {
    const value = Number(text);
    const isMilliseconds = Math.abs(value - now) < day;
    const milliseconds = value * (isMilliseconds ? 1 : 1_000);
    return Math.max(0, Math.ceil(milliseconds - (value > minUnixTime ? now : 0)));
  }
  const wait = parseDuration(text);
  if (wait !== undefined) return wait;
  // Engines parse almost anything as a date ("-5" is in May 2001), so a time of day is required.
  if (!/\d:\d\d:\d\d/.test(text)) return undefined;
  // The asctime form of RFC 9110, 5.6.7 has no zone and means UTC.
  const date = Date.parse(/(gmt|utc|z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** A wait in a message, for example `Please retry in 1.7s`, `try again in 6m0s` or `"retryDelay": "37s"`. */
const spokenWait =
  /(?:\b(?:retry|try again) (?:in|after) |retryDelay\W{1,12})((?:\d{1,9}(?:\.\d{1,12})? ?[a-z]{1,12} ?){1,4})/i;
const spokenPart = /(\d{1,9}(?:\.\d{1,12})?) ?([a-z]{1,12})/gi;

const unitLengths: readonly (readonly [RegExp, number])[] = [
  [/^(ms|millis(econds?)?)$/i, 1],
  [/^s(ecs?|econds?)?$/i, 1_000],
  [/^m(ins?|inutes?)?$/i, 60_000],
  [/^h(rs?|ours?)?$/i, 3_600_000],
  [/^d(ays?)?$/i, day],
];

/** Returns the wait that a message asks for, in milliseconds. */
function findSpokenWait(message: string): number | undefined {
  const [, text = ''] = spokenWait.exec(message) ?? [];
  const waits = [...text.matchAll(spokenPart)].flatMap(([, count, unit = '']) => {
    const [, length] = unitLengths.find(([pattern]) => pattern.test(unit)) ?? [];
    return length === undefined ? [] : [Number(count) * length];
  });
  return waits.length === 0 ? undefined : Math.ceil(waits.reduce((sum, wait) => sum + wait));
}

/** More objects than an error with that of the provider and its details has. */
const maxObjects = 64;

/**
 * Returns an error, the errors of providers in it, and their details. Some gateways put the provider's error into
 * `metadata.raw`, also as JSON text.
 */
function listErrors(error: unknown): readonly JsonObject[] {
  const found: JsonObject[] = [];
  const queue = [error];
  for (const item of queue) {
    if (queue.length > maxObjects) break;
    if (Array.isArray(item)) queue.push(...item.slice(0, maxObjects));
    if (!isObject(item)) continue;
    found.push(item);
    const raw = toFields(item['metadata'])['raw'];
    queue.push(item['error'], item['details'], typeof raw === 'string' ? parseJSON(raw) : raw);
  }
  return found;
}

type ReadField = (name: string) => string | null;

const none = /^0+$/;

/** Returns the milliseconds until the limits of `x-ratelimit-*` that have nothing left are reset. */
function readReset(read: ReadField): number | undefined {
  const waits = ['', '-requests', '-tokens'].flatMap((kind) => {
    const left = read(`x-ratelimit-remaining${kind}`);
    const isExhausted = left === null ? kind === '' : none.test(left);
    return (isExhausted ? parseWait(read(`x-ratelimit-reset${kind}`)) : undefined) ?? [];
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Reads the headers in `metadata.headers`, where some gateways put the limit. */
function readMetadataHeaders({ metadata }: JsonObject): ReadField {
  const headers = toFields(toFields(metadata)['headers']);
  const fields = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return (name) => codeText(fields.get(name)) ?? null;
}

/** Returns how long an error asks to wait, in milliseconds. */
function readBodyWait({ message = '', error }: RefusedBody, isLimit: boolean): number | undefined {
  const errors = listErrors(error);
  const texts = [message, error, ...errors.map(({ message: text }) => text)];
  return (
    findFirst(errors, ({ retryDelay }) => parseWait(codeText(retryDelay) ?? null)) ??
    findFirst(texts, (text) => (typeof text === 'string' ? findSpokenWait(text) : undefined)) ??
    (isLimit ? findFirst(errors, (level) => readReset(readMetadataHeaders(level))) : undefined)
  );
}

/** The longest requested wait that is honoured. The call fails immediately if it is longer. */
export const longestRetryAfter = 60_000;

/** The content of an error response. */
type RefusedBody = Partial<Pick<ErrorBody, 'message' | 'error'>>;

/**
 * Returns how long the server asks to wait, in milliseconds, or `undefined`.
 *
 * Reads `retry-after-ms`, `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), a provider's header that
 * gateways forward, and the error itself: Google's `RetryInfo`, and texts such as "try again in 1.7s". For a
 * 429 also the reset of the `RateLimit` headers, which are only informative in other responses.
 */
export function readRetryAfter(
  headers: Headers | undefined,
  status: number | undefined,
  body: RefusedBody = {},
): number | undefined {
  const read = (name: string): string | null => headers?.get(name) ?? null;
  const exact = read('retry-after-ms') ?? '';
  if (number.test(exact)) return Math.ceil(Number(exact));
  const isLimit = status === 429;
  return (
    parseWait(read('retry-after') ?? read('llm_provider-retry-after')) ??
    readBodyWait(body, isLimit) ??
    (isLimit ? (parseWait(read('ratelimit-reset')) ?? readReset(read)) : undefined)
  );
}
