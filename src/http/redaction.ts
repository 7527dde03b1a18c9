import { InvalidInputError } from '../errors/gateway-error.ts';
import { ownCause } from '../answers/objects.ts';
import type { FailedAttempt } from './retry.ts';

type Rewrite = (text: string) => string;

/** A URL of any scheme from its colon on, and its query or fragment, also as they stand in JSON within JSON. */
const urls = /(:(?:\\*\/){2}(?:[^\s"'<>`?#\\]|\\+\/)+)([?#](?:[^\s"<>\\]|\\+[/u])*)?/g;

/** A query without the URL that it belongs to. */
const queries = /[?&](?:[^\s"<>\\]|\\+[/u])*/g;

const accessNames = /signature|^sig$|token|key|secret|credential|passw|^x-amz-|^x-goog-/i;

function givesAccess(parameter: string): boolean {
  const end = parameter.indexOf('=');
  return end > 0 && accessNames.test(parameter.slice(0, end));
}

const withoutUser = (url: string): string => url.replace(/^(:[/\\]*\/)[^/\\]*@/, '$1[user]@');

/**
 * Takes the queries and the user info out of the URLs in text: what a signed URL gives access with is
 * in its query. Where no URL can be seen, the names of the parameters decide.
 */
export function withoutQueries(text: string): string {
  return text
    .replace(urls, (_, url: string, query: string = '') => {
      const isAnchor = query === '' || (query.startsWith('#') && !query.includes('='));
      const isClean = query.startsWith('?[query]') && !query.includes('=');
      return withoutUser(url) + (isAnchor || isClean ? query : '?[query]');
    })
    .replace(queries, (query) =>
      query.split(/[?&;#]|u0026/).some(givesAccess) ? `${query.charAt(0)}[query]` : query,
    );
}

/** The same value with other texts in it, or the value itself when nothing in it changes. */
export function rewritten(value: unknown, rewrite: Rewrite): unknown {
  if (typeof value === 'string') return rewrite(value);
  if (typeof value !== 'object' || value === null) return value;
  let clean = '';
  try {
    const text = JSON.stringify(value);
    clean = rewrite(text);
    if (clean === text) return value;
    const copy: unknown = JSON.parse(clean);
    return copy;
  } catch {
    // It nests too deep, or a number was the key.
    return clean;
  }
}

/** Deeper than any runtime nests causes. */
const deepest = 6;

/** Functions are objects too: they can have fields that hold anything. */
function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** Fields in which the errors of runtimes hold objects, which are harmless when they hold no others. */
const flatFields: readonly unknown[] = ['opensslErrorStack', 'cert', 'socket'];

/**
 * Whether what was thrown holds no more than an error of a runtime may: other HTTP libraries put the
 * request on theirs, and some runtimes name the URL with its query.
 */
function isHarmless(value: unknown, clean: Rewrite, levels: number): boolean {
  if (typeof value === 'string') return clean(value) === value;
  if (!isObject(value)) return true;
  if (!(value instanceof Error) || levels === 0) return false;
  return ['cause', ...Reflect.ownKeys(value)].every((key) => {
    const field: unknown = Reflect.get(value, key);
    const isFlat = flatFields.includes(key) && isObject(field);
    const isList = key === 'errors' && Array.isArray(field);
    const parts: readonly unknown[] = isFlat || isList ? valuesOf(field) : [field];
    const left = key === 'cause' || isList ? levels - 1 : 0;
    return parts.every((part) => isHarmless(part, clean, left));
  });
}

function valuesOf(value: object): readonly unknown[] {
  return Reflect.ownKeys(value).map((key): unknown => Reflect.get(value, key));
}

/** What of a runtime's error is kept on a copy, besides its message. */
const keptFields = ['name', 'stack', 'code', 'errno', 'syscall', 'hostname', 'address', 'port'];

/** The same failure with nothing but its name, its cleaned texts and what names the fault. */
function withoutRequest(error: object, clean: Rewrite, levels: number): Error {
  const message: unknown = Reflect.get(error, 'message');
  const cause: unknown = Reflect.get(error, 'cause');
  const copy = new Error(
    typeof message === 'string' ? clean(message) : '',
    isObject(cause) && levels > 0 ? { cause: withoutRequest(cause, clean, levels - 1) } : undefined,
  );
  for (const field of keptFields) {
    const value: unknown = Reflect.get(error, field);
    if (typeof value === 'string') Reflect.set(copy, field, clean(value));
    if (typeof value === 'number') Reflect.set(copy, field, value);
  }
  return copy;
}

/**
 * What `fetch` threw, fit to be kept on an error.
 *
 * The errors of the runtimes are kept as they are, unless they name the whole URL, as Bun's and Deno's
 * do. A `fetch` that is made of another HTTP library may throw errors with the whole request on them,
 * key and prompt included. Of both a copy is kept that has only name, text and code.
 *
 * @param clean - Takes out of text what may not be kept.
 */
export function safeCause(error: unknown, clean: Rewrite): unknown {
  if (typeof error === 'string') return clean(error);
  try {
    if (!isObject(error) || isHarmless(error, clean, deepest)) return error;
    return withoutRequest(error, clean, deepest);
  } catch {
    // A getter that throws.
    return undefined;
  }
}

/** A shorter key may be part of any word, and taking it out would garble what is said. */
const shortestKey = 8;

/** Names under which callers send what gives access. */
const secretNames =
  /key|token|secret|auth|cookie|pass|sign|sig$|credential|session|jwt|\bpin\b|access|bearer/i;

/** The keys in the value of a header or a query: a cookie or a scheme with a key holds several. */
function keysIn([name, value]: readonly [name: string, value: string]): string[] {
  const whole = name === 'authorization' ? value.slice(value.indexOf(' ') + 1) : value;
  const parts = value.split(/[\s;,]/).map((part) => part.slice(part.indexOf('=') + 1) || part);
  const keys = [whole, ...parts];
  // Gateways take the prefix off before they look the key up, and may repeat the rest. A short rest may be
  // a word, as in the key of a test.
  const rests = keys.filter((key) => key.startsWith('sk-')).map((key) => key.slice(3));
  return [...keys, ...rests.filter(({ length }) => length >= 2 * shortestKey)];
}

/** The forms in which a key may stand in text: in JSON, in a URL, and in one within JSON. */
function formsOf(key: string): string[] {
  return [
    key,
    JSON.stringify(key).slice(1, -1),
    key.replaceAll('/', String.raw`\/`),
    encodeURIComponent(new TextDecoder().decode(new TextEncoder().encode(key))),
    new URLSearchParams([['', key]]).toString().slice(1),
  ];
}

/**
 * Takes out of what gateways and runtimes say what may not get into errors, and so into logs: the key
 * of the call, what else of it looks like one, and queries of URLs. Some gateways repeat the key that
 * they refuse.
 */
export class Redaction {
  /** What was sent. It is not looked at before something was said: most calls succeed. */
  readonly #sent: (readonly [headers: Headers, url: string])[] = [];

  /**
   * Takes note of what an attempt sends. A function may give another key to each.
   *
   * @param url - Its query may give access too.
   */
  remember(headers: Headers, url: string): void {
    this.#sent.push([headers, url]);
  }

  /** Whether the value of a header or of a query looks like something that gives access. */
  isSecret(name: string, value: string): boolean {
    // The key by which a gateway knows a repeated call gives no access.
    if (/^idempotency/i.test(name)) return false;
    if (secretNames.test(name)) return true;
    // Random letters and digits; ids are made of the same, and are there to be shown.
    const isRandom = /^[\w.~+/=-]{20,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value);
    return isRandom && !/id$|trace/i.test(name);
  }

  /** Everything that may not be shown, the longest first: a part of it may be a key as well. */
  get #keys(): readonly string[] {
    const sent = this.#sent.flatMap(([headers, url]) => [...headers, ...new URL(url).searchParams]);
    const secrets = sent.filter(([name, value]) => this.isSecret(name, value));
    const keys = secrets.flatMap(keysIn).filter(({ length }) => length >= shortestKey);
    return [...new Set(keys)].toSorted((one, other) => other.length - one.length);
  }

  withoutKeys(text: string): string {
    const forms = this.#keys.flatMap(formsOf);
    return forms.reduce((clean, form) => clean.replaceAll(form, '[key]'), text);
  }

  readonly #clean = (text: string): string => withoutQueries(this.withoutKeys(text));

  /** Response headers: where a redirect leads can be a signed URL. */
  headers(headers: Headers): Headers {
    const entries = [...headers].map(([name, value]): [string, string] => {
      const whole = name === 'location' ? value.replace(/[?#].*$/s, '?[query]') : value;
      return [name, this.#clean(whole)];
    });
    return new Headers(entries);
  }

  /** All that is known of a failed attempt. An answer that came with a success keeps its URLs. */
  attempt(failed: FailedAttempt): FailedAttempt {
    const { kind, headers, body, text, problem, data, cause } = failed;
    const { message, code, sentCode, type, param, error } = body ?? {};
    // An abort has the caller's own reason, and bad input our own words.
    const isOwn = kind === 'aborted' || InvalidInputError.isInstance(cause);
    return {
      ...failed,
      headers: headers && this.headers(headers),
      body: body && {
        ...body,
        message: message && this.#clean(message),
        code: code && this.#clean(code),
        sentCode: typeof sentCode === 'string' ? this.#clean(sentCode) : sentCode,
        type: type && this.#clean(type),
        param: param && this.#clean(param),
        error: rewritten(error, this.#clean),
      },
      text: text && this.withoutKeys(text),
      problem: problem && this.withoutKeys(problem),
      data: rewritten(data, (part) => this.withoutKeys(part)),
      cause: isOwn ? ownCause(cause) : safeCause(cause, this.#clean),
    };
  }
}
