import * as z from 'zod/mini';
import type { JsonObject } from '../types.ts';
import type { GenerateContentResponse } from './types.ts';
import { holdsSomething, isObject, objectsOf } from '../answers/objects.ts';
import { responseSchema } from './shapes.ts';
import { withHelpers } from './helpers.ts';
import type { Reader } from '../answers/reader.ts';

/** Makes a value canonical in place, and gives it, or what stands for it. */
type Normalise = (value: unknown) => unknown;

function toSnakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The normaliser of what a schema describes; `undefined` when there are no objects in it. */
function normaliserOf(schema: z.core.$ZodType): Normalise | undefined {
  if (schema instanceof z.ZodMiniOptional || schema instanceof z.ZodMiniNullable) {
    return normaliserOf(schema.def.innerType);
  }
  if (schema instanceof z.ZodMiniObject) return normaliserOfObject(schema.def.shape);
  if (!(schema instanceof z.ZodMiniArray)) return undefined;
  const normaliseItem = normaliserOf(schema.def.element);
  if (normaliseItem === undefined) return undefined;
  return (value) => {
    const items = objectsOf(value);
    for (const item of items) normaliseItem(item);
    return items;
  };
}

/**
 * Makes a function that renames the known keys of an object that come in snake case, which some
 * proxies write, and makes `null` missing, which converting gateways write for what they do not have.
 */
function normaliserOfObject(shape: Readonly<Record<string, z.core.$ZodType>>): Normalise {
  const fields = Object.entries(shape);
  const names = new Map(
    fields.flatMap(([key]) => [
      [toSnakeCase(key), key],
      [key, key],
    ]),
  );
  const inner = new Map(fields.map(([key, schema]) => [key, normaliserOf(schema)]));
  return (value) => {
    if (!isObject(value)) return value;
    for (const key in value) {
      const name = names.get(key);
      if (name === undefined) continue;
      if (name !== key) {
        value[name] ??= value[key];
        delete value[key];
      }
      const field = value[name] ?? undefined;
      const normalise = inner.get(name);
      value[name] = field === undefined ? field : (normalise?.(field) ?? field);
    }
    return value;
  };
}

const normaliseResponse = normaliserOf(responseSchema);

/** Whether there is anything of a generation, or a word on why there is not. */
export function isGeneration(value: JsonObject): boolean {
  const { candidates, promptFeedback, prompt_feedback: feedback = promptFeedback } = value;
  if (holdsSomething(feedback)) return true;
  return objectsOf(candidates).some(({ content, finishReason, finish_reason: reason }) => {
    const parts = isObject(content) ? content['parts'] : undefined;
    return [parts, finishReason, reason].some((part) => holdsSomething(part));
  });
}

/** Reads a response of content generation, and one piece of a streamed one. */
export const generateContentReader: Reader<GenerateContentResponse> = {
  schema: responseSchema,
  answer: { name: 'generation', isIn: isGeneration },
  repair(value) {
    normaliseResponse?.(value);
    withHelpers(value);
  },
};
