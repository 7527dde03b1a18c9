import type { IntervalSettings } from './wait-settings.ts';

/** The longest pause after failed polls, in milliseconds. */
const longestErrorPause = 30_000;

/** The longest wait that a server may ask for, in milliseconds. */
const longestAskedPause = 300_000;

/**
 * Varies a pause, so that tasks that were submitted together are not asked for together.
 *
 * @param random - 0 to 1.
 */
export function vary(pause: number, settings: IntervalSettings, random: number): number {
  const factor = 1 + settings.jitter * (2 * random - 1);
  return Math.round(Math.min(settings.max, Math.max(settings.min, pause * factor)));
}

/** The pause that follows a pause, before it is varied. */
export function nextInterval(previous: number | undefined, settings: IntervalSettings): number {
  if (previous === undefined) return settings.first;
  return Math.min(settings.max, previous * settings.factor);
}

/**
 * The pause after failed polls: doubles with each, up to 30 seconds.
 *
 * @param errors - How many polls have failed in a row; at least 1.
 * @param random - 0 to 1.
 */
export function errorPause(errors: number, settings: IntervalSettings, random: number): number {
  const longest = Math.max(longestErrorPause, settings.max);
  const pause = Math.min(longest, settings.min * 2 ** (errors - 1));
  return vary(pause, { ...settings, max: longest }, random);
}

/** A pause that is at least as long as the server asks, within reason. */
export function respect(pause: number, retryAfter: number | undefined): number {
  return retryAfter === undefined
    ? pause
    : Math.max(pause, Math.min(retryAfter, longestAskedPause));
}
