import { check, checkObject } from '../options/check.ts';
import { isObject } from '../answers/objects.ts';
import { InvalidInputError } from '../errors/gateway-error.ts';
import type { ApiKey, Idempotency, RequestOptions } from '../options/options.ts';
import { safeCause, withoutQueries } from './redaction.ts';

/** Returns the key if a header can carry it. Errors never contain the key. */
function checkKey(key: unknown): string {
  const field = 'apiKey';
  check(typeof key === 'string', field, 'must be a string or a function that returns one.');
  const trimmed = key.trim();
  check(trimmed !== '', field, 'is empty; pass the key of your gateway account.');
  const problem =
    'contains a line break or a character that is invalid in an HTTP header; check how the key was read.';
  check(/^[\x20-\x7e]+$/.test(trimmed), field, problem);
  const hasScheme = /^bearer\s/i.test(trimmed);
  check(!hasScheme, field, 'begins with "Bearer", which the client adds; pass only the key.');
  return trimmed;
}

/** The API key, kept in a closure so that it is never printed. */
export interface Credential {
  /** Sets the key on a request: synchronously, unless the key comes from a function. */
  authorize(headers: Headers): void | Promise<void>;
  /** Returns the key, the function that returns it, or `null` if no key is sent. */
  reveal(): ApiKey | null;
}

const setKey = (headers: Headers, key: string): void =>
  headers.set('authorization', `Bearer ${key}`);

export function createCredential(apiKey: ApiKey | null): Credential {
  if (apiKey === null) return { authorize: () => {}, reveal: () => null };
  if (typeof apiKey !== 'function') {
    const key = checkKey(apiKey);
    return { authorize: (headers) => setKey(headers, key), reveal: () => key };
  }
  const authorize = async (headers: Headers): Promise<void> => {
    let key: unknown;
    try {
      key = await apiKey();
    } catch (error) {
      throw new InvalidInputError('apiKey', 'the function that returns the key failed.', {
        cause: safeCause(error, withoutQueries),
      });
    }
    setKey(headers, checkKey(key));
  };
  return { authorize, reveal: () => apiKey };
}

/** A header name (RFC 9110, 5.1). */
const token = /^[!#$%&'*+.^`|~\w-]+$/;

/** Headers with a meaning of their own that an idempotency key would break. */
const reserved = /^(authorization|accept|content-.*|host|cookie)$/i;

export function checkIdempotency(field: string, value: unknown): Idempotency | null {
  checkObject(field, value);
  if (!isObject(value)) return null;
  const { header } = value;
  check(
    typeof header === 'string' && token.test(header) && !reserved.test(header),
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
    'has no effect unless the gateway honours it; if it does, set the option idempotency: { header: "Idempotency-Key" }.',
  );
  const isKey = typeof idempotencyKey === 'string' && /^[\x21-\x7e]{1,255}$/.test(idempotencyKey);
  check(isKey, field, 'must be 1 to 255 visible ASCII characters.');
}
