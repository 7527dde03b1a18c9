import { isObject } from '../answers/objects.ts';
import { check, checkObject } from './check.ts';
import type { Idempotency, RequestOptions } from './options.ts';

/** A header name (RFC 9110, 5.1). */
const token = /^[!#$%&'*+.^`|~\w-]+$/;

/** Headers with a meaning of their own that an idempotency key would break. */
const reserved = /^(authorization|accept|content-.*|host|cookie)$/i;

export function checkIdempotency(field: string, value: unknown): Idempotency | null {
  checkObject(field, value);
  if (!isObject(value)) return null;
  const { header, honored = false } = value;
  check(
    typeof header === 'string' && token.test(header) && !reserved.test(header),
    'idempotency.header',
    'must be the name of the header that the gateway reads, for example "Idempotency-Key".',
  );
  check(typeof honored === 'boolean', 'idempotency.honored', 'must be true or false.');
  return { header, honored };
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
