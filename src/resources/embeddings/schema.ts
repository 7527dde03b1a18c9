import { decodeBase64, encodeBase64, toBytes } from '../../answers/bytes.ts';
import { hasValue, isObject, listObjects, numberFrom } from '../../answers/objects.ts';
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

/** Returns the numbers of a vector that is not text; `undefined` if it has others, such as a vector for each token. */
function numbersIn(value: unknown): number[] | undefined {
  const numbers = typeof value === 'string' ? undefined : toVector(value);
  return numbers?.every((item) => typeof item === 'number') === true ? numbers : undefined;
}

/**
 * Decodes a vector from an array, from little-endian 32-bit floats in base64, or from a typed array as
 * `JSON.stringify` writes it (`{"0":0.1,"1":0.2}`). Returns `undefined` for other values.
 */
function toVector(value: unknown, dimensions?: Dimensions): number[] | undefined {
  if (Array.isArray(value)) return toNumberItems(value);
  if (typeof value === 'string') return toNumbers(decodeFloats(value, dimensions));
  return isObject(value) ? toNumberList(value) : undefined;
}

/** Decodes a vector to 32-bit floats; returns `undefined` if it is not a vector. */
function toFloats(value: unknown, dimensions: Dimensions): Float32Array | undefined {
  if (typeof value === 'string') return decodeFloats(value, dimensions);
  const numbers = numbersIn(value);
  return numbers && Float32Array.from(numbers);
}

/** Encodes a vector as little-endian 32-bit floats in base64; returns `undefined` if it is not a vector. */
function toBase64(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const numbers = numbersIn(value);
  return numbers && encodeBase64(toBytes(convertByteOrder(Float32Array.from(numbers))));
}

/** Converts numbers that were sent as text. Returns other lists unchanged. */
function toNumberItems(list: unknown[]): number[];
function toNumberItems(list: unknown[]): unknown[] {
  if (!list.some((item) => typeof item === 'string')) return list;
  const numbers = list.map(numberFrom);
  return numbers.includes(undefined) ? list : numbers;
}

/**
 * Returns whether a vector has no content, or lacks numbers: `NaN` becomes `null` in JSON. Formats that this client
 * does not decode are not broken.
 */
function isBrokenVector(value: unknown): boolean {
  if (!hasValue(value)) return true;
  const items = isObject(value) ? Object.values(value) : value;
  return Array.isArray(items) && items.some((item) => item === null || typeof item === 'boolean');
}

function toNumberList(value: JsonObject): number[] | undefined {
  const isNumbered = Object.keys(value).every((key, position) => key === String(position));
  const items = Object.values(value);
  const numbers = items.filter((item) => typeof item === 'number');
  return isNumbered && items.length > 0 && numbers.length === items.length ? numbers : undefined;
}

/** With its length set first, a list of numbers is filled ten times faster than by `Array.from()`. */
function toNumbers(floats: Float32Array | undefined): number[] | undefined {
  if (floats === undefined) return undefined;
  const vector: number[] = [];
  vector.length = floats.length;
  for (let index = 0; index < floats.length; index++) vector[index] = floats[index] ?? 0;
  return vector;
}

