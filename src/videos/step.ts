import { withoutRequestIds } from '../answers/error-body.ts';
import { readStatusWord } from './status.ts';
import type { VideoStatus, VideoTask, VideoTaskError } from './types.ts';
import { errorPause, nextInterval, respect, vary } from './pauses.ts';
import type { VideoWaitState } from './wait-options.ts';
import type { WaitSettings } from './wait-settings.ts';
import { freshState } from './wait-state.ts';

/** What one poll saw. */
export type Observation =
  | {
      readonly type: 'task';
      readonly status: VideoStatus;
      readonly rawStatus: string | undefined;
      readonly progress: number | undefined;
      /** Why the task failed; without a status, what stands in place of one. */
      readonly failure?: VideoTaskError | undefined;
      /** Whether a failure, if it is one, needs no other poll to confirm it. */
      readonly isFinal?: boolean | undefined;
      /** Whether the vendor's route was asked as well. */
      readonly hasAskedVendor?: true | undefined;
      /** How long the server asks to wait, in milliseconds. */
      readonly retryAfter?: number | undefined;
    }
  | { readonly type: 'missing' | 'transient'; readonly retryAfter?: number | undefined }
  | { readonly type: 'fatal' }
  | { readonly type: 'foreign_status'; readonly rawStatus: string };

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
      readonly delayMs: number;
      /** How long to pause at least, when something speaks for polling early. */
      readonly earliestMs: number;
    }
  | { readonly type: 'completed' | 'failed' }
  | { readonly type: 'stopped'; readonly reason: StopReason };

/** The state after a poll, and what it asks for. */
interface Step {
  readonly state: VideoWaitState;
  readonly next: Next;
}

/** How often a task that was seen may be missing in a row. */
const toleratedMisses = 2;

/** How many polls without a status have to show the same error, and over how long, in milliseconds. */
const complaints = { polls: 3, span: 30_000 };

/** How long a status is unknown before the vendor's route is asked, and how often it is, in milliseconds. */
const doubt = { first: 120_000, pause: 60_000 };

/** Timers may fire a little early; a poll so close to the limit counts as made at the limit. */
const timerSlack = 10;

/**
 * The beginning of a wait. A task that was just submitted is given the first pause; what is known to
 * be older, and what nothing is known of, is asked for at once.
 *
 * @param since - When it is, in milliseconds since 1970.
 * @param age - Of the task, in milliseconds.
 */
export function begin(
  since: number,
  age: number | undefined,
  { interval, timeout }: WaitSettings,
  random: number,
): { readonly state: VideoWaitState; readonly delay: number } {
  const state = freshState(since);
  const first = vary(interval.first, interval, random);
  if (age === undefined || age >= first) return { state, delay: 0 };
  const delay = Math.min(first, first - age, timeout ?? first);
  return { state: { ...state, interval: interval.first }, delay };
}

/** What a poll says of a task. */
type Said = Pick<VideoWaitState, 'status' | 'rawStatus' | 'progress'>;

/** Whether a poll has seen something new. */
export function hasChanged(before: Said, after: Said): boolean {
  return (
    before.status !== after.status ||
    before.rawStatus !== after.rawStatus ||
    before.progress !== after.progress
  );
}

/**
 * Whether to ask the vendor's route as well. A task that failed behind another gateway may stay
 * `unknown` for ever, and only the gateway's own record of it, which that route gives, tells.
 */
export function asksVendor(
  before: VideoWaitState,
  { status, raw_status: rawStatus, progress }: VideoTask,
  elapsed: number,
): boolean {
  const isUnknown = rawStatus !== undefined && readStatusWord(rawStatus).word === 'empty';
  if (status !== 'queued' || !isUnknown) return false;
  if (hasChanged(before, { status, rawStatus, progress })) return false;
  const { sameSince = elapsed, vendorAsked = sameSince } = before;
  return elapsed - sameSince >= doubt.first && elapsed - vendorAsked >= doubt.pause;
}

/**
 * Takes one poll into account: the one place where what was seen becomes a decision. Pure: no clock,
 * no timer, no chance of its own.
 *
 * @param random - 0 to 1; varies the pause.
 */
