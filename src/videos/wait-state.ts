import { isObject } from '../answers/objects.ts';
import type { VideoStatus, VideoTaskError } from './types.ts';
import { badStored, checkStored, checkTime, checkVersion, isAmount } from './stored.ts';
import type { VideoWaitState } from './wait-options.ts';

/** Every status of a task. */
export const statuses: readonly VideoStatus[] = ['queued', 'in_progress', 'completed', 'failed'];

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isFailure(value: unknown): value is VideoTaskError {
  return isObject(value) && isText(value['message']) && isText(value['code'] ?? '');
}

function isStatus(value: unknown): value is VideoStatus {
  return statuses.some((status) => status === value);
}

/** The state of a wait that begins. */
export function freshState(since: number): VideoWaitState {
  return { v: 1, since, polls: 0, errors: 0, missing: 0 };
}

/**
 * Checks a state that may have been stored; without one, begins.
 *
 * @param now - In milliseconds since 1970.
 * @throws `InvalidInputError` naming the field that does not fit
 */
export function checkState(state: unknown, now: number): VideoWaitState {
  if (state === undefined || state === null) return freshState(now);
  const given = checkStored('state', state);
  checkVersion('state', given['v']);
  const count = (part: string): number => {
    const value = given[part];
    if (isAmount(value) && Number.isSafeInteger(value)) return value;
    throw badStored('state', part, 'must be a whole number of at least 0.');
  };
  /** A field that some databases give back as `null` when it was left out. */
  const optional = <T>(part: string, fits: (value: unknown) => value is T): T | undefined => {
    const value = given[part] ?? undefined;
    if (value === undefined || fits(value)) return value;
    throw badStored('state', part, 'is not what it was.');
  };
  return {
    v: 1,
    // A clock that was set back must not make the time limit later than it ever was.
    since: Math.min(checkTime('state', 'since', given['since']), now),
    polls: count('polls'),
    errors: count('errors'),
    missing: count('missing'),
    status: optional('status', isStatus),
    rawStatus: optional('rawStatus', isText),
    progress: optional('progress', isAmount),
    interval: optional('interval', isAmount),
    failure: optional('failure', isFailure),
    sameSince: optional('sameSince', isAmount),
    samePolls: optional('samePolls', isAmount),
    vendorAsked: optional('vendorAsked', isAmount),
  };
}
