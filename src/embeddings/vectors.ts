import { decodeBase64 } from '../answers/bytes.ts';
import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

const floatBytes = 4;

/** The length of the vectors that were asked for. */
type Dimensions = number | undefined;

/** Whether a value is a vector in one of the forms that `vectorOf` reads. */
export function isVector(value: unknown, dimensions?: Dimensions): boolean {
  if (typeof value === 'string') return decodeFloats(value, dimensions) !== undefined;
  const numbers = vectorOf(value);
  return numbers !== undefined && numbers.every((item) => typeof item === 'number');
}

/**
 * The numbers of a vector, whichever form it came in: a list, little-endian 32-bit floats in base64,
 * or a typed array as `JSON.stringify` writes it (`{"0":0.1,"1":0.2}`). `undefined` when it is none
 * of them.
 */
export function vectorOf(value: unknown, dimensions?: Dimensions): number[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return numbersOf(decodeFloats(value, dimensions));
  return isObject(value) ? listOf(value) : undefined;
}

/** The numbers of a vector as 32-bit floats; `undefined` when it is none. */
export function floatsOf(value: unknown, dimensions?: Dimensions): Float32Array | undefined {
  if (typeof value === 'string') return decodeFloats(value, dimensions);
  return isVector(value) ? Float32Array.from(vectorOf(value) ?? []) : undefined;
}

/** A vector as little-endian 32-bit floats in base64, or `undefined` when it cannot be read. */
export function base64OfVector(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const vector = vectorOf(value);
  if (vector === undefined) return undefined;
  let binary = '';
  const { buffer } = inOrder(Float32Array.from(vector));
  for (const byte of new Uint8Array(buffer)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function listOf(value: JsonObject): number[] | undefined {
  const isNumbered = Object.keys(value).every((key, position) => key === String(position));
  const items = Object.values(value);
  const numbers = items.filter((item) => typeof item === 'number');
  return isNumbered && items.length > 0 && numbers.length === items.length ? numbers : undefined;
}

/** Several times faster than `Array.from()`. */
function numbersOf(floats: Float32Array | undefined): number[] | undefined {
  if (floats === undefined) return undefined;
  const vector: number[] = [];
  for (let index = 0; index < floats.length; index++) vector.push(floats[index] ?? 0);
  return vector;
}

function decodeFloats(text: string, dimensions: Dimensions): Float32Array | undefined {
  const bytes = decodeBase64(text);
  if (bytes === undefined || bytes.length === 0 || bytes.length % floatBytes !== 0)
    return undefined;
  const floats = inOrder(new Float32Array(bytes.buffer));
  return areFloats(floats, dimensions) ? floats : undefined;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

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

const key = '"embedding"';
const colon = /\s*:\s*"/y;
/** How JSON writes the character that stands before the number of a vector in its place. */
const mark = String.raw`\u0000`;

/**
 * `JSON.parse()` for an answer that is nearly all base64, in half the time.
 *
 * A JSON parser looks at every character of every vector and copies it. Here vectors are cut out
 * first, for which the engine only looks for their ends, and are put back into what remains.
 *
 * A quotation mark within a JSON string has a backslash before it, so what is cut out after
 * `"embedding":` is a value and never a part of a text. Whatever looks different is left to the parser.
 *
 * @throws `SyntaxError` when the text is not JSON
 */
export function parseEmbeddings(text: string): unknown {
  if (text.includes(mark)) return JSON.parse(text);
  const vectors: string[] = [];
  let rest = '';
  let copied = 0;
  // A search for a plain text is several times faster than one for a pattern.
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + 1)) {
    colon.lastIndex = at + key.length;
    if (!colon.test(text)) continue;
    const start = colon.lastIndex;
    const end = text.indexOf('"', start);
    const vector = text.slice(start, end);
    if (end === -1 || vector.includes('\\')) return JSON.parse(text);
    rest += `${text.slice(copied, start)}${mark}${vectors.length}`;
    copied = end;
    vectors.push(vector);
  }
  const value: unknown = JSON.parse(rest + text.slice(copied));
  return putBack(value, vectors) ? value : JSON.parse(text);
}

/** Whether each vector went back to the place where it was. */
function putBack(value: unknown, vectors: readonly string[]): boolean {
  const items = isObject(value) && Array.isArray(value['data']) ? value['data'] : [];
  let next = 0;
  for (const item of items) {
    if (isObject(item) && item['embedding'] === `\0${next}`) item['embedding'] = vectors[next++];
  }
  return next === vectors.length;
}
