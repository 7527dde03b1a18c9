import type { JsonObject } from '../types.ts';
import type {
  Base64EmbeddingResponse,
  CreateEmbeddingResponse,
  Embedding,
  EmbeddingUsage,
} from './types.ts';
import { parseEmbeddings } from './text.ts';
import { fill, holdsSomething, isObject, objectsOf } from '../answers/objects.ts';
import {
  type FieldsOf,
  type ReportIssue,
  type ResponseSchema,
  ShapeMismatch,
  typeName,
} from '../answers/reader.ts';
import { base64OfVector, floatsOf, isVector, vectorOf } from './vectors.ts';

const vectorForms = 'array of numbers or base64';

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

function indexOf(item: JsonObject): number | undefined {
  const { index } = item;
  return typeof index === 'number' ? index : undefined;
}

function isOnePerInput(items: readonly JsonObject[], inputs: number): boolean {
  const positions = new Set(items.map((item, position) => indexOf(item) ?? position));
  return items.length === inputs && items.every((_, position) => positions.has(position));
}

/**
 * Brings the vectors into the order of the inputs. Where there is one for each, they are also
 * numbered anew: some providers give every item the index 0, and some count from 1.
 */
function sortItems(items: readonly JsonObject[], inputs: number): JsonObject[] {
  for (const [position, item] of items.entries()) item['index'] ??= position;
  const sorted = items.toSorted((a, b) => (indexOf(a) ?? 0) - (indexOf(b) ?? 0));
  if (sorted.length === inputs) {
    for (const [position, item] of sorted.entries()) item['index'] = position;
  }
  return sorted;
}

function normalizeBody(
  value: JsonObject,
  inputs: number,
  convert: (embedding: unknown) => unknown,
): JsonObject[] {
  value['object'] ||= 'list';
  const usage = isObject(value['usage']) ? value['usage'] : {};
  fill(usage, { prompt_tokens: 0 });
  usage['total_tokens'] ??= usage['prompt_tokens'];
  const items = sortItems(objectsOf(value['data']), inputs);
  for (const item of items) {
    item['object'] ||= 'embedding';
    // What cannot be read stays as it came: it is paid for.
    item['embedding'] = convert(item['embedding']) ?? item['embedding'];
  }
  fill(value, { model: '' });
  value['usage'] = usage;
  value['data'] = items;
  if (items.length < inputs) value['missing'] = inputs - items.length;
  return items;
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
        if (isKnown && !isVector(embedding, dimensions)) reportVector(position, embedding, report);
      }
      if (isOnePerInput(items, inputs)) return;
      report({ path: 'data', expected: 'one item per input', received: typeName(data) });
    },
    normalize: (value) => void normalizeBody(value, inputs, convert),
  };
}

function reportVector(position: number, embedding: unknown, report: ReportIssue): void {
  const path = `data[${position}].embedding`;
  report({ path, expected: vectorForms, received: typeName(embedding) });
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
export function vectorsSchema({
  inputs,
  dimensions,
}: Omit<VectorForm, 'format'>): ResponseSchema<VectorsAnswer> {
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
        const path = `data[${position}].embedding`;
        throw new ShapeMismatch([{ path, expected: vectorForms, received: 'something else' }]);
      }
    },
  };
}
