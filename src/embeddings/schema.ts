import * as z from 'zod/mini';
import type { JsonObject } from '../types.ts';
import type {
  Base64EmbeddingResponse,
  CreateEmbeddingResponse,
  Embedding,
  EmbeddingUsage,
} from './types.ts';
import { parseEmbeddings } from './text.ts';
import { holdsSomething, isObject, objectsOf } from '../answers/objects.ts';
import { type Reader, ShapeMismatch } from '../answers/reader.ts';
import {
  optionalNumber,
  optionalObject,
  optionalText,
  type ShapeOf,
  unread,
} from '../answers/shape-of.ts';
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

function isKnown({ format }: VectorForm): boolean {
  return format === 'float' || format === 'base64';
}

function itemSchema(form: VectorForm) {
  // A vector is one check, because a schema per number takes longer than the JSON parser.
  const fits = (value: unknown): boolean => !isKnown(form) || isVector(value, form.dimensions);
  return z.looseObject({
    embedding: z.any().check(z.refine(fits, vectorForms)),
    index: optionalNumber,
    object: unread,
  } satisfies ShapeOf<Embedding>);
}

const usageShape = {
  prompt_tokens: optionalNumber,
  total_tokens: optionalNumber,
} satisfies ShapeOf<EmbeddingUsage>;

type Body = Omit<CreateEmbeddingResponse, '_request_id' | 'missing'>;

function schemaFor(form: VectorForm) {
  const items = z.array(itemSchema(form));
  const isWhole = (data: readonly unknown[]): boolean => isOnePerInput(data, form.inputs);
  return bodyWith(items.check(z.refine(isWhole, 'one item per input')));
}

function bodyWith<Data extends ShapeOf<Body>['data']>(data: Data) {
  return z.looseObject({
    object: unread,
    data,
    model: optionalText,
    usage: optionalObject(usageShape),
  } satisfies ShapeOf<Body>);
}

const vectorsSchema = bodyWith(unread);

function isOnePerInput(data: readonly unknown[], inputs: number): boolean {
  const positions = data.map((item, position) => indexOf(item) ?? position);
  return data.length === inputs && isNumbered(positions.toSorted((a, b) => a - b));
}

function indexOf(item: unknown): number | undefined {
  const index = isObject(item) ? item['index'] : undefined;
  return typeof index === 'number' ? index : undefined;
}

function isNumbered(positions: readonly number[]): boolean {
  return positions.every((position, expected) => position === expected);
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

function repairBody(
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
  for (const item of items) {
    item['object'] ||= 'embedding';
    // What cannot be read stays as it came: it is paid for.
    item['embedding'] = convert(item['embedding']) ?? item['embedding'];
  }
  value['data'] = items;
  if (items.length < inputs) value['missing'] = inputs - items.length;
}

/** Providers skip inputs that they do not understand; where they skip all, nothing came. */
const answer = {
  name: 'vector',
  isIn: (value: JsonObject): boolean =>
    objectsOf(value['data']).some((item) => holdsSomething(item['embedding'])),
};

/** Reads vectors as numbers or as base64, whatever form each of them came in. */
export function embeddingsReader(
  form: VectorForm,
): Reader<CreateEmbeddingResponse | Base64EmbeddingResponse> {
  const { inputs, dimensions, format } = form;
  const convert = (vector: unknown): unknown => {
    if (!isKnown(form)) return vector;
    return format === 'base64' ? base64OfVector(vector) : vectorOf(vector, dimensions);
  };
  return {
    schema: schemaFor(form),
    answer,
    parse: parseEmbeddings,
    repair: (value) => repairBody(value, inputs, convert),
  };
}

/** An answer whose vectors are ready to be calculated with. */
export interface VectorsAnswer extends Omit<Body, 'data'> {
  data: { embedding: Float32Array; index: number; object: 'embedding' }[];
}

/**
 * Reads vectors as 32-bit floats, whatever form each of them came in.
 *
 * Here every input must have a vector, as there is no other place for what came instead. Each vector
 * is read once: checking it before would take as long as reading it.
 */
export function vectorsReader({
  inputs,
  dimensions,
}: Omit<VectorForm, 'format'>): Reader<VectorsAnswer> {
  return {
    schema: vectorsSchema,
    answer,
    parse: parseEmbeddings,
    repair(value) {
      const items = objectsOf(value['data']);
      if (items.length !== inputs) {
        const received = `${items.length} vectors`;
        throw new ShapeMismatch([{ path: 'data', expected: `${inputs} vectors`, received }]);
      }
      repairBody(value, inputs, (vector) => floatsOf(vector, dimensions));
      for (const [position, item] of objectsOf(value['data']).entries()) {
        if (item['embedding'] instanceof Float32Array) continue;
        const path = `data[${position}].embedding`;
        throw new ShapeMismatch([{ path, expected: vectorForms, received: 'something else' }]);
      }
    },
  };
}
