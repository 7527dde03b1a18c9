import { check, checkDuration, checkNumber } from './check.ts';

/** Polling intervals with defaults applied. Times are in milliseconds. */
export interface IntervalSettings {
  readonly first: number;
  readonly min: number;
  readonly max: number;
  readonly factor: number;
  readonly jitter: number;
}

const shortestPause = 250;

/**
 * Returns the check of the option `interval`.
 *
 * @param usual - The first pause and the shortest one, in milliseconds.
 */
export const intervalFrom =
  (usual: number) =>
  (field: string, value: unknown): IntervalSettings => {
    if (typeof value === 'number') {
      const pause = checkDuration(field, value, shortestPause);
      return { first: pause, min: pause, max: pause, factor: 1, jitter: 0 };
    }
    const isSet = typeof value === 'object' && value !== null && !Array.isArray(value);
    check(isSet, field, 'must be milliseconds or an object.');
    const parts: { readonly [Name in keyof IntervalSettings]?: unknown } = value;
    const { factor = 1.25, jitter = 0.2 } = parts;
    const min = checkDuration(`${field}.min`, parts.min ?? usual, shortestPause);
    const max = checkDuration(`${field}.max`, parts.max ?? Math.max(10_000, min), min);
    const first = parts.first ?? Math.max(Math.min(usual, max), min);
    return {
      min,
      max,
      first: checkDuration(`${field}.first`, first, min, max),
      factor: checkNumber(`${field}.factor`, factor, 1, 10),
      jitter: checkNumber(`${field}.jitter`, jitter, 0, 1),
    };
  };
