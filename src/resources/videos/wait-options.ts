import {
  check,
  checkBoolean,
  checkDuration,
  checkFunction,
  checkLimit,
  checkNumber,
} from '../../options/check.ts';
import type { GatewayError } from '../../errors/gateway-error.ts';
import type { VideoFailedError } from './errors.ts';
import type { ManyOptions } from '../../tasks/many.ts';
import type { GatewayOptions, RequestOptions } from '../../options/options.ts';
import type { IntervalSettings, NextPoll, TaskUpdate, TaskWaitState } from '../../tasks/types.ts';
import type { LedgerOptions } from '../../tasks/submit.ts';
import type {
  VideoCreateParams,
  VideoStatus,
  VideoTask,
  VideoTaskLike,
  VideoTaskRef,
} from './types.ts';

/** The polling interval of a wait. Times are in milliseconds. */
export interface VideoWaitInterval {
  /** The pause before the first poll of a new task, and after each change of status. @defaultValue 5000 */
  first?: number | undefined;
  /** The shortest pause. At least 250. @defaultValue 5000 */
  min?: number | undefined;
  /** The longest pause between successful polls. @defaultValue 10000 */
  max?: number | undefined;
  /** Multiplies the pause after each poll. 1 to 10. @defaultValue 1.25 */
  factor?: number | undefined;
  /** The random variation of the pause, as a fraction: 0.2 is ±20 %, within `min` and `max`. 0 to 1. @defaultValue 0.2 */
  jitter?: number | undefined;
}

/** A change that a poll found. */
export type VideoUpdate = TaskUpdate<VideoTask>;

/** Options for a wait. The request options apply to every poll. */
export interface VideoWaitOptions extends Pick<
  RequestOptions,
  'signal' | 'headers' | 'query' | 'fetchOptions' | 'maxRetries' | 'validation'
> {
  /**
   * The polling interval; a number is a fixed pause in milliseconds. The gateway suggests 5 to 10 seconds,
   * and many gateways update their tasks only every 15 seconds.
   */
  interval?: number | VideoWaitInterval | undefined;
  /**
   * The maximum total wait in milliseconds; `null` waits forever. 1 to 2147483647. When it has passed, the
   * task is polled once more, for at most 10 seconds, before the wait ends.
   * @defaultValue 1800000 (30 minutes)
   */
  timeout?: number | null | undefined;
  /**
   * The timeout of each attempt of a poll, in milliseconds. 1 to 2147483647.
   * @defaultValue 30000
   */
  pollTimeout?: number | undefined;
  /**
   * The time after the submission during which the gateway may not find the task, in milliseconds. A task
   * that was found once may always be missing twice in a row. 0 to 2147483647.
   * @defaultValue 30000
   */
  notFoundGrace?: number | undefined;
  /**
   * The number of polls in a row that may fail temporarily (lost connections, 408, 429, 5xx, HTML pages),
   * after the retries of each poll. 0 to 1000.
   * @defaultValue 10
   */
  maxConsecutiveErrors?: number | undefined;
  /**
   * Handles an unknown status. `"fail"` ends the wait with `VideoWaitError`; a function maps it to a known
   * status.
   * @defaultValue "keep-waiting"
   */
  unknownStatus?: 'keep-waiting' | 'fail' | ((rawStatus: string) => VideoStatus) | undefined;
  /**
   * Called after the first poll, and whenever the status, the gateway's own status or the progress has
   * changed. It is awaited; if it throws, the wait ends with `VideoWaitError`. The status `failed` may
   * still change: see `wait`.
   */
  onUpdate?: ((update: VideoUpdate) => void | Promise<void>) | undefined;
  /**
   * Awaited before every poll. Waits that share a limiter share its rate; `waitAll` has a limiter of its
   * own. It should reject when the signal is aborted.
   */
  limiter?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /**
   * Allows a handle that another gateway issued, for a gateway that has moved. The request and its key are
   * still sent to this client's gateway.
   * @defaultValue false
   */
  allowOtherBaseURL?: boolean | undefined;
}

/** Options for a submission, including those that prevent a second submission, even after a crash. */
export interface VideoSubmitOptions extends Omit<RequestOptions, 'callId'>, LedgerOptions {
  /**
   * The format of the request body: a form, or JSON for gateways that require it. A submission is never
   * repeated in the other format automatically; a ledger treats both as the same submission. JSON cannot
   * hold files.
   * @defaultValue the `bodyFormat` of the client
   */
  bodyFormat?: GatewayOptions['bodyFormat'];
}

/** Options for a submission and the wait for its task. */
export interface VideoCreateAndWaitOptions
  extends
    VideoWaitOptions,
    Pick<
      VideoSubmitOptions,
      'ledger' | 'callId' | 'onUnknown' | 'bodyFormat' | 'fallback' | 'fallbackOn' | 'onFallback'
    > {
  /**
   * Called with the handle of the task as soon as the gateway has accepted it, and awaited before
   * the first poll. Save the handle here. If it throws, the error carries the handle.
   */
  onSubmitted?: ((ref: VideoTaskRef) => void | Promise<void>) | undefined;
  /** Fields to add to the body of the submission. They override other fields. */
  extraBody?: RequestOptions['extraBody'];
}

