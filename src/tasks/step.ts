import type { VideoStatus } from '../types/videos.ts';
import { errorPause, nextInterval, respect, vary } from './pauses.ts';
import type { WaitSettings } from './wait-settings.ts';

/** What is remembered between two polls. Plain JSON, so that another process can go on with it. */
export interface WaitState {
  /** How many polls were made. */
  readonly polls: number;
  /** What the last poll that succeeded said; all `undefined` before the first one. */
  readonly status?: VideoStatus | undefined;
  readonly rawStatus?: string | undefined;
  readonly progress?: number | undefined;
  /** The pause that was last taken, before it was varied. */
  readonly interval?: number | undefined;
  /** How many polls in a row have failed. */
  readonly errors: number;
  /** How many polls in a row did not find the task. */
  readonly missing: number;
}

/** What one poll saw. */
export type Observation =
  | {
      readonly type: 'task';
      readonly status: VideoStatus;
      readonly rawStatus: string | undefined;
      readonly progress: number | undefined;
      /** How long the server asks to wait, in milliseconds. */
      readonly retryAfter?: number | undefined;
    }
  | { readonly type: 'missing' | 'transient'; readonly retryAfter?: number | undefined }
  | { readonly type: 'fatal' | 'foreign_status' };

/** When a poll was made, in milliseconds. */
export interface Moment {
  /** From the beginning of the wait to the beginning of the poll. */
  readonly started: number;
  /** From the beginning of the wait until now. */
  readonly elapsed: number;
  /** From the submission until now; `undefined` when it is not known when that was. */
  readonly age: number | undefined;
}

/** Why a wait ends without its task having ended. */
export type StopReason = 'fatal' | 'missing' | 'too_many_errors' | 'foreign_status' | 'timeout';

/** What to do next. */
type Next =
  | {
      readonly type: 'poll';
      /** How long to pause, in milliseconds. */
      readonly delay: number;
      /** How long to pause at least, when something speaks for polling early. */
      readonly earliest: number;
    }
  | { readonly type: 'completed' | 'failed' }
  | { readonly type: 'stopped'; readonly reason: StopReason };

/** The state after a poll, and what it asks for. */
export interface Step {
  readonly state: WaitState;
  /** Whether status, word or progress have changed. */
  readonly changed: boolean;
  readonly next: Next;
}

/** How often a task that was seen may be missing in a row. */
const toleratedMisses = 2;

/** Timers may fire a little early; a poll so close to the limit counts as made at the limit. */
const timerSlack = 10;

/**
 * The beginning of a wait. A task that was just submitted is given the first pause; what is known to
 * be older, and what nothing is known of, is asked for at once.
 */
export function begin(
  age: number | undefined,
  { interval, timeout }: WaitSettings,
  random: number,
): { readonly state: WaitState; readonly delay: number } {
  const state: WaitState = { polls: 0, errors: 0, missing: 0 };
  const first = vary(interval.first, interval, random);
  if (age === undefined || age >= first) return { state, delay: 0 };
  const delay = Math.min(first, first - age, timeout ?? first);
  return { state: { ...state, interval: interval.first }, delay };
}

/**
 * Takes one poll into account. Pure: no clock, no timer, no chance of its own.
 *
 * @param random - 0 to 1; varies the pause.
 */
export function step(
  before: WaitState,
  seen: Observation,
  moment: Moment,
  settings: WaitSettings,
  random: number,
): Step {
  const state = { ...before, polls: before.polls + 1 };
  switch (seen.type) {
    case 'fatal':
    case 'foreign_status':
      return stop(state, seen.type);
    case 'transient': {
      const failed = { ...state, errors: state.errors + 1 };
      if (failed.errors > settings.maxConsecutiveErrors) return stop(failed, 'too_many_errors');
      const pause = errorPause(failed.errors, settings.interval, random);
      return again(failed, false, pause, seen.retryAfter, moment, settings);
    }
    case 'missing': {
      const missed = { ...state, errors: 0, missing: state.missing + 1 };
      if (!mayBeMissing(missed, moment, settings)) return stop(missed, 'missing');
      const pause = vary(state.interval ?? settings.interval.first, settings.interval, random);
      return again(missed, false, pause, seen.retryAfter, moment, settings);
    }
    case 'task':
      return afterTask(state, seen, moment, settings, random);
  }
}

function afterTask(
  before: WaitState,
  seen: Extract<Observation, { type: 'task' }>,
  moment: Moment,
  settings: WaitSettings,
  random: number,
): Step {
  const { status, rawStatus, progress } = seen;
  const isFirst = before.status === undefined;
  const hasMoved = !isFirst && before.status !== status;
  const changed =
    isFirst || hasMoved || before.rawStatus !== rawStatus || before.progress !== progress;
  const interval = nextInterval(hasMoved ? undefined : before.interval, settings.interval);
  const state = { ...before, status, rawStatus, progress, interval, errors: 0, missing: 0 };
  if (status === 'completed' || status === 'failed') {
    return { state, changed, next: { type: status } };
  }
  const pause = vary(interval, settings.interval, random);
  return again(state, changed, pause, seen.retryAfter, moment, settings);
}

/** A task may be missing while its gateway is still writing it down, and briefly later on. */
function mayBeMissing(state: WaitState, moment: Moment, { notFoundGrace }: WaitSettings): boolean {
  // A clock that was wrong at the submission may give any age, so the wait itself counts as well.
  const age = Math.max(moment.age ?? 0, moment.elapsed);
  if (age < notFoundGrace) return true;
  return state.status !== undefined && state.missing <= toleratedMisses;
}

function stop(state: WaitState, reason: StopReason): Step {
  return { state, changed: false, next: { type: 'stopped', reason } };
}

/**
 * Asks for another poll, unless the time is up. That is so only when a poll begun at the limit or
 * later found the task unfinished: a machine that slept past the limit looks once more.
 */
function again(
  state: WaitState,
  changed: boolean,
  pause: number,
  retryAfter: number | undefined,
  { started, elapsed }: Moment,
  { timeout, interval }: WaitSettings,
): Step {
  const asked = respect(pause, retryAfter);
  const earliest = respect(Math.min(asked, interval.min), retryAfter);
  if (timeout === null) return { state, changed, next: { type: 'poll', delay: asked, earliest } };
  if (started >= timeout - timerSlack) {
    return { state, changed, next: { type: 'stopped', reason: 'timeout' } };
  }
  const remaining = Math.max(0, timeout - elapsed);
  const delay = Math.min(asked, remaining);
  return { state, changed, next: { type: 'poll', delay, earliest: Math.min(earliest, delay) } };
}
