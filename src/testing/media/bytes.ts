import { decodeBase64 } from '../../answers/bytes.ts';

/** Bytes that a `Response` accepts as body. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** Encodes text as UTF-8. */
export function utf8(value: string): Bytes {
  return encoder.encode(value);
}

/** Concatenates byte arrays. */
export function concat(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Encodes a number as four bytes, big-endian. */
export function word(value: number): Bytes {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

/** Encodes bytes as base64, in chunks below the limit of arguments of a call. */
export function base64(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += 8192) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(binary);
}

/** Decodes a base64 data URL; returns `undefined` for other text. */
export function readDataURL(url: string): Bytes | undefined {
  const content = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  return content === undefined ? undefined : decodeBase64(content);
}

/** Creates a data URL. */
export function dataURL(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${base64(bytes)}`;
}
