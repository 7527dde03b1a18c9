import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

const algorithms = ['sha512', 'sha256', 'md5'] as const;

/** In bytes. */
const lengths = { sha512: 64, sha256: 32, md5: 16 } as const;

/** A digest of a file, as its sender gave it. */
export interface Digest {
  readonly algorithm: (typeof algorithms)[number];
  readonly value: Uint8Array;
}

function read(algorithm: Digest['algorithm'], base64 = ''): Digest | undefined {
  const value = Buffer.from(/^[\w+/]+=*$/.test(base64) ? base64 : '', 'base64');
  // Other lengths are digests in another notation, or of something else.
  return value.length === lengths[algorithm] ? { algorithm, value } : undefined;
}

/**
 * The digest of the whole file that the headers of an answer tell, the strongest one (RFC 9530 and
 * Content-MD5).
 *
 * @param isWhole - Whether the body of the answer is the whole file, as it is stored.
 */
export function digestOf(headers: Headers, isWhole: boolean): Digest | undefined {
  const list = `${headers.get('repr-digest')},${isWhole ? headers.get('content-digest') : ''}`;
  const items = list.split(',').map((item) => item.trim());
  const find = (name: string): string | undefined =>
    items.find((item) => item.toLowerCase().startsWith(`${name}=:`))?.slice(name.length + 2, -1);
  return (
    read('sha512', find('sha-512')) ??
    read('sha256', find('sha-256')) ??
    (isWhole ? read('md5', headers.get('content-md5') ?? '') : undefined)
  );
}

/** Reads a digest that was noted as JSON. */
export function readDigest(value: unknown): Digest | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { algorithm, value: base64 } = { algorithm: undefined, value: undefined, ...value };
  const known = algorithms.find((name) => name === algorithm);
  return known !== undefined && typeof base64 === 'string' ? read(known, base64) : undefined;
}

/** A digest as it is noted. */
export function noteDigest({ algorithm, value }: Digest): object {
  return { algorithm, value: Buffer.from(value).toString('base64') };
}

/** Whether a file has a digest. */
export async function hasDigest(path: string, { algorithm, value }: Digest): Promise<boolean> {
  const hash = createHash(algorithm);
  await pipeline(createReadStream(path), hash);
  return hash.digest().equals(value);
}
