import type { Idempotency, RequestOptions } from '../options.ts';
import { isObject } from '../answers/objects.ts';
import { check, checkObject } from '../check.ts';

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
