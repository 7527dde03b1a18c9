import { check, checkDuration, checkFunction, checkLimit, checkNumber } from '../check.ts';
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

const shortestPause = 250;

function resolveInterval(value: VideoWaitOptions['interval'] = {}): IntervalSettings {
  if (typeof value === 'number') {
    const pause = checkDuration('interval', value, shortestPause);
    return { first: pause, min: pause, max: pause, factor: 1, jitter: 0 };
  }
  const isSet = typeof value === 'object' && value !== null && !Array.isArray(value);
  check(isSet, 'interval', 'must be milliseconds or an object.');
  const { min = 5_000, factor = 1.25, jitter = 0.2 } = value;
  checkDuration('interval.min', min, shortestPause);
  const { max = Math.max(10_000, min) } = value;
  checkDuration('interval.max', max, min);
  const { first = Math.max(Math.min(5_000, max), min) } = value;
  return {
    min,
    max,
    first: checkDuration('interval.first', first, min, max),
    factor: checkNumber('interval.factor', factor, 1, 10),
    jitter: checkNumber('interval.jitter', jitter, 0, 1),
  };
}

/**
 * Checks the options of a wait and fills in what is missing.
 *
 * @throws `InvalidInputError` naming the option that cannot work
 */
export function resolveWait(options: VideoWaitOptions): WaitSettings {
  for (const name of ['onUpdate', 'onSubmitted', 'limiter']) {
    checkFunction(name, Reflect.get(options, name));
  }
  const { timeout = 1_800_000, pollTimeout = 30_000, notFoundGrace = 30_000 } = options;
  const { maxConsecutiveErrors = 10, unknownStatus = 'keep-waiting' } = options;
  const isWord = unknownStatus === 'keep-waiting' || unknownStatus === 'fail';
  const problem = 'must be "keep-waiting", "fail" or a function.';
  check(isWord || typeof unknownStatus === 'function', 'unknownStatus', problem);
  return {
    interval: resolveInterval(options.interval),
    timeout: checkLimit('timeout', timeout),
    pollTimeout: checkDuration('pollTimeout', pollTimeout),
    notFoundGrace: checkDuration('notFoundGrace', notFoundGrace, 0),
    maxConsecutiveErrors: Math.floor(
      checkNumber('maxConsecutiveErrors', maxConsecutiveErrors, 0, 1_000),
    ),
    unknownStatus,
  };
}
