import { isObject } from './accepts.ts';

const floatBytes = 4;

/**
 * The numbers of a vector, whichever form it came in: a list, little-endian 32-bit floats in base64,
 * or a typed array as `JSON.stringify` writes it (`{"0":0.1,"1":0.2}`). `undefined` when it is none
 * of them.
 */
export function vectorOf(value: unknown): number[] | undefined {
  if (typeof value === 'string') return decodeVector(value);
  if (Array.isArray(value)) return value;
  return isObject(value) ? listOf(value) : undefined;
}

/** A vector as little-endian 32-bit floats in base64, or `undefined` when it cannot be read. */
export function base64OfVector(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const vector = vectorOf(value);
  return vector === undefined ? undefined : encodeVector(vector);
}

function listOf(value: Readonly<Record<string, unknown>>): number[] | undefined {
  const entries = Object.entries(value);
  const numbers: number[] = [];
  for (const [position, [key, item]] of entries.entries()) {
    if (key !== String(position) || typeof item !== 'number') return undefined;
    numbers.push(item);
  }
  return numbers.length === 0 ? undefined : numbers;
}

function decodeVector(text: string): number[] | undefined {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    return undefined;
  }
  if (binary.length === 0 || binary.length % floatBytes !== 0) return undefined;
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  const view = new DataView(bytes.buffer);
  const length = binary.length / floatBytes;
  // Three times as fast as Array.from() over a Float32Array.
  const vector = Array.from<number>({ length });
  for (let index = 0; index < length; index++) {
    vector[index] = view.getFloat32(index * floatBytes, true);
  }
  return vector;
}

function encodeVector(vector: readonly number[]): string {
  const bytes = new Uint8Array(vector.length * floatBytes);
  const view = new DataView(bytes.buffer);
  for (const [index, number] of vector.entries()) view.setFloat32(index * floatBytes, number, true);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
