import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** A digest of a file, as its sender gave it. */
export interface Digest {
  readonly algorithm: 'md5' | 'sha1' | 'sha256' | 'sha512';
  readonly value: Uint8Array;
}

/** Lengths in bytes, strongest first. */
const lengths = { sha512: 64, sha256: 32, sha1: 20, md5: 16 } as const;

const algorithms: Readonly<Record<string, Digest['algorithm']>> = {
  'sha-512': 'sha512',
  'sha-256': 'sha256',
  sha: 'sha1',
  md5: 'md5',
};

function read(algorithm: Digest['algorithm'] | undefined, base64 = ''): Digest[] {
  if (algorithm === undefined || !/^[\w+/]+=*$/.test(base64)) return [];
  const value = Buffer.from(base64, 'base64');
  // Other lengths are digests in another notation, or of something else.
  return value.length === lengths[algorithm] ? [{ algorithm, value }] : [];
}

/** Reads `name=value` and `name=:value:`, the forms of RFC 3230 and RFC 9530. */
function readList(text: string | null): Digest[] {
  return (text ?? '').split(',').flatMap((item) => {
    const [, name = '', value] = /^\s*([\w-]+)=:?([\w+/]+=*)/.exec(item) ?? [];
    return read(algorithms[name.toLowerCase()], value);
  });
}

/**
 * The digest of the whole file that the headers of an answer tell, the strongest one.
 *
 * @param isWhole - Whether the body of the answer is the whole file, as it is stored.
 */
export function digestOf(headers: Headers, isWhole: boolean): Digest | undefined {
  const found = [
    ...readList(headers.get('repr-digest')),
    ...readList(headers.get('digest')),
    ...read('sha256', headers.get('x-amz-checksum-sha256') ?? ''),
    ...readList(headers.get('x-goog-hash')),
    ...(isWhole ? readList(headers.get('content-digest')) : []),
    ...(isWhole ? read('md5', headers.get('content-md5') ?? '') : []),
  ];
  const strength = ({ algorithm }: Digest): number => lengths[algorithm];
  return found.toSorted((one, other) => strength(other) - strength(one))[0];
}

/** Reads a digest that was noted as JSON. */
export function readDigest(value: unknown): Digest | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { algorithm, value: base64 } = { algorithm: undefined, value: undefined, ...value };
  const known = Object.values(algorithms).find((name) => name === algorithm);
  return typeof base64 === 'string' ? read(known, base64)[0] : undefined;
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
