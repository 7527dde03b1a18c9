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
    'holds a line break or a character that no HTTP header can carry; check how the key was read.';
  check(/^[\x20-\x7e]+$/.test(trimmed), field, problem);
  const hasScheme = /^bearer\s/i.test(trimmed);
  check(!hasScheme, field, 'begins with "Bearer", which is added here; give the key alone.');
  return trimmed;
}

/** The key of the gateway account. It is kept in a closure, so that nothing prints it. */
export interface Credential {
  /** Puts the key on a request: at once, unless a function gives it. */
  authorize(headers: Headers): void | Promise<void>;
  /** The key, or the function that gives it, or `null` when none is sent. */
  reveal(): ApiKey | null;
}

const put = (headers: Headers, key: string): void => headers.set('authorization', `Bearer ${key}`);

export function credentialOf(apiKey: ApiKey | null): Credential {
  if (apiKey === null) return { authorize: () => {}, reveal: () => null };
  if (typeof apiKey !== 'function') {
    const key = checkKey(apiKey);
    return { authorize: (headers) => put(headers, key), reveal: () => key };
  }
  const authorize = async (headers: Headers): Promise<void> => {
    let key: unknown;
    try {
      key = await apiKey();
    } catch (error) {
      throw new InvalidInputError('apiKey', 'the function that gives the key failed.', {
        cause: safeCause(error, withoutQueries),
      });
    }
    put(headers, checkKey(key));
  };
  return { authorize, reveal: () => apiKey };
}

/** A header name (RFC 9110, 5.1). */
const token = /^[!#$%&'*+.^`|~\w-]+$/;

/** Headers that have another meaning, which a key would destroy. */
const taken = /^(authorization|accept|content-.*|host|cookie)$/i;

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
