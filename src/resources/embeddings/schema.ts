import { decodeBase64, encodeBase64, toBytes } from '../../answers/bytes.ts';
import {
  hasValue,
  isObject,
  isText,
  listObjects,
  numberFrom,
  toFields,
} from '../../answers/objects.ts';
import {
  type Fault,
  type FieldsOf,
  type ResponseSchema,
  ShapeMismatch,
  typeName,
} from '../../answers/reader.ts';
import type { JsonObject, ResponseIssue } from '../../types.ts';
import type {
  Base64EmbeddingResponse,
  CreateEmbeddingResponse,
  Embedding,
  EmbeddingUsage,
} from './types.ts';

const floatBytes = 4;

/** The requested length of the vectors. */
type Dimensions = number | undefined;

/** A vector as it was sent: floats in base64, or numbers. */
type Vector = Float32Array<ArrayBuffer> | number[];

/**
 * Reads a vector from little-endian 32-bit floats in base64, from an array, also of numbers as text, or from a typed
 * array as `JSON.stringify` writes it (`{"0":0.1,"1":0.2}`). Returns `undefined` for other values, such as a vector
 * for each token.
 */
function readVector(value: unknown, dimensions: Dimensions): Vector | undefined {
  if (typeof value === 'string') return decodeFloats(value, dimensions);
  const isNumbered = isObject(value) && Object.keys(value).every((key, at) => key === String(at));
  const list = isNumbered ? Object.values(value) : value;
  if (!Array.isArray(list)) return undefined;
  if (areNumbers(list)) return list;
  const numbers = list.map(numberFrom);
  return areNumbers(numbers) ? numbers : undefined;
}

const areNumbers = (items: readonly unknown[]): items is number[] =>
  items.every((item) => typeof item === 'number');

const toFloats = (vector: Vector): Float32Array<ArrayBuffer> =>
  Array.isArray(vector) ? Float32Array.from(vector) : vector;

/** With its length set first, a list of numbers is filled ten times faster than by `Array.from()`. */
function toNumbers(vector: Vector): number[] {
  if (Array.isArray(vector)) return vector;
  const numbers: number[] = [];
  numbers.length = vector.length;
  for (let index = 0; index < vector.length; index++) numbers[index] = vector[index] ?? 0;
  return numbers;
}

/** Encodes a vector as little-endian 32-bit floats in base64. */
const toBase64 = (vector: Vector): string =>
  encodeBase64(toBytes(convertByteOrder(toFloats(vector))));

/**
 * Returns whether a vector has no content, or lacks numbers: `NaN` becomes `null` in JSON. Formats that this client
 * does not decode are not broken.
 */
function isBrokenVector(value: unknown): boolean {
  if (!hasValue(value)) return true;
  const items = isObject(value) ? Object.values(value) : value;
  return Array.isArray(items) && items.some((item) => item === null || typeof item === 'boolean');
}

