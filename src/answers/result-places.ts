import { isObject, isPlainObject, parseJSON } from './objects.ts';

/*
 * The one table of fields that are not results. The readers of images, videos and audio skip them at every level, also
 * in JSON inside text; each adds the fields that only its medium has.
 */

/**
 * Names of fields that repeat the request, and of other files than the result, in any spelling. Not `resource`, in which
 * Kling sends its videos.
 */
const others =
  /input|prompt|param|request|argument|payload|origin|(?<!re)source|reference|(^|_)(init|ref|mask|control)_?(image|img|video|audio|url)|thumb|preview|webhook|callback/i;

/** Names of fields with URLs of documentation, or of the task. */
const otherURLs =
  /^(urls|links|errors?)$|(status|poll(ing)?|cancel|fetch|query|task)_?url$|^(get|response)_?url$/i;

/**
 * Returns a test for the names of fields that do not hold the result.
 *
 * @param own - Names that are other files for one medium only.
 */
/* @__NO_SIDE_EFFECTS__ */
export const notResults = (...own: readonly RegExp[]): Pick<RegExp, 'test'> => {
  const patterns = [others, otherURLs, ...own];
  return { test: (name) => patterns.some((pattern) => pattern.test(name)) };
};

/** The nesting limit; gateways nest results less deeply. */
export const deepestResult = 8;

/** Parses a list or an object in JSON text: some gateways put the vendor's response into a text field. */
export function parseNested(value: unknown): unknown {
  const isNested = typeof value === 'string' && /^\s*[[{]/.test(value);
  return isNested ? (parseJSON(value) ?? value) : value;
}

const isURL = (text: string): boolean => /^\s*(https?:|data:)/i.test(text);

/** Returns the URLs anywhere in the parameters of a call. A gateway that repeats them has not made them. */
export function listURLs(value: unknown, levels = deepestResult): readonly string[] {
  if (typeof value === 'string') return isURL(value) ? [value.trim()] : [];
  if (levels === 0) return [];
  if (Array.isArray(value)) return value.flatMap((item) => listURLs(item, levels - 1));
  // Files have no URLs, and may be large.
  if (!isPlainObject(value)) return [];
  return Object.values(value).flatMap((inner) => listURLs(inner, levels - 1));
}

/**
 * Returns digests of the URLs that a call sent, for a handle that survives the process; `undefined` if it sent none. A
 * handle has no URL, because a URL may be signed.
 */
export function digestURLs(urls: readonly string[]): string[] | undefined {
  const digests = urls.filter(isAddress).slice(0, mostDigests).map(toDigest);
  return digests.length > 0 ? digests : undefined;
}

/** The largest number of digests in a handle. */
const mostDigests = 32;

const isAddress = (url: string): boolean => /^https?:/i.test(url);

/** Returns 53 bits that depend on each character. No runtime has a digest of its own that is synchronous. */
function toDigest(url: string): string {
  let [low, high] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < url.length; index += 1) {
    const code = url.charCodeAt(index);
    low = Math.imul(low ^ code, 0x9e3779b1);
    high = Math.imul(high ^ code, 0x5f356495);
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  return `#${(2 ** 32 * (high & 0x1f_ff_ff) + (low >>> 0)).toString(36)}`;
}

/** Returns whether a text is one of the URLs that a call sent, or has the digest of one. */
function isSent(text: string, sent: readonly string[]): boolean {
  const url = text.trim();
  return sent.includes(url) || (isAddress(url) && sent.includes(toDigest(url)));
}

/**
 * Returns a copy of a response without the URLs that its call sent, also in JSON inside text.
 *
 * @param sent - The URLs, or their digests.
 */
export function withoutSent(
  value: unknown,
  sent: readonly string[],
  levels = deepestResult,
): unknown {
  if (sent.length === 0 || levels === 0) return value;
  if (typeof value === 'string') {
    if (isSent(value, sent)) return undefined;
    const inner = parseNested(value);
    return inner === value ? value : withoutSent(inner, sent, levels - 1);
  }
  if (Array.isArray(value)) {
    return value.flatMap((item) => withoutSent(item, sent, levels - 1) ?? []);
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutSent(inner, sent, levels - 1)]),
  );
}

/** The URLs that the call sent which submitted a task, by its handle. Kept in memory; a handle has their digests. */
const sentURLs = new WeakMap<object, readonly string[]>();

/** Remembers the URLs that a call sent, by the handle of its task or by a response. */
export function rememberSent(sent: readonly string[], ...owners: readonly unknown[]): void {
  if (sent.length === 0) return;
  for (const owner of owners) if (isObject(owner)) sentURLs.set(owner, sent);
}

/** Returns the URLs that a call sent or their digests, by the handle of its task or by a response. */
export const sentBy = (...owners: readonly (object | undefined)[]): readonly string[] =>
  owners.flatMap((owner) => {
    if (owner === undefined) return [];
    return sentURLs.get(owner) ?? ('sent' in owner ? listDigests(owner.sent) : []);
  });

/** Returns the digests in a handle. */
function listDigests(sent: unknown): readonly string[] {
  const items: readonly unknown[] = Array.isArray(sent) ? sent : [];
  return items.filter((item) => typeof item === 'string').filter((item) => item.startsWith('#'));
}
