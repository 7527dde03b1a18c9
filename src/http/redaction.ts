import { InvalidInputError } from '../errors/gateway-error.ts';
import { safeReason } from '../answers/objects.ts';
import type { FailedAttempt } from './retry.ts';
import { isSecretName } from './url.ts';

type Rewrite = (text: string) => string;

/** Matches a URL after its scheme: host and path, then query or fragment. Slashes may be escaped. */
const urls = /(:(?:\\*\/){2}(?:[^\s"'<>`?#\\]|\\+\/)+)([?#](?:[^\s"<>\\]|\\+[/u])*)?/g;

/** A query string without its URL. */
const queries = /[?&](?:[^\s"<>\\]|\\+[/u])*/g;

function isAccessParameter(parameter: string): boolean {
  const end = parameter.indexOf('=');
  return end > 0 && isSecretName(parameter.slice(0, end));
}

const withoutUser = (url: string): string => url.replace(/^(:[/\\]*\/)[^/\\]*@/, '$1[user]@');

/**
 * Removes queries and user info from URLs in text, because signed URLs grant access by their query. Query
 * strings without a recognizable URL are removed if a parameter's name suggests a secret.
 */
export function withoutQueries(text: string): string {
  return text
    .replace(urls, (_, url: string, query: string = '') => {
      const isAnchor = query === '' || (query.startsWith('#') && !query.includes('='));
      const isClean = query.startsWith('?[query]') && !query.includes('=');
      return withoutUser(url) + (isAnchor || isClean ? query : '?[query]');
    })
    .replace(queries, (query) =>
      query.split(/[?&;#]|u0026/).some(isAccessParameter) ? `${query.charAt(0)}[query]` : query,
    );
}

/** Returns the value with all its text rewritten, or the value itself if nothing changes. */
export function rewriteText(value: unknown, rewrite: Rewrite): unknown {
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
    // It is nested too deeply, or the key was a number.
    return clean;
  }
}

/** More than any runtime nests causes. */
const maxDepth = 6;

/** Includes functions, because they can have fields too. */
function canHoldFields(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** Fields with objects in errors of runtimes. They are harmless unless they contain further objects. */
const flatFields: readonly unknown[] = ['opensslErrorStack', 'cert', 'socket'];

/**
 * Returns whether an exception contains only what errors of runtimes contain. Errors of HTTP libraries may
 * contain the request, and some runtimes include the URL with its query.
 */
function isHarmless(value: unknown, clean: Rewrite, levels: number): boolean {
  if (typeof value === 'string') return clean(value) === value;
  if (!canHoldFields(value)) return true;
  if (!(value instanceof Error) || levels === 0) return false;
  return ['cause', ...Reflect.ownKeys(value)].every((key) => {
    const field: unknown = Reflect.get(value, key);
    const isFlat = flatFields.includes(key) && canHoldFields(field);
    const isList = key === 'errors' && Array.isArray(field);
    const values: readonly unknown[] = isFlat || isList ? getValues(field) : [field];
    const levelsLeft = key === 'cause' || isList ? levels - 1 : 0;
    return values.every((item) => isHarmless(item, clean, levelsLeft));
  });
}

function getValues(value: object): readonly unknown[] {
  return Reflect.ownKeys(value).map((key): unknown => Reflect.get(value, key));
}

/** Fields of a runtime's error that are copied, besides its message. */
const keptFields = ['name', 'stack', 'code', 'errno', 'syscall', 'hostname', 'address', 'port'];

/** Returns a copy with only the cleaned message, stack, codes and causes. */
function withoutRequest(error: object, clean: Rewrite, levels: number): Error {
  const message: unknown = Reflect.get(error, 'message');
  const cause: unknown = Reflect.get(error, 'cause');
  const copy = new Error(
    typeof message === 'string' ? clean(message) : '',
    canHoldFields(cause) && levels > 0
      ? { cause: withoutRequest(cause, clean, levels - 1) }
      : undefined,
  );
  for (const field of keptFields) {
    const value: unknown = Reflect.get(error, field);
    if (typeof value === 'string') Reflect.set(copy, field, clean(value));
    if (typeof value === 'number') Reflect.set(copy, field, value);
  }
  return copy;
}

/**
 * Returns an exception of `fetch` in a form that is safe as the `cause` of an error.
 *
 * Errors of runtimes are kept, unless they contain the whole URL as in Bun and Deno. A `fetch` built on
 * another HTTP library may throw errors with the whole request, including key and prompt. Both are replaced
 * by a copy with name, message and codes.
 *
 * @param clean - Removes secrets from text.
 */
export function safeCause(error: unknown, clean: Rewrite): unknown {
  if (typeof error === 'string') return clean(error);
  try {
    if (!canHoldFields(error) || isHarmless(error, clean, maxDepth)) return error;
    return withoutRequest(error, clean, maxDepth);
  } catch {
    // A getter that throws.
    return undefined;
  }
}

/** Shorter keys may be part of any word, so only whole words are removed. */
const minKeyLength = 8;
/** Shorter words are not secrets. */
const minWordLength = 4;

const isWordAt = (text: string, at: number): boolean => /\w/.test(text.charAt(at));

/** Returns whether a place in a text ends the name of a field in JSON, which may be quoted in other JSON. */
function endsFieldName(text: string, place: number): boolean {
  let at = place;
  while (text[at] === '\\') at += 1;
  return text.startsWith('":', at);
}

/**
 * Replaces a secret in a text, in any case.
 *
 * @param isWord - `true` replaces whole words only, and no names of fields in JSON.
 */
export function replaceSecret(
  text: string,
  secret: string,
  replace: (match: string) => string,
  isWord: boolean,
): string {
  if (secret === '') return text;
  const lower = text.toLowerCase();
  const wanted = secret.toLowerCase();
  let result = '';
  let end = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) {
    const next = at + secret.length;
    const isPart = isWordAt(text, at - 1) || isWordAt(text, next) || endsFieldName(text, next);
    if (isWord && isPart) continue;
    result += text.slice(end, at) + replace(secret);
    end = next;
  }
  return result + text.slice(end);
}

/** Returns the keys in the value of a header or query. A cookie, or a scheme with a key, contains several. */
function findKeys([name, value]: readonly [name: string, value: string]): string[] {
  const whole = name === 'authorization' ? value.slice(value.indexOf(' ') + 1) : value;
  const parts = value.split(/[\s;,]/).map((part) => part.slice(part.indexOf('=') + 1) || part);
  const keys = [whole, ...parts];
  // Gateways strip the prefix before looking the key up, and may repeat the rest. A short rest may be a word,
  // as in a test key.
  const rests = keys.filter((key) => key.startsWith('sk-')).map((key) => key.slice(3));
  return [...keys, ...rests.filter(({ length }) => length >= 2 * minKeyLength)];
}

/** Returns the forms of a key in text: in JSON, with escaped slashes, in a URL and in a form. */
function escapedForms(key: string): string[] {
  // None of these characters is ever escaped. Most keys have no others.
  if (/^[\w.-]+$/.test(key)) return [key];
  return [
    key,
    JSON.stringify(key).slice(1, -1),
    key.replaceAll('/', String.raw`\/`),
    encodeURIComponent(new TextDecoder().decode(new TextEncoder().encode(key))),
    new URLSearchParams([['', key]]).toString().slice(1),
  ];
}

/** Returns whether a text in JSON is an id or a URL, which must stay usable. */
const isUsed = (field: string, text: string): boolean =>
  /(?:^|_)ids?$|Ids?$|^(?:name|data|result)$/.test(field) || /^(?:https?:|data:|\/)/i.test(text);

/**
 * Removes secrets from messages of gateways and runtimes before they reach errors and logs: the key of the
 * call, whatever else looks like a secret, and queries of URLs. Some gateways repeat the key they reject.
 */
export class Redaction {
  /**
   * Headers and URLs of all attempts. Searched for secrets only after a failure, because most calls succeed.
   */
  readonly #sent: (readonly [headers: Headers, url: string])[] = [];
  /** `true` if headers or a query of the caller were sent, which may contain secrets besides the key. */
  #hasOthers = false;

  /**
   * Records what an attempt sends. Each attempt may have another key.
   *
   * @param url - Its query may contain secrets too.
   * @param hasOthers - `true` if `headers` contains some of the caller.
   */
  remember(headers: Headers, url: string, hasOthers = true): void {
    this.#sent.push([headers, url]);
    this.#hasOthers ||= hasOthers || url.includes('?');
  }

  /** Returns whether the value of a header or query looks like a secret. */
  isSecret(name: string, value: string): boolean {
    // Idempotency keys don't grant access.
    if (/^idempotency/i.test(name)) return false;
    if (isSecretName(name)) return true;
    // Random letters and digits, except ids, which should be shown.
    const isRandom = /^[\w.~+/=-]{20,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value);
    return isRandom && !/id$|trace/i.test(name);
  }

  /** All secrets, longest first, because one may contain another. */
  get #keys(): readonly string[] {
    const sent = this.#sent.flatMap(([headers, url]) => [
      ...headers,
      ...(url.includes('?') ? new URL(url).searchParams : []),
    ]);
    const secrets = sent.filter(([name, value]) => this.isSecret(name, value));
    const keys = secrets.flatMap(findKeys).filter(({ length }) => length >= minKeyLength);
    return [...new Set(keys)].toSorted((a, b) => b.length - a.length);
  }

  withoutKeys(text: string): string {
    const forms = this.#keys.flatMap(escapedForms);
    return forms.reduce((clean, form) => clean.replaceAll(form, '[key]'), text);
  }

  /** Returns parsed JSON without keys, except in ids and URLs. */
  words(value: unknown): unknown {
    let list = '';
    return rewriteText(value, () =>
      JSON.stringify(value, (name, inner: unknown) => {
        if (Array.isArray(inner)) list = name;
        const field = /^\d+$/.test(name) ? list : name;
        if (typeof inner !== 'string' || isUsed(field, inner)) return inner;
        return this.withoutKeys(inner);
      }),
    );
  }

  /** Short keys, which are removed from messages only, because a word of a response may be equal. */
  get #words(): readonly string[] {
    const sent = this.#sent.flatMap(([headers]) => [...headers]);
    const keys = sent
      .filter(([name]) => isSecretName(name) && !/^idempotency/i.test(name))
      .map(([name, value]) =>
        name === 'authorization' ? value.slice(value.indexOf(' ') + 1) : value,
      )
      .filter(({ length }) => length >= minWordLength && length < minKeyLength);
    return [...new Set(keys)];
  }

  #clean(text: string): string {
    const words = this.#words.reduce(
      (clean, word) => replaceSecret(clean, word, () => '[key]', true),
      this.withoutKeys(text),
    );
    return withoutQueries(words);
  }

  /** Returns the id of a response without secrets. Called for each response, so a usual id is only compared. */
  id(text: string): string {
    if (this.#hasOthers) return this.#clean(text);
    for (const [headers] of this.#sent) {
      const [, key = ''] = headers.get('authorization')?.split(' ') ?? [];
      const rest = key.startsWith('sk-') ? key.slice(3) : key;
      const isIn = rest !== '' && text.toLowerCase().includes(rest.toLowerCase());
      // Other characters may be escaped in the text.
      if (isIn || !/^[\w.-]*$/.test(key)) return this.#clean(text);
    }
    return text;
  }

  /** Returns response headers without secrets. The target of a redirect may be a signed URL. */
  headers(headers: Headers): Headers {
    const entries = [...headers].map(([name, value]): [string, string] => {
      const whole = name === 'location' ? value.replace(/[?#].*$/s, '?[query]') : value;
      return [name, this.#clean(whole)];
    });
    return new Headers(entries);
  }

  /** Returns a failed attempt without secrets. The body of a success response keeps its URLs. */
  attempt(failed: FailedAttempt): FailedAttempt {
    const { kind, headers, requestId, body, text, problem, data, cause } = failed;
    const { message, code, sentCode, type, param, error, requestId: named } = body ?? {};
    const clean = (value: string): string => this.#clean(value);
    // The reason of an abort is the caller's, and messages of input errors are our own.
    const isOwn = kind === 'aborted' || InvalidInputError.isInstance(cause);
    return {
      ...failed,
      headers: headers && this.headers(headers),
      requestId: requestId && clean(requestId),
      body: body && {
        ...body,
        message: message && clean(message),
        requestId: named && clean(named),
        code: code && clean(code),
        sentCode: typeof sentCode === 'string' ? clean(sentCode) : sentCode,
        type: type && clean(type),
        param: param && clean(param),
        error: rewriteText(error, clean),
      },
      text: text && this.withoutKeys(text),
      problem: problem && this.withoutKeys(problem),
      data: rewriteText(data, (value) => this.withoutKeys(value)),
      cause: isOwn ? safeReason(cause) : safeCause(cause, clean),
    };
  }
}
