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

/** Decodes base64. Which of the three is there depends on the runtime; they differ tenfold in speed. */
const decodeBase64: (text: string) => Uint8Array = chooseDecoder();

function chooseDecoder(): (text: string) => Uint8Array {
  const native: unknown = Reflect.get(Uint8Array, 'fromBase64');
  if (typeof native === 'function') {
    return (text) => asBytes(Reflect.apply(native, Uint8Array, [text]));
  }
  const buffer: unknown = Reflect.get(globalThis, 'Buffer');
  const from: unknown = typeof buffer === 'function' ? Reflect.get(buffer, 'from') : undefined;
  if (typeof from === 'function') {
    return (text) => {
      const bytes = asBytes(Reflect.apply(from, buffer, [text, 'base64']));
      // It passes over what is no base64 and gives the rest.
      if (bytes.length !== byteLengthOf(text)) throw new TypeError('This is no base64.');
      return bytes;
    };
  }
  return (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function asBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new TypeError('A decoder gave no bytes.');
}

function byteLengthOf(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.floor(((base64.length - padding) * 3) / 4);
}

/** The bytes of base64, or `undefined` when they are not whole floats. */
function bytesOf(text: string): Uint8Array | undefined {
  try {
    const bytes = decodeBase64(text);
    return bytes.length > 0 && bytes.length % floatBytes === 0 ? bytes : undefined;
  } catch {
    return undefined;
  }
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** The numbers of a vector as 32-bit floats; `undefined` when it is none. */
export function floatsOf(value: unknown): Float32Array | undefined {
  if (typeof value === 'string') return decodeFloats(value);
  return isVector(value) ? Float32Array.from(vectorOf(value) ?? []) : undefined;
}

function decodeFloats(text: string): Float32Array | undefined {
  const bytes = bytesOf(text);
  if (bytes === undefined) return undefined;
  const floats = new Float32Array(bytes.length / floatBytes);
  if (isLittleEndian) {
    // The bytes may begin anywhere in a larger buffer, where floats may not, so they are copied.
    new Uint8Array(floats.buffer).set(bytes);
    return floats;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let index = 0; index < floats.length; index++) {
    floats[index] = view.getFloat32(index * floatBytes, true);
  }
  return floats;
}

function decodeVector(text: string): number[] | undefined {
  const floats = decodeFloats(text);
  if (floats === undefined) return undefined;
  const vector: number[] = [];
  // Several times faster than Array.from().
  for (let index = 0; index < floats.length; index++) vector.push(floats[index] ?? 0);
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