/** Options for waits for many tasks. `timeout` applies to each task and starts when `waitAll` is called. */
export interface VideoWaitAllOptions extends VideoWaitOptions {
  /**
   * The maximum number of polls that start per second, across all tasks. Tasks that are due are polled one
   * after the other. 0.001 to 100000. Your own `limiter` replaces it.
   * @defaultValue 10
   */
  maxPollsPerSecond?: number | undefined;
}

/** The outcome of one of many waits. */
export type VideoWaitResult = {
  /** The position of the task in the input. */
  readonly index: number;
  /** The task that the caller passed. */
  readonly task: VideoTaskLike;
} & (
  | { readonly video: VideoTask; readonly error?: undefined }
  | {
      readonly video?: undefined;
      /** The error that `wait` would have thrown. */
      readonly error: unknown;
    }
);

/** Options for many submissions and the waits for their tasks. */
export interface VideoCreateAndWaitAllOptions
  extends
    VideoWaitAllOptions,
    ManyOptions<VideoCreateAndWaitResult>,
    Pick<
      VideoCreateAndWaitOptions,
      'ledger' | 'onUnknown' | 'bodyFormat' | 'extraBody' | 'fallback' | 'fallbackOn' | 'onFallback'
    > {
  /**
   * Your own id for this list, the same each time it is submitted. The tasks use `<callId>-0`, `<callId>-1`
   * and so on, by position: with a `ledger`, submitting the list again continues with the existing tasks.
   * @defaultValue a new id for each, unless there is a ledger
   */
  callId?: string | undefined;
  /**
   * Called with the handle of each task, and its position in the list, as soon as the gateway has accepted
   * it, and awaited before its first poll. Save the handle here. If it throws, the error of that task
   * carries the handle.
   */
  onSubmitted?: ((ref: VideoTaskRef, index: number) => void | Promise<void>) | undefined;
}

/** The outcome of one of many submissions and the wait for its task. */
export type VideoCreateAndWaitResult = {
  /** The position of the task in the input. */
  readonly index: number;
  /** The parameters object that the caller passed. */
  readonly params: VideoCreateParams;
  /** The handle of the task, if it was accepted: it is paid for, and you can wait for it again. */
  readonly ref?: VideoTaskRef | undefined;
} & (
  | { readonly video: VideoTask; readonly error?: undefined }
  | {
      readonly video?: undefined;
      /** The error that `createAndWait` would have thrown. */
      readonly error: unknown;
    }
);

/** An event while a task is watched. */
export type VideoWatchEvent =
  | { readonly type: 'submitted'; readonly ref: VideoTaskRef }
  | ({ readonly type: 'update' } & VideoUpdate)
  /** A poll failed temporarily; another one follows. */
  | { readonly type: 'poll-error'; readonly error: unknown }
  | { readonly type: 'completed'; readonly task: VideoTask }
  | { readonly type: 'failed'; readonly error: VideoFailedError };

/** The state between two polls. Plain JSON, so that another process can continue. */
export type VideoWaitState = TaskWaitState;

/** The state after one poll, and what to do next. */
export interface VideoWaitStep {
  readonly state: VideoWaitState;
  readonly next: NextPoll | { readonly video: VideoTask } | { readonly error: GatewayError };
  /** The task that the poll returned; `undefined` if the poll failed. */
  readonly task?: VideoTask | undefined;
  /** The error of a failed poll. */
  readonly pollError?: unknown;
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

/** Checks the options for a wait and fills in the defaults. */
export function resolveWait(options: VideoWaitOptions & { readonly onSubmitted?: unknown }) {
  const { headers, query, fetchOptions, maxRetries, validation, ...waitOptions } = options;
  const request: RequestOptions = { headers, query, fetchOptions, maxRetries, validation };
  const { timeout = 1_800_000, pollTimeout = 30_000, notFoundGrace = 30_000 } = waitOptions;
  const { maxConsecutiveErrors = 10, unknownStatus = 'keep-waiting' } = waitOptions;
  const { allowOtherBaseURL = false } = waitOptions;
  for (const name of ['onUpdate', 'onSubmitted', 'limiter'] as const)
    checkFunction(name, waitOptions[name]);
  const isWord = unknownStatus === 'keep-waiting' || unknownStatus === 'fail';
  const problem = 'must be "keep-waiting", "fail" or a function.';
  check(isWord || typeof unknownStatus === 'function', 'unknownStatus', problem);
  return {
    ...waitOptions,
    interval: resolveInterval(waitOptions.interval),
    timeout: checkLimit('timeout', timeout),
    pollTimeout: checkDuration('pollTimeout', pollTimeout),
    notFoundGrace: checkDuration('notFoundGrace', notFoundGrace, 0),
    maxConsecutiveErrors: Math.floor(
      checkNumber('maxConsecutiveErrors', maxConsecutiveErrors, 0, 1_000),
    ),
    unknownStatus,
    allowOtherBaseURL: checkBoolean('allowOtherBaseURL', allowOtherBaseURL),
    request,
  };
}

/** Options for a download. */
export interface VideoDownloadOptions extends RequestOptions {
  /**
   * The asset to download. Most gateways ignore it and return the video.
   * @defaultValue the video
   */
  variant?: 'video' | 'thumbnail' | 'spritesheet' | (string & {}) | undefined;
}