function decodeFloats(text: string, dimensions: Dimensions): Vector | undefined {
  const bytes = decodeBase64(text);
  if (bytes === undefined || bytes.length === 0 || bytes.length % floatBytes !== 0)
    return undefined;
  const floats = convertByteOrder(new Float32Array(bytes.buffer));
  return areFloats(floats, dimensions) ? floats : undefined;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Converts between little-endian, the format in transit, and the byte order of the machine. */
function convertByteOrder(floats: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  if (isLittleEndian) return floats;
  const view = new DataView(floats.buffer);
  return floats.map((_, index) => view.getFloat32(index * floatBytes, true));
}

/** Larger than any number in a vector; bytes misread as floats soon exceed it. */
const largestNumber = 1e6;

/**
 * Returns whether decoded bytes are floats. Some models return one byte (`int8`) or one bit (`binary`)
 * per dimension, also in base64.
 */
function areFloats(floats: Float32Array, dimensions: Dimensions): boolean {
  const { length } = floats;
  if (dimensions === length * 4 || dimensions === length * 32) return false;
  for (let index = 0; index < length; index++) {
    // Negated so that `NaN` fails too.
    if (!(Math.abs(floats[index] ?? 0) <= largestNumber)) return false;
  }
  return true;
}

const key = '"embedding"';
const colon = /\s*:\s*"/y;
/** JSON escape of the character before the index that replaces a vector. */
const placeholder = String.raw`\u0000`;

/**
 * Parses a response that is nearly all base64, in half the time of `JSON.parse()`.
 *
 * A JSON parser checks every character of every vector and copies it. Vectors are cut out first, which
 * only needs a search for their ends, and reinserted into the parsed rest.
 *
 * Quotation marks within a JSON string are escaped, so the text after `"embedding":` is a value and
 * never part of a string. Unexpected input falls back to `JSON.parse()`.
 *
 * @throws `SyntaxError` if the text is not valid JSON
 */
export function parseEmbeddings(text: string): unknown {
  if (text.includes(placeholder)) return JSON.parse(text);
  const vectors: string[] = [];
  let rest = '';
  let copied = 0;
  // Searching for a plain string is several times faster than matching a pattern.
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + 1)) {
    colon.lastIndex = at + key.length;
    if (!colon.test(text)) continue;
    const start = colon.lastIndex;
    const end = text.indexOf('"', start);
    const vector = text.slice(start, end);
    if (end === -1 || vector.includes('\\')) return JSON.parse(text);
    rest += `${text.slice(copied, start)}${placeholder}${vectors.length}`;
    copied = end;
    vectors.push(vector);
  }
  const value: unknown = JSON.parse(rest + text.slice(copied));
  return reinsert(value, vectors) ? value : JSON.parse(text);
}

/** Reinserts the vectors; returns whether every one found its place. */
function reinsert(value: unknown, vectors: readonly string[]): boolean {
  const items = isObject(value) && Array.isArray(value['data']) ? value['data'] : [];
  let next = 0;
  for (const item of items) {
    if (isObject(item) && item['embedding'] === `\0${next}`) item['embedding'] = vectors[next++];
  }
  return next === vectors.length;
}

type Body = Omit<CreateEmbeddingResponse, 'missing'>;

const fields = {
  object: 'any',
  // Validating each number would take longer than parsing the JSON.
  data: [{ embedding: 'any', index: 'number', object: 'any' } satisfies FieldsOf<Embedding>],
  model: 'string',
  usage: { prompt_tokens: 'number', total_tokens: 'number' } satisfies FieldsOf<EmbeddingUsage>,
} satisfies FieldsOf<Body>;

/** Schema options for all vector formats. */
const common = {
  fields,
  // Providers skip inputs that they do not understand; if they skip all of them, the response is empty.
  result: {
    name: 'vector',
    isIn: ({ data }: JsonObject): boolean =>
      listObjects(data).some(({ embedding }) => hasValue(embedding)),
  },
  parse: parseEmbeddings,
} as const;

function itemIndex({ index }: JsonObject, position: number): number {
  return typeof index === 'number' ? index : position;
}

function isOnePerInput(items: readonly JsonObject[], inputs: number): boolean {
  const positions = new Set(items.map(itemIndex));
  return items.length === inputs && items.every((_, position) => positions.has(position));
}

/**
 * Sorts the vectors by input. If the count matches, they are also renumbered: some providers set every
 * index to 0, and some count from 1.
 */
function sortItems(items: readonly JsonObject[], inputs: number): JsonObject[] {
  for (const [position, item] of items.entries()) item['index'] ??= position;
  const sorted = items.toSorted((a, b) => itemIndex(a, 0) - itemIndex(b, 0));
  if (sorted.length === inputs) {
    for (const [position, item] of sorted.entries()) item['index'] = position;
  }
  return sorted;
}

/**
 * @param read - Returns the vector of an item; `undefined` if it is broken. Such items are removed.
 * @returns The issues of broken vectors.
 */
