import { isObject } from '../answers/objects.ts';
import type { WaitEnd } from './errors.ts';
import { checkStored, isAmount, readStored, readTime } from './ref.ts';
import { readStatusWord } from './schema.ts';
import type { VideoStatus, VideoTask, VideoTaskError } from './types.ts';
import type { IntervalSettings, VideoWaitState, WaitSettings } from './wait-options.ts';

/** A task, as one poll saw it. */
interface SeenTask extends Pick<VideoWaitState, 'rawStatus' | 'progress'> {
  readonly type: 'task';
  readonly status: VideoStatus;
  /** Why the task failed; without a status, what stands in place of one. */
  readonly failure?: VideoTaskError | undefined;
  /** Whether a failure, if it is one, needs no other poll to confirm it. */
  readonly isFinal?: boolean | undefined;
  /** Whether the vendor's route was asked as well. */
  readonly hasAskedVendor?: true | undefined;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

/** What one poll saw. */
export type Observation =
  | SeenTask
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

/** A pause before the next poll, in milliseconds. */
export interface Pause {
  readonly delayMs: number;
  /** How long to pause at least, when something speaks for polling early. */
  readonly earliestMs: number;
}

/** The state after a poll, and what follows: another poll, or the end. */
interface Decision {
  readonly state: VideoWaitState;
  readonly next: Pause | WaitEnd;
}

/** How often a task that was seen may be missing in a row. */
const toleratedMisses = 2;

/** How many polls without a status have to show the same error, and over how long, in milliseconds. */
const complaints = { polls: 3, span: 30_000 };

/** How long a status is unknown before the vendor's route is asked, and how often then, in milliseconds. */
const doubt = { first: 120_000, pause: 60_000 };

/** Timers may fire a little early; a poll so close to the limit counts as made at the limit. */
const timerSlack = 10;

/** The longest pause after failed polls, and the longest that a server may ask for, in milliseconds. */
const longestPause = { afterErrors: 30_000, asked: 300_000 };

/** Varies a pause at random, so that tasks that were submitted together are not polled together. */
function applyJitter(
  pause: number,
  { jitter, min, max }: IntervalSettings,
  random: number,
): number {
  return Math.round(Math.min(max, Math.max(min, pause * (1 + jitter * (2 * random - 1)))));
}

/**
 * The beginning of a wait. A task that was just submitted is given the first pause; what is known to
 * be older, and what nothing is known of, is polled at once.
 *
 * @param since - When it is, in milliseconds since 1970.
 * @param age - Of the task, in milliseconds.
 * @param random - 0 to 1.
 */
export function begin(
  since: number,
  age: number | undefined,
  { interval, timeout }: WaitSettings,
  random: number,
): { readonly state: VideoWaitState; readonly pause?: Pause } {
  const state = checkState(undefined, since);
  const first = applyJitter(interval.first, interval, random);
  if (age === undefined || age >= first) return { state };
  const delayMs = Math.min(first, first - age, timeout ?? first);
  const pause = { delayMs, earliestMs: delayMs };
  return { state: { ...state, interval: interval.first }, pause };
}

const told = ['status', 'rawStatus', 'progress'] as const;

/** Whether a poll has seen something that users are told of. */
export function hasChanged(
  before: VideoWaitState,
  after: Pick<VideoWaitState, (typeof told)[number]>,
): boolean {
  return told.some((part) => before[part] !== after[part]);
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

function stop(state: VideoWaitState, reason: WaitEnd): Decision {
  // A failure that no poll can confirm any more, and none has denied, is one.
  return { state, next: state.status === 'failed' ? 'failed' : reason };
}

/**
 * Takes one poll into account: the one place where what was seen becomes a decision. Pure: it reads no
 * clock, sets no timer and draws no random number.
 *
 * @param random - 0 to 1; varies the pause.
 */
export function decide(
  before: VideoWaitState,
  seen: Observation,
  moment: Moment,
  settings: WaitSettings,
  random: number,
): Decision {
  const state = { ...before, polls: before.polls + 1 };
  const { interval } = settings;
  const again = (next: VideoWaitState, pause: number, max = interval.max): Decision => {
    const { retryAfter = 0 } = 'retryAfter' in seen ? seen : {};
    const { timeout } = settings;
    const { started, elapsed } = moment;
    // Only when a poll begun at the limit or later has found the task unfinished: a machine that slept
    // past the limit polls once more.
    if (timeout !== null && started >= timeout - timerSlack) return stop(next, 'timeout');
    const remaining = timeout === null ? Infinity : Math.max(0, Math.ceil(timeout - elapsed));
    const asked = Math.min(retryAfter, longestPause.asked);
    const varied = applyJitter(pause, { ...interval, max }, random);
    const delayMs = Math.min(Math.max(varied, asked), remaining);
    const earliestMs = Math.min(Math.max(interval.min, asked), delayMs);
    return { state: next, next: { delayMs, earliestMs } };
  };
  switch (seen.type) {
    case 'fatal':
      return stop(state, 'fatal');
    case 'foreign_status':
      return stop({ ...state, status: 'queued', rawStatus: seen.rawStatus }, 'foreign_status');
    case 'transient': {
      const errors = state.errors + 1;
      const failed = { ...state, errors };
      if (errors > settings.maxConsecutiveErrors) return stop(failed, 'too_many_errors');
      const max = Math.max(longestPause.afterErrors, interval.max);
      return again(failed, Math.min(max, interval.min * 2 ** (errors - 1)), max);
    }
    case 'missing': {
      const missed = { ...state, errors: 0, missing: state.missing + 1 };
      // A clock that was wrong at the submission may give any age, so the wait itself counts as well.
      const isNew = Math.max(moment.age ?? 0, moment.elapsed) < settings.notFoundGrace;
      const isBrief = state.status !== undefined && missed.missing <= toleratedMisses;
      if (!isNew && !isBrief) return stop(missed, 'missing');
      return again(missed, state.interval ?? interval.first);
    }
    case 'task': {
      const known = afterTask(state, seen, moment, interval);
      const next = endOf(state, seen, known, moment);
      if (next === undefined) return again(known, known.interval);
      return { state: { ...known, status: next }, next };
    }
  }
}

function reasonOf({ failure }: Pick<VideoWaitState, 'failure'>): string | undefined {
  // Every request has an id of its own.
  return failure?.message.replace(/request[\s_-]?id["':=\s]{0,4}[\w-]{1,200}/gi, '');
}

/** What is known after a poll that found the task. */
function afterTask(
  before: VideoWaitState,
  seen: SeenTask,
  { elapsed }: Moment,
  { first, max, factor }: IntervalSettings,
) {
  const { status, rawStatus, progress, failure, hasAskedVendor } = seen;
  const hasMoved = before.status !== undefined && before.status !== status;
  // Without a status there is nothing that a progress could be of.
  const isComplaint = rawStatus === undefined && failure !== undefined;
  const isSame =
    !hasChanged(before, isComplaint ? { ...seen, progress: before.progress } : seen) &&
    reasonOf(before) === reasonOf(seen) &&
    before.failure?.code === failure?.code;
  const { sameSince = elapsed, samePolls = 0 } = isSame ? before : {};
  const { interval: last } = before;
  return {
    ...before,
    polls: before.polls + (hasAskedVendor ? 1 : 0),
    status,
    rawStatus,
    progress,
    interval: hasMoved || last === undefined ? first : Math.min(max, last * factor),
    failure,
    sameSince,
    samePolls: samePolls + 1,
    vendorAsked: hasAskedVendor ? elapsed : before.vendorAsked,
    errors: 0,
    missing: 0,
  };
}

/** Whether the task has ended: a failure has to be confirmed, unless it is final. */
function endOf(
  before: VideoWaitState,
  { status, isFinal, failure }: SeenTask,
  { samePolls, sameSince }: ReturnType<typeof afterTask>,
  { elapsed }: Moment,
): 'completed' | 'failed' | undefined {
  if (status === 'completed') return status;
  if (status === 'failed') return isFinal || before.status === 'failed' ? status : undefined;
  const isRepeated = samePolls >= complaints.polls && elapsed - sameSince >= complaints.span;
  return failure !== undefined && isRepeated ? 'failed' : undefined;
}

export const statuses: readonly VideoStatus[] = ['queued', 'in_progress', 'completed', 'failed'];

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isFailure(value: unknown): value is VideoTaskError {
  return isObject(value) && isString(value['message']) && isString(value['code'] ?? '');
}

function isStatus(value: unknown): value is VideoStatus {
  return statuses.some((status) => status === value);
}

/** Checks a state that may have been stored; without one, begins now, in milliseconds since 1970. */
export function checkState(state: unknown, now: number): VideoWaitState {
  if (state === undefined || state === null) {
    return { v: 1, since: now, polls: 0, errors: 0, missing: 0 };
  }
  const given = readStored('state', state);
  const count = (part: string): number => {
    const value = given[part];
    const isCount = isAmount(value) && Number.isSafeInteger(value);
    checkStored(isCount, `state.${part}`, 'must be a whole number of at least 0.');
    return value;
  };
  /** A field that some databases give back as `null` when it was left out. */
  const optional = <T>(part: string, fits: (value: unknown) => value is T): T | undefined => {
    const value = given[part] ?? undefined;
    checkStored(value === undefined || fits(value), `state.${part}`, 'is not what it was.');
    return value;
  };
  return {
    v: 1,
    // A clock that was set back must not make the time limit later than it ever was.
    since: Math.min(readTime('state.since', given['since']), now),
    polls: count('polls'),
    errors: count('errors'),
    missing: count('missing'),
    status: optional('status', isStatus),
    rawStatus: optional('rawStatus', isString),
    progress: optional('progress', isAmount),
    interval: optional('interval', isAmount),
    failure: optional('failure', isFailure),
    sameSince: optional('sameSince', isAmount),
    samePolls: optional('samePolls', isAmount),
    vendorAsked: optional('vendorAsked', isAmount),
  };
}
