import { decodeBase64 } from '../../answers/bytes.ts';

/** Bytes that a `Response` takes as its body. */
export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** The UTF-8 bytes of a text. */
export function utf8(value: string): Bytes {
  return encoder.encode(value);
}

/** One byte sequence after the other. */
export function concat(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** A number in four bytes, the highest first. */
export function word(value: number): Bytes {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
}

/** Base64 of some bytes, in pieces that fit the argument limit of a call. */
export function base64(bytes: Uint8Array): string {
  let binary = '';
  for (let start = 0; start < bytes.length; start += 8192) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192));
  }
  return btoa(binary);
}

/** The bytes of a base64 data URL, or nothing when the text is something else. */
export function readDataURL(url: string): Bytes | undefined {
  const content = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  return content === undefined ? undefined : decodeBase64(content);
}

/** A data URL with some bytes. */
export function dataURL(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${base64(bytes)}`;
}