export function decide(
  before: VideoWaitState,
  seen: Observation,
  moment: Moment,
  settings: WaitSettings,
  random: number,
): Step {
  const state = { ...before, polls: before.polls + 1 };
  switch (seen.type) {
    case 'fatal':
      return stop(state, 'fatal');
    case 'foreign_status':
      return stop({ ...state, status: 'queued', rawStatus: seen.rawStatus }, 'foreign_status');
    case 'transient': {
      const failed = { ...state, errors: state.errors + 1 };
      if (failed.errors > settings.maxConsecutiveErrors) return stop(failed, 'too_many_errors');
      const pause = errorPause(failed.errors, settings.interval, random);
      return again(failed, pause, seen.retryAfter, moment, settings);
    }
    case 'missing': {
      const missed = { ...state, errors: 0, missing: state.missing + 1 };
      if (!mayBeMissing(missed, moment, settings)) return stop(missed, 'missing');
      const pause = vary(state.interval ?? settings.interval.first, settings.interval, random);
      return again(missed, pause, seen.retryAfter, moment, settings);
    }
    case 'task':
      return afterTask(state, seen, moment, settings, random);
  }
}

function reasonOf({ failure }: Pick<VideoWaitState, 'failure'>): string | undefined {
  return failure && withoutRequestIds(failure.message);
}

function afterTask(
  before: VideoWaitState,
  seen: Extract<Observation, { type: 'task' }>,
  moment: Moment,
  settings: WaitSettings,
  random: number,
): Step {
  const { status, rawStatus, progress, failure, retryAfter, hasAskedVendor } = seen;
  const { elapsed } = moment;
  const hasMoved = before.status !== undefined && before.status !== status;
  const interval = nextInterval(hasMoved ? undefined : before.interval, settings.interval);
  // Without a status there is nothing that a progress could be of.
  const isComplaint = rawStatus === undefined && failure !== undefined;
  const isSame =
    !hasChanged(before, isComplaint ? { ...seen, progress: before.progress } : seen) &&
    reasonOf(before) === reasonOf(seen) &&
    before.failure?.code === failure?.code;
  const { sameSince = elapsed, samePolls = 0 } = isSame ? before : {};
  const state: VideoWaitState = {
    ...before,
    polls: before.polls + (hasAskedVendor ? 1 : 0),
    status,
    rawStatus,
    progress,
    interval,
    failure,
    sameSince,
    samePolls: samePolls + 1,
    vendorAsked: hasAskedVendor ? elapsed : before.vendorAsked,
    errors: 0,
    missing: 0,
  };
  if (status === 'completed') return { state, next: { type: status } };
  const hasFailed =
    status === 'failed'
      ? seen.isFinal === true || before.status === 'failed'
      : failure !== undefined &&
        samePolls + 1 >= complaints.polls &&
        elapsed - sameSince >= complaints.span;
  if (hasFailed) return { state: { ...state, status: 'failed' }, next: { type: 'failed' } };
  return again(state, vary(interval, settings.interval, random), retryAfter, moment, settings);
}

/** A task may be missing while its gateway is still writing it down, and briefly later on. */
function mayBeMissing(
  state: VideoWaitState,
  { age = 0, elapsed }: Moment,
  { notFoundGrace }: WaitSettings,
): boolean {
  // A clock that was wrong at the submission may give any age, so the wait itself counts as well.
  if (Math.max(age, elapsed) < notFoundGrace) return true;
  return state.status !== undefined && state.missing <= toleratedMisses;
}

function stop(state: VideoWaitState, reason: StopReason): Step {
  // A failure that no poll can confirm any more, and none has denied, is one.
  if (state.status === 'failed') return { state, next: { type: 'failed' } };
  return { state, next: { type: 'stopped', reason } };
}

/**
 * Asks for another poll, unless the time is up. That is so only when a poll begun at the limit or
 * later found the task unfinished: a machine that slept past the limit looks once more.
 */
function again(
  state: VideoWaitState,
  pause: number,
  retryAfter: number | undefined,
  { started, elapsed }: Moment,
  { timeout, interval }: WaitSettings,
): Step {
  if (timeout !== null && started >= timeout - timerSlack) return stop(state, 'timeout');
  const remaining = timeout === null ? Infinity : Math.max(0, Math.ceil(timeout - elapsed));
  const asked = respect(pause, retryAfter);
  const delayMs = Math.min(asked, remaining);
  const earliestMs = Math.min(respect(Math.min(asked, interval.min), retryAfter), delayMs);
  return { state, next: { type: 'poll', delayMs, earliestMs } };
}
