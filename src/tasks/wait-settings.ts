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

const defaultInterval: IntervalSettings = {
  first: 5_000,
  min: 5_000,
  max: 10_000,
  factor: 1.25,
  jitter: 0.2,
};

function check(
  field: string,
  value: number | undefined,
  fallback: number,
  smallest: number,
  largest: number,
): number {
  if (value === undefined) return fallback;
  if (typeof value === 'number' && value >= smallest && value <= largest) return value;
  throw new InvalidInputError(
    field,
    `must be a number from ${smallest} to ${largest}, not ${String(value)}.`,
  );
}

function resolveInterval(value: VideoWaitOptions['interval']): IntervalSettings {
  if (typeof value === 'number') {
    const pause = check('interval', value, defaultInterval.min, shortestPause, longestTimer);
    return { ...defaultInterval, first: pause, min: pause, max: pause };
  }
  const given = value ?? {};
  if (typeof given !== 'object') {
    throw new InvalidInputError('interval', 'must be milliseconds or an object.');
  }
  const min = check('interval.min', given.min, defaultInterval.min, shortestPause, longestTimer);
  const standardMax = Math.max(defaultInterval.max, min);
  const max = check('interval.max', given.max, standardMax, shortestPause, longestTimer);
  if (max < min) {
    throw new InvalidInputError(
      'interval.max',
      `is ${max}, which is below interval.min (${min}). Give both.`,
    );
  }
  const standardFirst = Math.min(max, Math.max(defaultInterval.first, min));
  return {
    min,
    max,
    first: check('interval.first', given.first, standardFirst, min, max),
    factor: check('interval.factor', given.factor, defaultInterval.factor, 1, 10),
    jitter: check('interval.jitter', given.jitter, defaultInterval.jitter, 0, 1),
  };
}

function resolveUnknownStatus(
  value: VideoWaitOptions['unknownStatus'],
): WaitSettings['unknownStatus'] {
  if (value === undefined) return 'keep-waiting';
  if (value === 'keep-waiting' || value === 'fail' || typeof value === 'function') return value;
  throw new InvalidInputError(
    'unknownStatus',
    'must be "keep-waiting", "fail" or a function that gives a status.',
  );
}

/**
 * Checks the options of a wait and fills in what is missing.
 *
 * @throws `InvalidInputError` naming the option that cannot work
 */
export function resolveWait(options: VideoWaitOptions): WaitSettings {
  for (const name of ['onUpdate', 'onSubmitted']) {
    const callback: unknown = Reflect.get(options, name);
    if (callback !== undefined && typeof callback !== 'function') {
      throw new InvalidInputError(name, 'must be a function.');
    }
  }
  const { timeout, pollTimeout, notFoundGrace, maxConsecutiveErrors } = options;
  return {
    interval: resolveInterval(options.interval),
    timeout: timeout === null ? null : check('timeout', timeout, 1_800_000, 1, longestTimer),
    pollTimeout: check('pollTimeout', pollTimeout, 30_000, 1, longestTimer),
    notFoundGrace: check('notFoundGrace', notFoundGrace, 30_000, 0, longestTimer),
    maxConsecutiveErrors: Math.floor(
      check('maxConsecutiveErrors', maxConsecutiveErrors, 10, 0, 1_000),
    ),
    unknownStatus: resolveUnknownStatus(options.unknownStatus),
  };
}