function decodeFloats(text: string, dimensions: Dimensions): Float32Array | undefined {
  const bytes = decodeBase64(text);
  if (bytes === undefined || bytes.length === 0 || bytes.length % floatBytes !== 0)
    return undefined;
  const floats = convertByteOrder(new Float32Array(bytes.buffer));
  return areFloats(floats, dimensions) ? floats : undefined;
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Converts between little-endian, the format in transit, and the byte order of the machine. */
function convertByteOrder(floats: Float32Array): Float32Array {
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

/** The requested number, length and format of vectors. */
export interface VectorForm {
  /** Number of inputs. */
  readonly inputs: number;
  /** Requested length. */
  readonly dimensions?: number | undefined;
  /** Requested format. Vectors in formats other than these two are returned unchanged. */
  readonly format: 'float' | 'base64' | (string & {});
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
  answer: {
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
 * @param isBroken - Returns whether the vector of an item is broken. Such items are removed.
 * @returns The issues of broken vectors.
 */
function normalizeBody(
  value: JsonObject,
  inputs: number,
  convert: (embedding: unknown, item: JsonObject) => unknown,
  isBroken: (item: JsonObject) => boolean,
): readonly ResponseIssue[] {
  value['object'] ||= 'list';
  value['model'] ??= '';
  const usage = isObject(value['usage']) ? value['usage'] : {};
  value['usage'] = usage;
  usage['prompt_tokens'] ??= 0;
  usage['total_tokens'] ??= usage['prompt_tokens'];
  const items = sortItems(listObjects(value['data']), inputs);
  const issues: ResponseIssue[] = [];
  const received = items.filter((item, position) => {
    const { embedding } = item;
    const isLacking = isBroken(item);
    if (isLacking) issues.push(vectorIssue(position, typeName(embedding)));
    return !isLacking;
  });
  value['data'] = received;
  for (const item of received) {
    item['object'] ||= 'embedding';
    // Keep unreadable vectors unchanged: they are paid for.
    item['embedding'] = convert(item['embedding'], item) ?? item['embedding'];
  }
  if (received.length < inputs) value['missing'] = inputs - received.length;
  return issues;
}

/** Creates the issue for an unreadable vector. */
function vectorIssue(position: number, received: string): ResponseIssue {
  const expected = 'array of numbers or base64';
  return { path: `data[${position}].embedding`, expected, received };
}

/** Describes a response with broken vectors. */
function describeBroken(issues: readonly ResponseIssue[]): Fault | undefined {
  const count = issues.length;
  const vectors = count === 1 ? 'vector' : 'vectors';
  const problem = `has ${count} broken ${vectors}; the others are in error.data`;
  return count === 0 ? undefined : { problem, issues };
}

/** Schema for vectors as numbers or base64, converted from any supported format. */
export function embeddingsSchema({
  inputs,
  dimensions,
  format,
}: VectorForm): ResponseSchema<CreateEmbeddingResponse | Base64EmbeddingResponse> {
  const isKnown = format === 'float' || format === 'base64';
  /** The vectors in base64, decoded while they are compared. */
  const decoded = new Map<unknown, Float32Array>();
  const convert = (vector: unknown, item: JsonObject): unknown => {
    if (!isKnown) return vector;
    if (format === 'base64') return toBase64(vector);
    return toNumbers(decoded.get(item)) ?? toVector(vector, dimensions);
  };
  const isReadable = (item: JsonObject): boolean => {
    const { embedding } = item;
    if (typeof embedding !== 'string') return numbersIn(embedding) !== undefined;
    const floats = decodeFloats(embedding, dimensions);
    if (floats !== undefined && format !== 'base64') decoded.set(item, floats);
    return floats !== undefined;
  };
  const isBroken = (item: JsonObject) => isKnown && isBrokenVector(item['embedding']);
  let broken: readonly ResponseIssue[] = [];
  return {
    ...common,
    compare({ data }, report) {
      const items = listObjects(data);
      for (const [position, item] of items.entries()) {
        if (!isKnown || isReadable(item)) continue;
        report(vectorIssue(position, typeName(item['embedding'])));
      }
      if (isOnePerInput(items, inputs)) return;
      report({ path: 'data', expected: 'one item per input', received: typeName(data) });
    },
    normalize(value) {
      broken = normalizeBody(value, inputs, convert, isBroken);
    },
    fault: () => describeBroken(broken),
  };
}

/** A response whose vectors are decoded. */
export interface VectorsAnswer extends Omit<Body, 'data'> {
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
  dimensions: number | undefined,
): ResponseSchema<VectorsAnswer> {
  const isBroken = (item: JsonObject): boolean => {
    const floats = toFloats(item['embedding'], dimensions);
    item['embedding'] = floats;
    return !floats?.length;
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
      broken = normalizeBody(value, inputs, (vector) => vector, isBroken);
    },
    fault: () => describeBroken(broken),
  };
}