function normalizeBody(
  value: JsonObject,
  inputs: number,
  read: (item: JsonObject) => unknown,
): readonly ResponseIssue[] {
  value['object'] ||= 'list';
  value['model'] ??= '';
  const usage = (value['usage'] = toFields(value['usage']));
  usage['prompt_tokens'] ??= 0;
  usage['total_tokens'] ??= usage['prompt_tokens'];
  const issues: ResponseIssue[] = [];
  const received = sortItems(listObjects(value['data']), inputs).filter((item, position) => {
    const { embedding } = item;
    item['object'] ||= 'embedding';
    item['embedding'] = read(item);
    const isBroken = item['embedding'] === undefined;
    if (isBroken) issues.push(vectorIssue(position, embedding));
    return !isBroken;
  });
  value['data'] = received;
  if (received.length < inputs) value['missing'] = inputs - received.length;
  return issues;
}

/** Creates the issue for an unreadable vector. */
function vectorIssue(position: number, embedding: unknown): ResponseIssue {
  const expected = 'array of numbers or base64';
  return { path: `data[${position}].embedding`, expected, received: typeName(embedding) };
}

/** Describes a response with broken vectors. */
function describeBroken(issues: readonly ResponseIssue[]): Fault | undefined {
  const count = issues.length;
  const vectors = count === 1 ? 'vector' : 'vectors';
  const problem = `has ${count} broken ${vectors}; the others are in error.data`;
  return count === 0 ? undefined : { problem, issues };
}

/**
 * Schema for vectors as numbers or base64, converted from any supported format.
 *
 * @param format - The requested format. Vectors in formats other than `float` and `base64` are returned unchanged.
 */
export function embeddingsSchema(
  inputs: number,
  dimensions: Dimensions,
  format: string,
): ResponseSchema<CreateEmbeddingResponse | Base64EmbeddingResponse> {
  const isKnown = format === 'float' || format === 'base64';
  /** The vectors that were read while they were compared. */
  const compared = new Map<JsonObject, Vector>();
  const read = (item: JsonObject): unknown => {
    const { embedding = null } = item;
    if (!isKnown || (format === 'base64' && isText(embedding))) return embedding;
    const vector = compared.get(item) ?? readVector(embedding, dimensions);
    // Keep unreadable vectors unchanged: they are paid for.
    if (!vector?.length) return isBrokenVector(embedding) ? undefined : embedding;
    return format === 'base64' ? toBase64(vector) : toNumbers(vector);
  };
  let broken: readonly ResponseIssue[] = [];
  return {
    ...common,
    compare({ data }, report) {
      const items = listObjects(data);
      for (const [position, item] of isKnown ? items.entries() : []) {
        const vector = readVector(item['embedding'], dimensions);
        if (vector === undefined) report(vectorIssue(position, item['embedding']));
        else if (format === 'float') compared.set(item, vector);
      }
      if (isOnePerInput(items, inputs)) return;
      report({ path: 'data', expected: 'one item per input', received: typeName(data) });
    },
    normalize(value) {
      broken = normalizeBody(value, inputs, read);
    },
    fault: () => describeBroken(broken),
  };
}

/** A response whose vectors are decoded. */
export interface VectorsResponse extends Omit<Body, 'data'> {
  data: { embedding: Float32Array; index: number; object: 'embedding' }[];
}

/**
 * Schema for vectors as 32-bit floats, converted from any supported format.
 *
 * Every input must have a vector, because `Float32Array` cannot hold an unreadable value. Each vector
 * is decoded once; validating it first would take as long as decoding it.
 */
export function vectorsSchema(
  inputs: number,
  dimensions: Dimensions,
): ResponseSchema<VectorsResponse> {
  const read = ({ embedding }: JsonObject): Float32Array | undefined => {
    const vector = readVector(embedding, dimensions);
    return vector?.length ? toFloats(vector) : undefined;
  };
  let broken: readonly ResponseIssue[] = [];
  return {
    ...common,
    fields: { ...fields, data: 'any' },
    normalize(value) {
      const items = listObjects(value['data']);
      if (items.length !== inputs) {
        const received = `${items.length} vectors`;
        throw new ShapeMismatch([{ path: 'data', expected: `${inputs} vectors`, received }]);
      }
      broken = normalizeBody(value, inputs, read);
    },
    fault: () => describeBroken(broken),
  };
}
