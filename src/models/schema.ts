import type { JsonObject } from '../types.ts';
import type { Model, ModelList } from './types.ts';
import { isEmptyAnswer } from '../answers/error-body.ts';
import { fill, holdsSomething, normalizeItems, objectsOf } from '../answers/objects.ts';
import { type FieldsOf, numeric, type ResponseSchema } from '../answers/reader.ts';

const model: FieldsOf<Model> = {
  id: 'string',
  object: 'any',
  created: numeric,
  owned_by: 'string',
  supported_endpoint_types: ['string'],
  type: 'string',
};

/** Unix seconds of an ISO 8601 date, or 0. */
function secondsOf(date: unknown): number {
  const milliseconds = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1_000);
}

/** Lists in Gemini's form call the id `name`, and some put `models/` in front of it. */
function idOf({ name }: JsonObject): string {
  return typeof name === 'string' ? name.replace(/^models\//, '') : '';
}

function normalizeModel(value: JsonObject): void {
  value['id'] ||= idOf(value);
  value['object'] = 'model';
  const { created } = value;
  if (typeof created !== 'number') {
    value['created'] = Number(created ?? Number.NaN) || secondsOf(value['created_at']);
  }
  fill(value, { owned_by: '', supported_endpoint_types: [], type: undefined });
}

/** A key may have no models. Some gateways write an empty list as `null`, and say that it is a list. */
function areModels(value: JsonObject): boolean {
  const { object, data, models } = value;
  const list = data ?? models ?? (object === 'list' ? [] : undefined);
  if (isEmptyAnswer(list, value)) return true;
  return objectsOf(list).some(({ id, name }) => holdsSomething(id ?? name));
}

/** A list of models in OpenAI's, Gemini's or Anthropic's form. */
export const modelListSchema: ResponseSchema<ModelList> = {
  fields: { object: 'any', data: [model] } satisfies FieldsOf<ModelList>,
  answer: { name: 'model', isIn: areModels },
  normalize(value) {
    value['object'] = 'list';
    const isGemini = !Array.isArray(value['data']) && Array.isArray(value['models']);
    if (isGemini) {
      value['data'] = value['models'];
      // Otherwise a printed page would show every model twice.
      delete value['models'];
    }
    normalizeItems(value, 'data', normalizeModel);
  },
};
