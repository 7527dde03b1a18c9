import { InvalidInputError } from '../errors/gateway-error.ts';
import { isObject } from '../schemas/objects.ts';
import type { VideoStatus, VideoTaskError } from '../types/videos.ts';
import type { VideoWaitState } from './wait-options.ts';

/** Every status of a task. */
export const statuses: readonly VideoStatus[] = ['queued', 'in_progress', 'completed', 'failed'];

function bad(part: string, problem: string): InvalidInputError {
  return new InvalidInputError(
    part === '' ? 'state' : `state.${part}`,
    `${problem} A state is what the last step() gave; store and pass it whole.`,
  );
}

function checkCount(part: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw bad(part, 'must be a whole number of at least 0.');
}

/** A field that some databases give back as `null` when it was left out. */
function optional<T>(
  part: string,
  value: unknown,
  fits: (value: unknown) => value is T,
): T | undefined {
  if (value === undefined || value === null) return undefined;
  if (fits(value)) return value;
  throw bad(part, 'is not what it was.');
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isFailure(value: unknown): value is VideoTaskError {
  return isObject(value) && isText(value['message']) && isText(value['code'] ?? '');
}

function isStatus(value: unknown): value is VideoStatus {
  return statuses.some((status) => status === value);
}

/**
 * Checks a state that may have been stored; without one, begins.
 *
 * @param now - In milliseconds since 1970.
 * @throws `InvalidInputError` naming the field that does not fit
 */
export function checkState(state: unknown, now: number): VideoWaitState {
  if (state === undefined || state === null) {
    return { v: 1, since: now, polls: 0, errors: 0, missing: 0 };
  }
  if (typeof state === 'string') throw bad('', 'is text; parse it with JSON.parse() first.');
  if (!isObject(state)) throw bad('', 'must be an object.');
  const { v, since, polls, errors, missing, status, rawStatus, progress, interval } = state;
  const { failure, sameSince, samePolls, vendorAsked } = state;
  if (v !== 1) {
    throw bad('v', `is ${JSON.stringify(v)}, a format that this version does not know.`);
  }
  if (!isPositive(since)) throw bad('since', 'must be milliseconds since 1970.');
  return {
    v: 1,
    // A clock that was set back must not make the time limit later than it ever was.
    since: Math.min(since, now),
    polls: checkCount('polls', polls),
    errors: checkCount('errors', errors),
    missing: checkCount('missing', missing),
    status: optional('status', status, isStatus),
    rawStatus: optional('rawStatus', rawStatus, isText),
    progress: optional('progress', progress, isPositive),
    interval: optional('interval', interval, isPositive),
    failure: optional('failure', failure, isFailure),
    sameSince: optional('sameSince', sameSince, isPositive),
    samePolls: optional('samePolls', samePolls, isPositive),
    vendorAsked: optional('vendorAsked', vendorAsked, isPositive),
  };
}
