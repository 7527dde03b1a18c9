import { check, checkObject } from '../check.ts';
import { isObject } from '../answers/objects.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { ApiKey, Idempotency, RequestOptions } from '../options.ts';
import { safeCause, withoutQueries } from './redaction.ts';

/** A key that a header can carry, or an error that does not repeat the key. */
function checkKey(key: unknown): string {
  const field = 'apiKey';
  check(typeof key === 'string', field, 'must be a string or a function that gives one.');
  const trimmed = key.trim();
  check(trimmed !== '', field, 'is empty; give the key of your gateway account.');
  const problem =
    'holds a space, a line break or a character that no HTTP header can carry; check how the key was read.';
  check(/^[\x21-\x7e]+$/.test(trimmed), field, problem);
  return trimmed;
}

/** Where the bearer key comes from. The key itself is in a private field, so nothing prints it. */
export class Credential {
  readonly #source: string | (() => string | Promise<string>);

  constructor(apiKey: ApiKey) {
    this.#source = typeof apiKey === 'function' ? apiKey : checkKey(apiKey);
  }

  /** Whether asking again can give another key, so that one 401 is worth a second attempt. */
  get canRefresh(): boolean {
    return typeof this.#source === 'function';
  }

  /** The `authorization` header of one attempt: at once, unless a function gives the key. */
  authorization(): string | Promise<string> {
    if (typeof this.#source === 'string') return `Bearer ${this.#source}`;
    return this.#asked(this.#source);
  }

  async #asked(source: () => string | Promise<string>): Promise<string> {
    let key: unknown;
    try {
      key = await source();
    } catch (error) {
      throw new InvalidInputError('apiKey', 'the function that gives the key failed.', {
        cause: safeCause(error, withoutQueries),
      });
    }
    return `Bearer ${checkKey(key)}`;
  }
}

/** A header name (RFC 9110, 5.1). */
const token = /^[!#$%&'*+.^`|~\w-]+$/;

/** Headers that have another meaning, which a key would destroy. */
const taken = /^(authorization|accept|content-.*|host|cookie)$/i;

/** Checks the option `idempotency`. */
export function checkIdempotency(field: string, value: unknown): Idempotency | null {
  checkObject(field, value);
  if (!isObject(value)) return null;
  const { header } = value;
  check(
    typeof header === 'string' && token.test(header) && !taken.test(header),
    'idempotency.header',
    'must be the name of the header that the gateway reads, for example "Idempotency-Key".',
  );
  return { header };
}

/** Checks the option `idempotencyKey` of a call. */
export function checkIdempotencyKey(
  { idempotencyKey }: RequestOptions,
  idempotency: Idempotency | null,
): void {
  if (idempotencyKey === undefined) return;
  const field = 'idempotencyKey';
  check(
    idempotency !== null,
    field,
    'protects nothing unless the gateway honours it; say so with the option idempotency: { header: "Idempotency-Key" }.',
  );
  const isKey = typeof idempotencyKey === 'string' && /^[\x21-\x7e]{1,255}$/.test(idempotencyKey);
  check(isKey, field, 'must be 1 to 255 visible ASCII characters.');
}
