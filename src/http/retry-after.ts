import type { ErrorBody } from '../answers/failure.ts';
import { codeText, findFirst, isObject, parseJSON, toFields } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

/** Larger numbers are a Unix time, because 30 years is not a duration to wait. */
const minUnixTime = 1_000_000_000;

/** A Unix time in milliseconds is this close, and one in seconds isn't. */
const day = 86_400_000;

/** The longest requested wait that is honoured. The call fails immediately if it is longer. */
export const longestRetryAfter = 60_000;

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
function parseWait(text: string | null): number | undefined {
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

/** A wait in a message, for example `Please retry in 1.7s`, `wait 2 seconds` or `"retryDelay": "37s"`. */
const spokenWait =
  /(?:\b(?:retry|again|wait|available|resets?) (?:(?:in|after|for) )?(?:about )?|retryDelay\W{1,12})((?:\d{1,9}(?:\.\d{1,12})? ?[a-z]{1,12} ?){1,4})/i;
const spokenPart = /(\d{1,9}(?:\.\d{1,12})?) ?([a-z]{1,12}|毫秒|秒|分|小时|天)/gi;
/** The same in Chinese: `请等待 30 秒`, `5分钟后重试`. */
const chineseWait =
  /等待?\s?(\d{1,9}(?:\.\d{1,12})?\s?(?:毫秒|秒|分|小时|天))|(\d{1,9}(?:\.\d{1,12})?\s?(?:毫秒|秒|分|小时|天))钟?(?:之|以)?[后後]/;

/** The time at which a limit is reset, as in `will reset at 2026-09-01 12:00:00`. */
const spokenTime =
  /(?:\bresets? at |将在 ?)(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d{1,9})?)(?: ?(Z|UTC|GMT)\b|([+-]\d\d:\d\d))?/i;

/** The zone of Zhipu and Z.ai, which name none. */
const beijing = '+08:00';

const unitLengths: readonly (readonly [RegExp, number])[] = [
  [/^(ms|millis(econds?)?|毫秒)$/i, 1],
  [/^(s(ecs?|econds?)?|秒)$/i, 1_000],
  [/^(m(ins?|inutes?)?|分)$/i, 60_000],
  [/^(h(rs?|ours?)?|小时)$/i, 3_600_000],
  [/^(d(ays?)?|天)$/i, day],
];

