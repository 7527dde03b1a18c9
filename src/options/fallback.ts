import { check, checkList, checkText, checkWord } from './check.ts';
import { isObject } from '../answers/objects.ts';
import type { FallbackModel, FallbackReason } from './options.ts';

const reasons = ['limits', 'model', 'context', 'overload', 'timeout', 'content'] as const;

/** @throws `InvalidInputError` if the option `fallback` is not a list of different models */
export function checkFallback(field: string, value: unknown): readonly FallbackModel[] | null {
  if (value === null) return null;
  checkList(field, value, 'the name of a model, or null for no fallback');
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  check(list.length <= 10, field, `has ${list.length} models; pass at most 10.`);
  const models = list.map((item, index): FallbackModel => {
    const { model, ...params } = isObject(item) ? item : { model: item };
    return { ...params, model: checkText(`${field}[${index}]`, model, 'a model, or { model }') };
  });
  for (const [index, { model }] of models.entries()) {
    const isNew = models.findIndex((other) => other.model === model) === index;
    check(isNew, `${field}[${index}]`, `is "${model}" again; list each model once.`);
  }
  return models;
}

/** @throws `InvalidInputError` if the option `fallbackOn` is not a list of reasons */
export function checkReasons(field: string, value: unknown): readonly FallbackReason[] {
  check(Array.isArray(value), field, `must be a list of "${reasons.join('", "')}".`);
  return value.map((item, index) => checkWord(`${field}[${index}]`, item, reasons));
}
