import { InvalidInputError } from '../errors/gateway-error.ts';
import { ownCause } from '../answers/objects.ts';
import { rewritten, withoutQueries } from '../answers/without-queries.ts';
import { safeCause } from './safe-cause.ts';
import type { FailedAttempt } from './to-error.ts';

/** A shorter key may be part of any word, and taking it out would garble what is said. */
const shortestKey = 8;

/** What a gateway says in an error, in an answer or in a stream. */
interface Said {
  readonly message?: string | undefined;
  readonly code?: string | null | undefined;
  readonly type?: string | undefined;
  readonly param?: string | null | undefined;
  readonly error?: unknown;
}

/** Names under which callers send what gives access. */
const secretNames =
  /key|token|secret|auth|cookie|pass|sign|sig$|credential|session|jwt|\bpin\b|access|bearer/i;

/** Whether the value of a header or of a query looks like something that gives access. */
function isSecret(name: string, value: string): boolean {
  if (secretNames.test(name)) return true;
  // Random letters and digits; ids are made of the same, and are there to be shown.
  const isRandom = /^[\w.~+/=-]{20,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value);
  return isRandom && !/id$|trace/i.test(name);
}

/**
 * Takes out of what gateways and runtimes say what may not get into errors, and so into logs: the key
 * of the call, what else of it looks like one, and queries of URLs. Some gateways repeat the key that
 * they refuse.
 */
export class Redaction {
  #keys: readonly string[] = [];
  #makeValues:
    | (() => Iterable<readonly [name: string, value: string | null | undefined]>)
    | undefined;

  /**
   * @param makeValues - Gives the headers and the query that the caller added. Asked for once something
   * was said: most calls succeed.
   */
  constructor(
    makeValues: () => Iterable<readonly [name: string, value: string | null | undefined]>,
  ) {
    this.#makeValues = makeValues;
  }

  /** Takes note of what an attempt sends. A function may give another key to each. */
  remember(headers: Headers): void {
    const sent = headers.get('authorization') ?? '';
    const key = sent.slice(sent.indexOf(' ') + 1);
    this.#add(key);
    // Gateways take the prefix off before they look the key up, and may repeat the rest. A short rest
    // may be a word, as in the key of a test.
    if (key.startsWith('sk-') && key.length >= 3 + 2 * shortestKey) this.#add(key.slice(3));
  }

  #add(key: string): void {
    if (key.length < shortestKey || this.#keys.includes(key)) return;
    // The longest first: a part of it may be a key as well.
    this.#keys = [...this.#keys, key].toSorted((one, other) => other.length - one.length);
  }

  /** Everything that may not be shown. A cookie or a scheme with a key holds several. */
  #allKeys(): readonly string[] {
    const values = this.#makeValues?.() ?? [];
    this.#makeValues = undefined;
    for (const [name, value] of values) {
      if (!value || !isSecret(name, value)) continue;
      this.#add(value);
      for (const part of value.split(/[\s;,]/))
        this.#add(part.slice(part.indexOf('=') + 1) || part);
    }
    return this.#keys;
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
      cause: isOwn ? ownCause(cause) : this.cause(cause),
    };
  }

  /** What a runtime threw. */
  cause(cause: unknown): unknown {
    return safeCause(cause, (text) => this.#clean(text));
  }

  /** Text without keys. */
  withoutKeys(text: string): string {
    let clean = text;
    for (const key of this.#allKeys()) {
      // In the text of JSON and in URLs it may stand escaped.
      const escaped = JSON.stringify(key).slice(1, -1);
      const wellFormed = new TextDecoder().decode(new TextEncoder().encode(key));
      const slashed = key.replaceAll('/', String.raw`\/`);
      for (const form of [
        key,
        escaped,
        slashed,
        encodeURIComponent(wellFormed),
        new URLSearchParams([['', key]]).toString().slice(1),
      ]) {
        clean = clean.replaceAll(form, '[key]');
      }
    }
    return clean;
  }

  #clean(text: string): string {
    return withoutQueries(this.withoutKeys(text));
  }
}
