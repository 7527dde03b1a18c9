import { isObject } from './objects.ts';

const floatBytes = 4;

/** Whether a value is a vector in one of the forms that `vectorOf` reads. */
export function isVector(value: unknown): boolean {
  if (typeof value === 'string') return bytesOf(value) !== undefined;
  if (!Array.isArray(value)) return vectorOf(value) !== undefined;
  for (let index = 0; index < value.length; index++) {
    if (typeof value[index] !== 'number') return false;
  }
  return true;
}

/**
 * The numbers of a vector, whichever form it came in: a list, little-endian 32-bit floats in base64,
 * or a typed array as `JSON.stringify` writes it (`{"0":0.1,"1":0.2}`). `undefined` when it is none
 * of them.
 */
export function vectorOf(value: unknown): number[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return decodeVector(value);
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

/** The bytes of base64 as one character each, or `undefined` when they are not whole floats. */
function bytesOf(text: string): string | undefined {
  try {
    const bytes = atob(text);
    return bytes.length > 0 && bytes.length % floatBytes === 0 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function decodeVector(text: string): number[] | undefined {
  const binary = bytesOf(text);
  if (binary === undefined) return undefined;
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  const view = new DataView(bytes.buffer);
  const vector: number[] = [];
  // Faster than Array.from() over a Float32Array, and right whatever the byte order of the machine.
  for (let offset = 0; offset < bytes.length; offset += floatBytes) {
    vector.push(view.getFloat32(offset, true));
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
