import { isObject } from '../answers/objects.ts';

const floatBytes = 4;

/** The length of the vectors that were asked for. */
type Dimensions = number | undefined;

/** Whether a value is a vector in one of the forms that `vectorOf` reads. */
export function isVector(value: unknown, dimensions?: Dimensions): boolean {
  if (typeof value === 'string') return decodeFloats(value, dimensions) !== undefined;
  if (Array.isArray(value)) return value.every((item) => typeof item === 'number');
  return vectorOf(value, dimensions) !== undefined;
}

/**
 * The numbers of a vector, whichever form it came in: a list, little-endian 32-bit floats in base64,
 * or a typed array as `JSON.stringify` writes it (`{"0":0.1,"1":0.2}`). `undefined` when it is none
 * of them.
 */
export function vectorOf(value: unknown, dimensions?: Dimensions): number[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return decodeVector(value, dimensions);
  return isObject(value) ? listOf(value) : undefined;
}

/** A vector as little-endian 32-bit floats in base64, or `undefined` when it cannot be read. */
export function base64OfVector(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const vector = vectorOf(value);
  return vector === undefined ? undefined : encodeVector(vector);
}

function listOf(value: Readonly<Record<string, unknown>>): number[] | undefined {
  const isNumbered = Object.keys(value).every((key, position) => key === String(position));
  const items = Object.values(value);
  const numbers = items.filter((item) => typeof item === 'number');
  return isNumbered && items.length > 0 && numbers.length === items.length ? numbers : undefined;
}

/** Decodes base64 into bytes that are there already, and gives how many it wrote. */
type Base64Writer = (text: string, bytes: Uint8Array) => unknown;

/** Which way there is depends on the runtime; the last one is ten times slower. */
const writeBase64: Base64Writer = chooseWriter();

function chooseWriter(): Base64Writer {
  const native: unknown = Reflect.get(Uint8Array.prototype, 'setFromBase64');
  if (typeof native === 'function') {
    return (text, bytes) => Reflect.apply(native, bytes, [text])?.written;
  }
  const buffer: unknown = Reflect.get(globalThis, 'Buffer');
  const write: unknown =
    typeof buffer === 'function' ? Reflect.get(buffer.prototype, 'write') : undefined;
  const from: unknown = typeof buffer === 'function' ? Reflect.get(buffer, 'from') : undefined;
  if (typeof write === 'function' && typeof from === 'function') {
    return (text, bytes) =>
      Reflect.apply(write, Reflect.apply(from, buffer, [bytes.buffer]), [text, 0, 'base64']);
  }
  return (text, bytes) => {
    const binary = atob(text);
    for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
    return binary.length;
  };
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** The numbers of a vector as 32-bit floats; `undefined` when it is none. */
export function floatsOf(value: unknown, dimensions?: Dimensions): Float32Array | undefined {
  if (typeof value === 'string') return decodeFloats(value, dimensions);
  return isVector(value) ? Float32Array.from(vectorOf(value) ?? []) : undefined;
}

/** Decoded straight into the vector: copying the bytes takes longer than decoding them. */
function decodeFloats(text: string, dimensions: Dimensions): Float32Array | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const size = Math.floor(((text.length - padding) * 3) / 4);
  if (size > 0 && size % floatBytes === 0) {
    const floats = new Float32Array(size / floatBytes);
    if (isWritten(text, new Uint8Array(floats.buffer))) {
      const ordered = inOrder(floats);
      return areFloats(ordered, dimensions) ? ordered : undefined;
    }
  }
  return /\s/.test(text) ? decodeFloats(text.replaceAll(/\s/g, ''), dimensions) : undefined;
}

/** Whether text is base64 of exactly so many bytes. Some decoders pass over what is no base64. */
function isWritten(text: string, bytes: Uint8Array): boolean {
  try {
    return writeBase64(text, bytes) === bytes.length;
  } catch {
    return false;
  }
}

/** The floats travel little-endian, which hardly any machine is not. */
function inOrder(floats: Float32Array): Float32Array {
  if (isLittleEndian) return floats;
  const view = new DataView(floats.buffer);
  return floats.map((_, index) => view.getFloat32(index * floatBytes, true));
}

/** Larger than any number of a vector; bytes that are read as floats are soon beyond it. */
const largestNumber = 1e6;

/**
 * Whether bytes were floats. Some models give a byte (`int8`) or a bit (`binary`) for each dimension,
 * also in base64.
 */
function areFloats(floats: Float32Array, dimensions: Dimensions): boolean {
  const { length } = floats;
  if (dimensions === length * 4 || dimensions === length * 32) return false;
  for (let index = 0; index < length; index++) {
    // Not a number is not below anything.
    if (!(Math.abs(floats[index] ?? 0) <= largestNumber)) return false;
  }
  return true;
}

function decodeVector(text: string, dimensions: Dimensions): number[] | undefined {
  const floats = decodeFloats(text, dimensions);
  if (floats === undefined) return undefined;
  const vector: number[] = [];
  // Several times faster than Array.from().
  for (let index = 0; index < floats.length; index++) vector.push(floats[index] ?? 0);
  return vector;
}

function encodeVector(vector: readonly number[]): string {
  const floats = inOrder(Float32Array.from(vector));
  let binary = '';
  for (const byte of new Uint8Array(floats.buffer)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
