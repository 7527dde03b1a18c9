import * as z from 'zod/mini';
import type { JsonObject } from '../types.ts';
import type { Model, ModelList } from './types.ts';
import { timestampSchema } from '../chat/part-schemas.ts';
import { isEmptyAnswer } from '../answers/error-body.ts';
import { dropNull, holdsSomething, objectsOf, repairItems } from '../answers/objects.ts';
import type { Reader } from '../answers/reader.ts';
import { optionalList, optionalText, type ShapeOf, unread } from '../answers/shape-of.ts';

const modelShape = {
  id: optionalText,
  object: unread,
  created: timestampSchema,
  owned_by: optionalText,
  supported_endpoint_types: optionalList(z.string()),
  type: optionalText,
} satisfies ShapeOf<Model>;

const listShape = {
  object: unread,
  data: optionalList(z.looseObject(modelShape)),
} satisfies ShapeOf<Omit<ModelList, '_request_id'>>;

/** Unix seconds of an ISO 8601 date, or 0. */
function secondsOf(date: unknown): number {
  const milliseconds = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1_000);
}

/** Lists in Gemini's form call the id `name`, and some put `models/` in front of it. */
function idOf({ name }: JsonObject): string {
  return typeof name === 'string' ? name.replace(/^models\//, '') : '';
}

function repairModel(model: JsonObject): void {
  model['id'] ||= idOf(model);
  model['object'] = 'model';
  const { created } = model;
  if (typeof created !== 'number') {
    model['created'] = Number(created ?? Number.NaN) || secondsOf(model['created_at']);
  }
  model['owned_by'] ??= '';
  model['supported_endpoint_types'] ??= [];
  dropNull(model, 'type');
}

/** A key may have no models. Some gateways write an empty list as `null`, and say that it is a list. */
function areModels(value: JsonObject): boolean {
  const { object, data, models } = value;
  const list = data ?? models ?? (object === 'list' ? [] : undefined);
  if (isEmptyAnswer(list, value)) return true;
  return objectsOf(list).some(({ id, name }) => holdsSomething(id ?? name));
}

/** Reads a list of models in OpenAI's, Gemini's or Anthropic's form. */
export const modelListReader: Reader<ModelList> = {
  schema: z.looseObject(listShape),
  answer: { name: 'model', isIn: areModels },
  repair(value) {
    value['object'] = 'list';
    const isGemini = !Array.isArray(value['data']) && Array.isArray(value['models']);
    if (isGemini) {
      value['data'] = value['models'];
      // Otherwise a printed page would show every model twice.
      delete value['models'];
    }
    repairItems(value, 'data', repairModel);
  },
};
