import { InvalidInputError } from '../errors/gateway-error.ts';

/** Refuses parameters that are no object, as plain JavaScript can pass them. */
export function checkParams(method: string, params: unknown): void {
  if (typeof params !== 'object' || params === null || Array.isArray(params)) {
    throw new InvalidInputError('params', `must be an object; see the parameters of ${method}().`);
  }
}

/** Refuses a missing or empty model. */
export function checkModel(model: unknown): void {
  checkText('model', model, 'a model id as models.list() returns it');
}

/** Refuses missing or blank text. */
export function checkText(field: string, value: unknown, purpose: string): void {
  if (typeof value !== 'string' || value.trim() === '') {
    throw new InvalidInputError(field, `is empty; give ${purpose}.`);
  }
}

/** Refuses a list that is missing or has nothing in it. */
export function checkList(field: string, value: unknown, purpose: string): void {
  if (!Array.isArray(value) || value.length === 0) {
    throw new InvalidInputError(field, `must be a list with at least one entry; give ${purpose}.`);
  }
}

/** Refuses a count that is no integer of at least 1. It may be left out. */
export function checkCount(field: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (Number.isInteger(value) && Number(value) >= 1) return;
  throw new InvalidInputError(field, `must be an integer of at least 1, not ${show(value)}.`);
}

/** Refuses what is no number: JSON would turn `NaN` into `null` without a word. It may be left out. */
export function checkNumber(field: string, value: unknown): void {
  if (value === undefined || value === null || Number.isFinite(value)) return;
  throw new InvalidInputError(field, `must be a finite number, not ${show(value)}.`);
}

/** A number, or the kind of any other value: what callers pass may be private. */
export function show(value: unknown): string {
  if (typeof value === 'number' || value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
