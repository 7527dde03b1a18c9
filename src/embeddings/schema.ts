import { decodeBase64 } from '../answers/bytes.ts';
import { holdsSomething, isObject, objectsOf } from '../answers/objects.ts';
import { type FieldsOf, type ResponseSchema, ShapeMismatch, typeName } from '../answers/reader.ts';
import type { JsonObject, ResponseIssue } from '../types.ts';
import type {
  Base64EmbeddingResponse,
  CreateEmbeddingResponse,
  Embedding,
  EmbeddingUsage,
} from './types.ts';

const floatBytes = 4;

/** The length of the vectors that were asked for. */
type Dimensions = number | undefined;

/** Whether a value is a vector in one of the forms that `vectorOf` reads. */
function isVector(value: unknown, dimensions?: Dimensions): boolean {
  if (typeof value === 'string') return decodeFloats(value, dimensions) !== undefined;
  const numbers = vectorOf(value);
  return numbers !== undefined && numbers.every((item) => typeof item === 'number');
}

/**
 * The numbers of a vector, whichever form it came in: a list, little-endian 32-bit floats in base64,
 * or a typed array as `JSON.stringify` writes it (`{"0":0.1,"1":0.2}`). `undefined` when it is none
 * of them.
 */
function vectorOf(value: unknown, dimensions?: Dimensions): number[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return numbersOf(decodeFloats(value, dimensions));
  return isObject(value) ? listOf(value) : undefined;
}

/** The numbers of a vector as 32-bit floats; `undefined` when it is none. */
function floatsOf(value: unknown, dimensions?: Dimensions): Float32Array | undefined {
  if (typeof value === 'string') return decodeFloats(value, dimensions);
  return isVector(value) ? Float32Array.from(vectorOf(value) ?? []) : undefined;
}

/** A vector as little-endian 32-bit floats in base64, or `undefined` when it cannot be read. */
function base64OfVector(value: unknown): string | undefined {
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

/** The form in which vectors were asked for. */
export interface VectorForm {
  /** How many inputs there are. */
  readonly inputs: number;
  /** The length that was asked for. */
  readonly dimensions?: number | undefined;
  /** The format that was asked for. Vectors in another than these two stay as they come. */
  readonly format: 'float' | 'base64' | (string & {});
}

type Body = Omit<CreateEmbeddingResponse, 'missing'>;

const fields = {
  object: 'any',
  // A table would look at each number, which takes longer than the JSON parser.
  data: [{ embedding: 'any', index: 'number', object: 'any' } satisfies FieldsOf<Embedding>],
  model: 'string',
  usage: { prompt_tokens: 'number', total_tokens: 'number' } satisfies FieldsOf<EmbeddingUsage>,
} satisfies FieldsOf<Body>;

/** What holds for vectors in any form. */
const common = {
  fields,
  // Providers skip inputs that they do not understand; where they skip all, nothing came.
  answer: {
    name: 'vector',
    isIn: ({ data }: JsonObject): boolean =>
      objectsOf(data).some(({ embedding }) => holdsSomething(embedding)),
  },
  parse: parseEmbeddings,
} as const;

function indexOf({ index }: JsonObject, position: number): number {
  return typeof index === 'number' ? index : position;
}

function isOnePerInput(items: readonly JsonObject[], inputs: number): boolean {
  const positions = new Set(items.map(indexOf));
  return items.length === inputs && items.every((_, position) => positions.has(position));
}

/**
 * Brings the vectors into the order of the inputs. Where there is one for each, they are also
 * numbered anew: some providers give every item the index 0, and some count from 1.
 */
function sortItems(items: readonly JsonObject[], inputs: number): JsonObject[] {
  for (const [position, item] of items.entries()) item['index'] ??= position;
  const sorted = items.toSorted((a, b) => indexOf(a, 0) - indexOf(b, 0));
  if (sorted.length === inputs) {
    for (const [position, item] of sorted.entries()) item['index'] = position;
  }
  return sorted;
}

function normalizeBody(
  value: JsonObject,
  inputs: number,
  convert: (embedding: unknown) => unknown,
): void {
  value['object'] ||= 'list';
  value['model'] ??= '';
  const usage = isObject(value['usage']) ? value['usage'] : {};
  value['usage'] = usage;
  usage['prompt_tokens'] ??= 0;
  usage['total_tokens'] ??= usage['prompt_tokens'];
  const items = sortItems(objectsOf(value['data']), inputs);
  value['data'] = items;
  for (const item of items) {
    item['object'] ||= 'embedding';
    // What cannot be read stays as it came: it is paid for.
    item['embedding'] = convert(item['embedding']) ?? item['embedding'];
  }
  if (items.length < inputs) value['missing'] = inputs - items.length;
}

/** What is wrong with the vector at a position. */
function noVector(position: number, received: string): ResponseIssue {
  const expected = 'array of numbers or base64';
  return { path: `data[${position}].embedding`, expected, received };
}

/** Vectors as numbers or as base64, whatever form each of them came in. */
export function embeddingsSchema({
  inputs,
  dimensions,
  format,
}: VectorForm): ResponseSchema<CreateEmbeddingResponse | Base64EmbeddingResponse> {
  const isKnown = format === 'float' || format === 'base64';
  const convert = (vector: unknown): unknown => {
    if (!isKnown) return vector;
    return format === 'base64' ? base64OfVector(vector) : vectorOf(vector, dimensions);
  };
  return {
    ...common,
    compare({ data }, report) {
      const items = objectsOf(data);
      for (const [position, { embedding }] of items.entries()) {
        if (!isKnown || isVector(embedding, dimensions)) continue;
        report(noVector(position, typeName(embedding)));
      }
      if (isOnePerInput(items, inputs)) return;
      report({ path: 'data', expected: 'one item per input', received: typeName(data) });
    },
    normalize: (value) => normalizeBody(value, inputs, convert),
  };
}

/** An answer whose vectors are ready to be calculated with. */
export interface VectorsAnswer extends Omit<Body, 'data'> {
  data: { embedding: Float32Array; index: number; object: 'embedding' }[];
}

/**
 * Vectors as 32-bit floats, whatever form each of them came in.
 *
 * Here every input must have a vector, as there is no other place for what came instead. Each vector
 * is read once: checking it before would take as long as reading it.
 */
export function vectorsSchema(
  inputs: number,
  dimensions: number | undefined,
): ResponseSchema<VectorsAnswer> {
  return {
    ...common,
    fields: { ...fields, data: 'any' },
    normalize(value) {
      const items = objectsOf(value['data']);
      if (items.length !== inputs) {
        const received = `${items.length} vectors`;
        throw new ShapeMismatch([{ path: 'data', expected: `${inputs} vectors`, received }]);
      }
      normalizeBody(value, inputs, (vector) => floatsOf(vector, dimensions));
      for (const [position, item] of objectsOf(value['data']).entries()) {
        if (item['embedding'] instanceof Float32Array) continue;
        throw new ShapeMismatch([noVector(position, 'something else')]);
      }
    },
  };
}
