import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { isObject } from '../answers/objects.ts';

/** What has to be known of a file to go on with a part of it. */
export interface Resumable {
  /** What names this version of the file: a strong entity tag, or the time of its last change. */
  readonly validator: string;
  /** Its size in bytes, where it is known. */
  readonly total?: number | undefined;
  /** Its digest, where it is known. */
  readonly digest?: Digest | undefined;
}

/** Whether a body travels in another form than it is stored in. */
export function isEncoded(headers: Headers): boolean {
  return (headers.get('content-encoding') ?? 'identity') !== 'identity';
}

/**
 * What names a version of the file, where the server tells it. Weak tags do not promise equal bytes,
 * and a date does only when the file was not changed in the second of the answer (RFC 9110, 13.1.5).
 */
export function validatorOf(headers: Headers): string | undefined {
  if (isEncoded(headers)) return undefined;
  const tag = headers.get('etag');
  if (tag !== null) return /^"[^"]*"$/.test(tag) ? tag : undefined;
  const changed = headers.get('last-modified');
  const age = Date.parse(headers.get('date') ?? '') - Date.parse(changed ?? '');
  return changed !== null && age >= 1_000 ? changed : undefined;
}

/** Whether an answer is about the version of which a part is there, as far as it says. */
export function isSameVersion(headers: Headers, { validator }: Resumable): boolean {
  const tag = headers.get('etag');
  const named = validator.startsWith('"') ? tag : (tag ?? headers.get('last-modified'));
  return named === null || named === validator;
}

/** Where a partial answer begins, and the size of the whole. */
export function rangeOf(
  headers: Headers,
): { readonly start: number; readonly total: number | undefined } | undefined {
  const [, start, total] =
    /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range')?.trim() ?? '') ?? [];
  if (start === undefined) return undefined;
  return { start: Number(start), total: total === '*' ? undefined : Number(total) };
}

/** A digest of a file, as its sender gave it. */
export interface Digest {
  readonly algorithm: 'sha512' | 'sha256';
  /** In base64. */
  readonly value: string;
}

/** How headers write digests (RFC 9530). */
const digests = {
  sha512: /\bsha-512=:([a-z\d+/]{86}==):/i,
  sha256: /\bsha-256=:([a-z\d+/]{43}=):/i,
} as const;

/**
 * The strongest digest of the whole file that the headers of an answer tell, or `undefined`.
 *
 * @param isWhole - Whether the body of the answer is the whole file, as it is stored.
 */
export function digestOf(headers: Headers, isWhole: boolean): Digest | undefined {
  const text = `${headers.get('repr-digest')},${isWhole ? headers.get('content-digest') : ''}`;
  for (const algorithm of ['sha512', 'sha256'] as const) {
    const value = digests[algorithm].exec(text)?.[1];
    if (value !== undefined) return { algorithm, value };
  }
  return undefined;
}

/** Reads a digest that was noted as JSON. */
export function readDigest(noted: unknown): Digest | undefined {
  const { algorithm, value } = isObject(noted) ? noted : {};
  const isKnown = algorithm === 'sha512' || algorithm === 'sha256';
  return isKnown && typeof value === 'string' ? { algorithm, value } : undefined;
}

/** Whether a file has a digest. */
export async function hasDigest(path: string, { algorithm, value }: Digest): Promise<boolean> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path), hash);
  return hash.digest('base64') === value;
}
