import { isAmount, isObject } from '../answers/objects.ts';
import type { IntervalSettings } from '../options/interval.ts';
import { readStatusWord, statuses } from './reading.ts';
import { checkStored, checkVersion, readStored, readTime } from './stored.ts';
import type {
  NextPoll,
  PolledTask,
  TaskErrorDetails,
  TaskStatus,
  TaskWaitState,
  WaitSettings,
} from './types.ts';

/** The time after the submission during which the gateway may not find a task, in milliseconds. */
const notFoundGrace = 30_000;

/** The end of a task, or the reason why the wait ends before its task. */
export type WaitEnd = 'completed' | 'failed' | 'fatal' | 'missing' | 'too_many_errors' | 'timeout';

/** The settings that a decision uses. */
type Limits = Pick<WaitSettings<never>, 'interval' | 'timeout' | 'maxConsecutiveErrors'>;

/** The task as one poll returned it. */
interface SeenTask extends Pick<TaskWaitState, 'rawStatus' | 'progress'> {
  readonly type: 'task';
  readonly status: TaskStatus;
  /** The reason of a failure, or the error sent instead of a status. */
  readonly failure?: TaskErrorDetails | undefined;
  /** `true` if a failure does not need another poll to confirm it. */
  readonly isFinal?: boolean | undefined;
  /** `true` if the vendor's route was requested as well. */
  readonly hasPolledVendor?: true | undefined;
  /** The delay that the server requests, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

/** The result of one poll. */
export type Observation =
  | SeenTask
  | { readonly type: 'missing' | 'transient'; readonly retryAfter?: number | undefined }
  | { readonly type: 'fatal' };

/** When a poll was made, in milliseconds. */
export interface Moment {
  /** From the beginning of the wait to the beginning of the poll. */
  readonly started: number;
  /** From the beginning of the wait until now. */
  readonly elapsed: number;
  /** From the submission until now; `undefined` if the time of the submission is unknown. */
  readonly age: number | undefined;
}

/** The state after a poll, with the next poll or the end of the wait. */
interface Decision {
  readonly state: TaskWaitState;
  readonly next: NextPoll | WaitEnd;
}

/** Number of times in a row that a task may be missing after it was found. */
const toleratedMisses = 2;

/** Number of polls without a status that must return the same error, and their time span in milliseconds. */
const complaints = { polls: 3, span: 30_000 };

/** When the vendor's route is first requested for an unknown status, and how often then, in milliseconds. */
const doubt = { first: 120_000, pause: 60_000 };

/** Timers may fire a little early; a poll so close to the limit counts as made at the limit. */
const timerSlack = 10;

/** The longest pause after failed polls, and the longest that a server may request, in milliseconds. */
const longestPause = { afterErrors: 30_000, requested: 300_000 };

/** Varies a pause at random, so that tasks submitted together are not polled together. */
function addJitter(pause: number, { jitter, min, max }: IntervalSettings, random: number): number {
  return Math.round(Math.min(max, Math.max(min, pause * (1 + jitter * (2 * random - 1)))));
}

/**
 * Begins a wait. A task that was just submitted gets the first pause; a task that is older or of unknown
 * age is polled immediately.
 *
 * @param since - The start of the wait, in milliseconds since 1970.
 * @param waited - The time since then, in milliseconds.
 * @param age - The age of the task, in milliseconds.
 * @param random - 0 to 1.
 */
export function begin(
  since: number,
  age: number | undefined,
  { interval, timeout }: Limits,
  random: number,
  waited = 0,
): { readonly state: TaskWaitState; readonly pause?: NextPoll } {
  const state = checkState(undefined, since);
  const first = addJitter(interval.first, interval, random);
  if (age === undefined || age >= first) return { state };
  const remaining = timeout === null ? first : Math.max(0, timeout - waited);
  const delayMs = Math.min(first, first - age, remaining);
  const pause = { delayMs, earliestMs: delayMs };
  return { state: { ...state, interval: interval.first }, pause };
}

const reported = ['status', 'rawStatus', 'progress'] as const;

/** Returns whether a poll changed a field that updates report. */
export function hasChanged(
  before: TaskWaitState,
  after: Pick<TaskWaitState, (typeof reported)[number]>,
): boolean {
  return reported.some((field) => before[field] !== after[field]);
}

/**
 * Returns whether to request the vendor's route as well. A task that failed behind another gateway may
 * stay `unknown` forever, and only the gateway's own record, which that route returns, shows the failure.
 */
export function shouldPollVendor(
  before: TaskWaitState,
  { status, raw_status: rawStatus, progress }: PolledTask,
  elapsed: number,
): boolean {
  const isUnknown = rawStatus !== undefined && readStatusWord(rawStatus).word === 'empty';
  if (status !== 'queued' || !isUnknown) return false;
  if (hasChanged(before, { status, rawStatus, progress })) return false;
  const { unchangedSince = elapsed, vendorPolledAt = unchangedSince } = before;
  return elapsed - unchangedSince >= doubt.first && elapsed - vendorPolledAt >= doubt.pause;
}

function stop(state: TaskWaitState, reason: WaitEnd): Decision {
  // An unconfirmed failure is final, because no other poll can confirm or deny it any more.
  return { state, next: state.status === 'failed' ? 'failed' : reason };
}

/**
 * Decides the next step after one poll. A pure function: it reads no clock, sets no timer and draws no random
 * number.
 *
 * @param random - 0 to 1; varies the pause.
 */
export function decide(
  before: TaskWaitState,
  seen: Observation,
  moment: Moment,
  settings: Limits,
  random: number,
): Decision {
  const state = { ...before, polls: before.polls + 1 };
  const { interval } = settings;
  const again = (next: TaskWaitState, pause: number, max = interval.max): Decision => {
    const { retryAfter = 0 } = 'retryAfter' in seen ? seen : {};
    const { timeout } = settings;
    const { started, elapsed } = moment;
    // The wait times out only after a poll that began at the limit or later: a machine that slept past the
    // limit polls once more.
    if (timeout !== null && started >= timeout - timerSlack) return stop(next, 'timeout');
    const remaining = timeout === null ? Infinity : Math.max(0, Math.ceil(timeout - elapsed));
    const requested = Math.min(retryAfter, longestPause.requested);
    const varied = addJitter(pause, { ...interval, max }, random);
    const delayMs = Math.min(Math.max(varied, requested), remaining);
    const earliestMs = Math.min(Math.max(interval.min, requested), delayMs);
    return { state: next, next: { delayMs, earliestMs } };
  };
  switch (seen.type) {
    case 'fatal':
      return stop(state, 'fatal');
    case 'transient': {
      const errors = state.errors + 1;
      const failed = { ...state, errors };
      if (errors > settings.maxConsecutiveErrors) return stop(failed, 'too_many_errors');
      const max = Math.max(longestPause.afterErrors, interval.max);
      return again(failed, Math.min(max, interval.min * 2 ** (errors - 1)), max);
    }
    case 'missing': {
      const missed = { ...state, errors: 0, missing: state.missing + 1 };
      // The age may be wrong if the clock was wrong at the submission, so the elapsed time counts as well.
      const isNew = Math.max(moment.age ?? 0, moment.elapsed) < notFoundGrace;
      const isBrief = state.status !== undefined && missed.missing <= toleratedMisses;
      if (!isNew && !isBrief) return stop(missed, 'missing');
      return again(missed, state.interval ?? interval.first);
    }
    case 'task': {
      const known = afterTask(state, seen, moment, interval);
      const next = findEnd(state, seen, known, moment);
      if (next === undefined) return again(known, known.interval);
      return { state: { ...known, status: next }, next };
    }
  }
}

function comparableReason({ failure }: Pick<TaskWaitState, 'failure'>): string | undefined {
  // Every request has its own id, which would make equal reasons differ.
  return failure?.message.replace(/request[\s_-]?id["':=\s]{0,4}[\w-]{1,200}/gi, '');
}

/** Returns the state after a poll that found the task. */
function afterTask(
  before: TaskWaitState,
  seen: SeenTask,
  { elapsed }: Moment,
  { first, max, factor }: IntervalSettings,
) {
  const { status, rawStatus, progress, failure, hasPolledVendor } = seen;
  const hasMoved = before.status !== undefined && before.status !== status;
  // Progress has no meaning without a status.
  const isComplaint = rawStatus === undefined && failure !== undefined;
  const isSame =
    !hasChanged(before, isComplaint ? { ...seen, progress: before.progress } : seen) &&
    comparableReason(before) === comparableReason(seen) &&
    before.failure?.code === failure?.code;
  const { unchangedSince = elapsed, unchangedPolls = 0 } = isSame ? before : {};
  const { interval: last } = before;
  return {
    ...before,
    polls: before.polls + (hasPolledVendor ? 1 : 0),
    status,
    rawStatus,
    progress,
    interval: hasMoved || last === undefined ? first : Math.min(max, last * factor),
    failure,
    unchangedSince,
    unchangedPolls: unchangedPolls + 1,
    vendorPolledAt: hasPolledVendor ? elapsed : before.vendorPolledAt,
    errors: 0,
    missing: 0,
  };
}

/** Returns the final status of a task that has ended. A failure must be confirmed, unless it is final. */
function findEnd(
  before: TaskWaitState,
  { status, isFinal, failure }: SeenTask,
  { unchangedPolls, unchangedSince }: ReturnType<typeof afterTask>,
  { elapsed }: Moment,
): 'completed' | 'failed' | undefined {
  if (status === 'completed') return status;
  if (status === 'failed') return isFinal || before.status === 'failed' ? status : undefined;
  const isRepeated =
    unchangedPolls >= complaints.polls && elapsed - unchangedSince >= complaints.span;
  return failure !== undefined && isRepeated ? 'failed' : undefined;
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isFailure(value: unknown): value is TaskErrorDetails {
  return isObject(value) && isString(value['message']) && isString(value['code'] ?? '');
}

function isStatus(value: unknown): value is TaskStatus {
  return statuses.some((status) => status === value);
}

/** Checks a stored state; without one, returns a new state that begins `now`, in milliseconds since 1970. */
export function checkState(state: unknown, now: number): TaskWaitState {
  if (state === undefined || state === null) {
    return { v: 1, since: now, polls: 0, errors: 0, missing: 0 };
  }
  const stored = readStored('state', state);
  checkVersion('state', stored);
  const count = (part: string): number => {
    const value = stored[part];
    const isCount = isAmount(value) && Number.isSafeInteger(value);
    checkStored(isCount, `state.${part}`, 'must be a whole number of at least 0.');
    return value;
  };
  /** Reads an optional field, which some databases return as `null`. */
  const optional = <T>(part: string, fits: (value: unknown) => value is T): T | undefined => {
    const value = stored[part] ?? undefined;
    checkStored(value === undefined || fits(value), `state.${part}`, 'is invalid.');
    return value;
  };
  return {
    v: 1,
    // If the clock was set back, `since` must not move the time limit into the future.
    since: Math.min(readTime('state.since', stored['since']), now),
    polls: count('polls'),
    errors: count('errors'),
    missing: count('missing'),
    status: optional('status', isStatus),
    rawStatus: optional('rawStatus', isString),
    progress: optional('progress', isAmount),
    interval: optional('interval', isAmount),
    failure: optional('failure', isFailure),
    unchangedSince: optional('unchangedSince', isAmount),
    unchangedPolls: optional('unchangedPolls', isAmount),
    vendorPolledAt: optional('vendorPolledAt', isAmount),
  };
}
