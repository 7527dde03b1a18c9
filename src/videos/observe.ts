import { APIError, APIConnectionError, UnexpectedResponseError } from '../errors/api-errors.ts';
import { InvalidInputError, type Outcome } from '../errors/gateway-error.ts';
import { isObject } from '../answers/objects.ts';
import { findComplaint, isCausedByInput } from './failure.ts';
import { restateVideo } from './schema.ts';
import { readStatusWord } from './status.ts';
import type { VideoStatus, VideoTask } from './types.ts';
import type { Observation } from './step.ts';
import type { WaitSettings } from './wait-settings.ts';
import { statuses } from './wait-state.ts';

/** What a poll gave: a task or an error, and how long the server asks to wait, in milliseconds. */
export type PollResult = {
  readonly retryAfter?: number | undefined;
  /** Whether the vendor's route was asked as well. If the task has failed, it is that which says so. */
  readonly hasAskedVendor?: true | undefined;
} & (
  | { readonly task: VideoTask; readonly error?: undefined }
  | { readonly task?: undefined; readonly error: unknown }
);

/** Whether an answer passes by itself. 501 and 505 mean that the route does not exist. */
function passes(status: number, outcome: Outcome): boolean {
  if (status >= 500) return status !== 501 && status !== 505;
  return status < 300 || status === 425 || status === 429 || outcome === 'unknown';
}

/** Whether the gateway says that it has no such task; most say so with status 400. */
function saysMissing(error: APIError): boolean {
  if (error.status === 404 || error.code === 'task_not_exist') return true;
  return error.status === 400 && /task.{0,100}?not.{0,6}(exist|found)/i.test(error.message);
}

/** Sorts the error of a poll. */
function classifyPollError(error: unknown): 'missing' | 'transient' | 'fatal' {
  if (InvalidInputError.isInstance(error)) {
    // The function that gives the key failed; it may work at the next poll.
    return error.field === 'apiKey' && error.cause !== undefined ? 'transient' : 'fatal';
  }
  if (APIConnectionError.isInstance(error)) return 'transient';
  // Only strict validation refuses fields; the same answer would fail again.
  const refused = UnexpectedResponseError.isInstance(error) ? error.issues[0]?.path : undefined;
  if ((refused ?? '') !== '' || !APIError.isInstance(error)) return 'fatal';
  if (saysMissing(error)) return 'missing';
  const { status, outcome } = error;
  return status !== undefined && passes(status, outcome) ? 'transient' : 'fatal';
}

/**
 * Turns what a poll gave into what the state machine reads.
 *
 * @throws `TypeError` when the caller's `unknownStatus` gives something else than a status
 */
export function observe(
  result: PollResult,
  { unknownStatus }: Pick<WaitSettings, 'unknownStatus'>,
): Observation {
  const { task, hasAskedVendor, retryAfter } = result;
  if (task === undefined) {
    const type = classifyPollError(result.error);
    return type === 'fatal' ? { type } : { type, retryAfter };
  }
  if (task.raw_status !== undefined && readStatusWord(task.raw_status).word === 'foreign') {
    if (typeof unknownStatus === 'function') {
      restateVideo(task, askForStatus(unknownStatus, task.raw_status));
    } else if (unknownStatus === 'fail' && task.inferred !== true) {
      return { type: 'foreign_status', rawStatus: task.raw_status };
    }
  }
  const { status, raw_status: rawStatus, progress, raw } = task;
  const isWordless = status === 'queued' && rawStatus === undefined && isObject(raw);
  const failure = (isWordless ? findComplaint(raw) : task.error) ?? undefined;
  const isFinal = hasAskedVendor === true || (failure !== undefined && isCausedByInput(failure));
  const seen = { status, rawStatus, progress, failure, isFinal, hasAskedVendor, retryAfter };
  return { type: 'task', ...seen };
}

function askForStatus(read: (rawStatus: string) => VideoStatus, word: string): VideoStatus {
  const status = read(word);
  if (statuses.includes(status)) return status;
  throw new TypeError(
    `unknownStatus gave ${JSON.stringify(status)} for "${word}"; it must give one of ${statuses.join(', ')}.`,
  );
}
