import { InvalidInputError } from '../errors/gateway-error.ts';
import type { Idempotency, RequestOptions } from '../options.ts';
import { checkObject } from './option-checks.ts';

/** A header name (RFC 9110, 5.1). */
const token = /^[!#$%&'*+.^`|~\w-]+$/;

/** Headers that have another meaning, which a key would destroy. */
const taken = /^(authorization|accept|content-.*|host|cookie)$/i;

/** Checks the option `idempotency`. */
export function checkIdempotency(value: Idempotency | null): Idempotency | null {
  checkObject('idempotency', value);
  if (value === null) return null;
  const { header } = value;
  if (typeof header !== 'string' || !token.test(header) || taken.test(header)) {
    throw new InvalidInputError(
      'idempotency.header',
      'must be the name of the header that the gateway reads, for example "Idempotency-Key".',
    );
  }
  return { header };
}

/** Checks the option `idempotencyKey` of a call. */
export function checkIdempotencyKey(
  { idempotencyKey }: RequestOptions,
  idempotency: Idempotency | null,
): void {
  if (idempotencyKey === undefined) return;
  if (idempotency === null) {
    throw new InvalidInputError(
      'idempotencyKey',
      'protects nothing unless the gateway honours it; say so with the option idempotency: { header: "Idempotency-Key" }.',
    );
  }
  if (typeof idempotencyKey !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new InvalidInputError('idempotencyKey', 'must be 1 to 255 visible ASCII characters.');
  }
}