/** Returns the wait that a message asks for, in milliseconds. */
function findSpokenWait(message: string): number | undefined {
  const chinese = chineseWait.exec(message);
  const text = spokenWait.exec(message)?.[1] ?? chinese?.[1] ?? chinese?.[2] ?? '';
  const waits = [...text.matchAll(spokenPart)].flatMap(([, count, unit = '']) => {
    const [, length] = unitLengths.find(([pattern]) => pattern.test(unit)) ?? [];
    return length === undefined ? [] : [Number(count) * length];
  });
  if (waits.length > 0) return Math.ceil(waits.reduce((sum, wait) => sum + wait));
  const [, date, time, utc, zone = utc === undefined ? beijing : 'Z'] =
    spokenTime.exec(message) ?? [];
  const wait = date === undefined ? 0 : Date.parse(`${date}T${time}${zone}`) - Date.now();
  // A time that has passed is that of another zone.
  return wait > 0 ? wait : undefined;
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

type Header = readonly [name: string, value: string];

/** A limit in headers. */
interface Limit {
  /** Unset if the headers do not say what remains. */
  readonly isExhausted?: boolean | undefined;
  /** Milliseconds until the limit is reset, if the headers say so. */
  readonly wait?: number | undefined;
  /** `true` for a reset without the name of a limit, which may be that of each. */
  readonly isPlain?: boolean;
}

const none = /^0+(\.0+)?$/;

/** Parses `RateLimit` of the IETF's draft, `"default";r=0;t=2`, and of its earlier version, `remaining=0, reset=2`. */
function parseLimits(value: string): readonly Limit[] {
  const items = value.includes(';') ? value.split(',') : [value];
  return items.map((item) => {
    const [, left] = /\b(?:r|remaining)=(\d{1,15})/.exec(item) ?? [];
    const [, reset] = /\b(?:t|reset)=(\d{1,15})/.exec(item) ?? [];
    return {
      isExhausted: left === undefined ? undefined : none.test(left),
      wait: parseWait(reset ?? null),
    };
  });
}

/**
 * Reads limits by the form of their names, because each vendor has its own: `x-ratelimit-reset-tokens`,
 * `anthropic-ratelimit-tokens-reset`, `ratelimitbysize-reset`, with `remaining` in the same place.
 */
function readLimits(headers: Iterable<Header>): readonly Limit[] {
  const found = new Map<string, Limit>();
  const all: Limit[] = [];
  for (const [name, value] of headers) {
    if (!name.includes('limit')) continue;
    if (/^(x-)?ratelimit$/.test(name)) all.push(...parseLimits(value));
    const word = ['remaining', 'reset'].find((part) => name.includes(part));
    if (word === undefined || name.includes('timeremaining')) continue;
    const key = name.replace(word, '');
    if (word === 'remaining') {
      found.set(key, { ...found.get(key), isExhausted: none.test(value) });
      continue;
    }
    const isPlain = /(^|-)rate-?limit-$/.test(key);
    found.set(key, { ...found.get(key), wait: parseWait(value), isPlain });
  }
  return [...all, ...found.values()];
}

function longest(limits: readonly Limit[]): number | undefined {
  const waits = limits.flatMap(({ wait }) => wait ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/**
 * Returns the milliseconds until the limits in headers are reset.
 *
 * @param which - `exhausted`: of those that have nothing left. `unknown`: also of those without a number of what
 *   remains, if none is exhausted. `all`: of every one.
 */
export function readReset(
  headers: Iterable<Header>,
  which: 'exhausted' | 'unknown' | 'all',
): number | undefined {
  const limits = readLimits(headers);
  if (which === 'all') return longest(limits);
  const exhausted = limits.filter(({ isExhausted }) => isExhausted === true);
  // Together has one reset for the limits of requests and tokens.
  const isShared = exhausted.some(({ wait }) => wait === undefined);
  const plain = isShared ? limits.filter(({ isPlain }) => isPlain === true) : [];
  const wait = longest([...exhausted, ...plain]);
  if (wait !== undefined || which === 'exhausted') return wait;
  return longest(limits.filter(({ isExhausted }) => isExhausted === undefined));
}

/** Returns the wait in headers such as `llm_provider-retry-after`, `x-ratelimit-timeremaining`. */
function readOtherWait(headers: Iterable<Header>): number | undefined {
  const names =
    /^(llm_provider|x)-retry-after$|limit.{0,100}retry-after|limit.{0,100}time-?remaining$/;
  return longest(
    [...headers].map(([name, value]) => ({
      wait: names.test(name) ? parseWait(value) : undefined,
    })),
  );
}

/** Reads the headers in `metadata.headers`, where some gateways put the limit. */
function readMetadataHeaders({ metadata }: JsonObject): readonly Header[] {
  const headers = toFields(toFields(metadata)['headers']);
  return Object.entries(headers).flatMap(([name, value]) => {
    const text = codeText(value);
    return text === undefined ? [] : [[name.toLowerCase(), text] as const];
  });
}

/** Fields of errors that contain a wait in seconds, or as a duration. */
const waitFields = ['retryDelay', 'retry_after', 'retryAfter', 'retry_after_seconds'];

/** Returns how long an error asks to wait, in milliseconds. */
function readBodyWait({ message = '', error }: RefusedBody, isLimit: boolean): number | undefined {
  const errors = listErrors(error);
  const texts = [message, error, ...errors.map(({ message: text }) => text)];
  return (
    findFirst(errors, (level) =>
      findFirst(waitFields, (name) => parseWait(codeText(level[name]) ?? null)),
    ) ??
    findFirst(texts, (text) => (typeof text === 'string' ? findSpokenWait(text) : undefined)) ??
    (isLimit
      ? findFirst(errors, (level) => readReset(readMetadataHeaders(level), 'unknown'))
      : undefined)
  );
}

/** The content of an error response. */
type RefusedBody = Partial<Pick<ErrorBody, 'message' | 'error'>>;

/**
 * Returns how long the server asks to wait, in milliseconds, or `undefined`.
 *
 * Reads `retry-after-ms`, `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), a provider's header that
 * gateways forward, and the error itself: Google's `RetryInfo`, and texts such as "try again in 1.7s" or "wait 2
 * seconds". For a 429 also the reset of exhausted limits in headers, which are only informative in other responses.
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
    parseWait(read('retry-after')) ??
    readOtherWait(headers ?? []) ??
    readBodyWait(body, isLimit) ??
    (isLimit ? readReset(headers ?? [], 'unknown') : undefined)
  );
}
