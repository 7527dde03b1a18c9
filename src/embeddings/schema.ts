import type { JsonObject, ResponseIssue } from '../types.ts';
import type {
  Base64EmbeddingResponse,
  CreateEmbeddingResponse,
  Embedding,
  EmbeddingUsage,
} from './types.ts';
import { holdsSomething, isObject, objectsOf } from '../answers/objects.ts';
import { type FieldsOf, type ResponseSchema, ShapeMismatch, typeName } from '../answers/reader.ts';
import { base64OfVector, floatsOf, isVector, parseEmbeddings, vectorOf } from './vectors.ts';

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
