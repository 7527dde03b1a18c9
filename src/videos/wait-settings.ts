import { InvalidInputError } from '../errors/gateway-error.ts';
import type { VideoWaitInterval, VideoWaitOptions } from './wait-options.ts';

/** How often a task is asked for, all decided. */
export type IntervalSettings = {
  readonly [Key in keyof VideoWaitInterval]-?: number;
};

/** The options of a wait, all decided. */
export interface WaitSettings {
  readonly interval: IntervalSettings;
  readonly timeout: number | null;
  readonly pollTimeout: number;
  readonly notFoundGrace: number;
  readonly maxConsecutiveErrors: number;
  readonly unknownStatus: NonNullable<VideoWaitOptions['unknownStatus']>;
}

/** Timers of every runtime hold 31 bits; longer ones fire at once. */
const longestTimer = 2_147_483_647;
const shortestPause = 250;

/** A number within its bounds, or what stands for it when it is left out. */
export function checkNumber(
  field: string,
  value: number | undefined,
  fallback: number,
  smallest: number,
  largest: number,
): number {
  if (value === undefined) return fallback;
  if (typeof value === 'number' && value >= smallest && value <= largest) return value;
  const problem = `must be a number from ${smallest} to ${largest}, not ${typeof value === 'number' ? value : typeof value}.`;
  throw new InvalidInputError(field, problem);
}

function resolveInterval(value: VideoWaitOptions['interval'] = {}): IntervalSettings {
  const check = (field: string, given: number | undefined, fallback: number, smallest: number) =>
    checkNumber(`interval${field}`, given, fallback, smallest, longestTimer);
  if (typeof value === 'number') {
    const pause = check('', value, 0, shortestPause);
    return { first: pause, min: pause, max: pause, factor: 1, jitter: 0 };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidInputError('interval', 'must be milliseconds or an object.');
  }
  const min = check('.min', value.min, 5_000, shortestPause);
  const max = check('.max', value.max, Math.max(10_000, min), min);
  return {
    min,
    max,
    first: checkNumber(
      'interval.first',
      value.first,
      Math.max(Math.min(5_000, max), min),
      min,
      max,
    ),
    factor: checkNumber('interval.factor', value.factor, 1.25, 1, 10),
    jitter: checkNumber('interval.jitter', value.jitter, 0.2, 0, 1),
  };
}

/**
 * Checks the options of a wait and fills in what is missing.
 *
 * @throws `InvalidInputError` naming the option that cannot work
 */
export function resolveWait(options: VideoWaitOptions): WaitSettings {
  for (const name of ['onUpdate', 'onSubmitted', 'limiter']) {
    const callback: unknown = Reflect.get(options, name);
    if (callback !== undefined && typeof callback !== 'function') {
      throw new InvalidInputError(name, 'must be a function.');
    }
  }
  const { timeout, pollTimeout, notFoundGrace, maxConsecutiveErrors } = options;
  const { unknownStatus = 'keep-waiting' } = options;
  if (
    unknownStatus !== 'keep-waiting' &&
    unknownStatus !== 'fail' &&
    typeof unknownStatus !== 'function'
  ) {
    throw new InvalidInputError('unknownStatus', 'must be "keep-waiting", "fail" or a function.');
  }
  return {
    interval: resolveInterval(options.interval),
    timeout: timeout === null ? null : checkNumber('timeout', timeout, 1_800_000, 1, longestTimer),
    pollTimeout: checkNumber('pollTimeout', pollTimeout, 30_000, 1, longestTimer),
    notFoundGrace: checkNumber('notFoundGrace', notFoundGrace, 30_000, 0, longestTimer),
    maxConsecutiveErrors: Math.floor(
      checkNumber('maxConsecutiveErrors', maxConsecutiveErrors, 10, 0, 1_000),
    ),
    unknownStatus,
  };
}
