import { InvalidInputError } from '../errors/gateway-error.ts';
import { safeCause } from './safe-cause.ts';
import type { FailedAttempt } from './to-error.ts';

/** A shorter key may be part of any word, and taking it out would garble what is said. */
const shortestKey = 8;

/** A URL and its query, also as they stand in JSON within JSON. */
const urls = /\b(https?:(?:\\*\/){2}(?:[^\s"'<>`?#\\]|\\+\/)+)(\?(?:[^\s"'<>`)\]\\]|\\+[/u])*)?/gi;

/** Takes the queries out of the URLs in text: what a signed URL gives access with is in its query. */
function withoutQueries(text: string): string {
  return text.replace(urls, (whole, url: string, query: string | undefined) =>
    query === undefined || query === '?[query' ? whole : `${url}?[query]`,
  );
}

/** What a gateway says in an error, in an answer or in a stream. */
interface Said {
  readonly message?: string | undefined;
  readonly code?: string | null | undefined;
  readonly type?: string | undefined;
  readonly param?: string | null | undefined;
  readonly error?: unknown;
}

/**
 * Takes out of what gateways and runtimes say what may not get into errors, and so into logs: the key
 * of the call, and queries of URLs. Some gateways repeat the key that they refuse.
 */
export class Redaction {
  #keys: readonly string[] = [];

  /** Takes note of what an attempt sends. A function may give another key to each. */
  remember(headers: Headers): void {
    const sent = headers.get('authorization') ?? '';
    const key = sent.slice(sent.indexOf(' ') + 1);
    if (key.length >= shortestKey && !this.#keys.includes(key)) this.#keys = [...this.#keys, key];
  }

  /** What a gateway says, with neither key nor queries. */
  said<Words extends Said>(words: Words): Words & Said {
    const clean = (text: string | undefined): string | undefined => text && this.#clean(text);
    return {
      ...words,
      message: clean(words.message),
      code: words.code && this.#clean(words.code),
      type: clean(words.type),
      param: words.param && this.#clean(words.param),
      error: rewritten(words.error, (text) => this.#clean(text)),
    };
  }

  /** Response headers: where a redirect leads can be a signed URL. */
  headers(headers: Headers): Headers {
    const changed = [...headers].flatMap(([name, value]) => {
      const whole = name === 'location' ? value.replace(/[?#].*$/s, '?[query]') : value;
      const clean = this.#clean(whole);
      return clean === value ? [] : [[name, clean] as const];
    });
    if (changed.length === 0) return headers;
    const copy = new Headers(headers);
    for (const [name, value] of changed) copy.set(name, value);
    return copy;
  }

  /** All that is known of a failed attempt. An answer that came with a success keeps its URLs. */
  attempt(failed: FailedAttempt): FailedAttempt {
    const { kind, headers, body, text, problem, data, cause } = failed;
    // An abort has the caller's own reason, and bad input our own words.
    const isOwn = kind.startsWith('aborted') || InvalidInputError.isInstance(cause);
    return {
      ...failed,
      headers: headers && this.headers(headers),
      body: body && this.said(body),
      text: text && this.withoutKeys(text),
      problem: problem && this.withoutKeys(problem),
      data: rewritten(data, (part) => this.withoutKeys(part)),
      cause: isOwn ? cause : this.cause(cause),
    };
  }

  /** What a runtime threw. */
  cause(cause: unknown): unknown {
    return safeCause(cause, (text) => this.#clean(text));
  }

  /** Text without keys. */
  withoutKeys(text: string): string {
    let clean = text;
    for (const key of this.#keys) {
      // In the text of JSON it may stand escaped.
      const escaped = JSON.stringify(key).slice(1, -1);
      for (const form of [key, escaped, key.replaceAll('/', String.raw`\/`)]) {
        clean = clean.replaceAll(form, '[key]');
      }
    }
    return clean;
  }

  #clean(text: string): string {
    return withoutQueries(this.withoutKeys(text));
  }
}

/** The same value with other texts in it, or the value itself when nothing in it changes. */
function rewritten(value: unknown, rewrite: (text: string) => string): unknown {
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
