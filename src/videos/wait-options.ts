import {
  check,
  checkBoolean,
  checkDuration,
  checkFunction,
  checkLimit,
  checkNumber,
} from '../check.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { VideoFailedError } from './errors.ts';
import type { ManyOptions } from '../many.ts';
import type { GatewayOptions, RequestOptions } from '../options.ts';
import type { SubmitLedger } from './ledger.ts';
import type {
  VideoCreateParams,
  VideoStatus,
  VideoTask,
  VideoTaskError,
  VideoTaskLike,
  VideoTaskRef,
} from './types.ts';

/** How often a task is asked for. Times are in milliseconds. */
export interface VideoWaitInterval {
  /** The pause before the first poll of a new task, and after each change of status. @defaultValue 5000 */
  first?: number | undefined;
  /** The shortest pause. At least 250. @defaultValue 5000 */
  min?: number | undefined;
  /** The longest pause between polls that succeed. @defaultValue 10000 */
  max?: number | undefined;
  /** What the pause is multiplied by after each poll. 1 to 10. @defaultValue 1.25 */
  factor?: number | undefined;
  /** How much the pause varies, as a share of it: 0.2 is ±20 %, within `min` and `max`. 0 to 1. @defaultValue 0.2 */
  jitter?: number | undefined;
}

/** What changed at a poll. */
export interface VideoUpdate {
  /** `failed` is not the end yet: another poll may show that the task goes on. */
  readonly status: VideoStatus;
  /** The gateway's own word, or `undefined` when it sent none. */
  readonly rawStatus: string | undefined;
  /** 0 to 100, or `undefined`. */
  readonly progress: number | undefined;
  /** Time waited so far, in milliseconds. */
  readonly elapsed: number;
  /** Status requests made so far. */
  readonly polls: number;
  readonly task: VideoTask;
}

/** Options of a wait. The options of a request hold for every poll. */
export interface VideoWaitOptions extends Pick<
  RequestOptions,
  'signal' | 'headers' | 'query' | 'fetchOptions' | 'maxRetries' | 'validation'
> {
  /**
   * How often the task is asked for; a number is a fixed pause in milliseconds. The gateway suggests
   * 5 to 10 seconds, and many look at their own tasks only every 15.
   */
  interval?: number | VideoWaitInterval | undefined;
  /**
   * How long to wait in all, in milliseconds; `null` waits for ever. 1 to 2147483647. When it has
   * passed, the task is asked for once more, for at most 10 seconds, before the wait ends.
   * @defaultValue 1800000 (30 minutes)
   */
  timeout?: number | null | undefined;
  /**
   * How long one attempt of a poll may take, in milliseconds. 1 to 2147483647.
   * @defaultValue 30000
   */
  pollTimeout?: number | undefined;
  /**
   * How long after its submission a task may be unknown to the gateway, in milliseconds. A task that
   * was seen once may always be missing twice in a row. 0 to 2147483647.
   * @defaultValue 30000
   */
  notFoundGrace?: number | undefined;
  /**
   * How many polls in a row may fail for reasons that pass (lost connections, 408, 429, 5xx, HTML
   * pages), on top of the retries of each poll. 0 to 1000.
   * @defaultValue 10
   */
  maxConsecutiveErrors?: number | undefined;
  /**
   * What to make of a status word that is not known. `"fail"` ends the wait with `VideoWaitError`; a
   * function says which status the word means.
   * @defaultValue "keep-waiting"
   */
  unknownStatus?: 'keep-waiting' | 'fail' | ((rawStatus: string) => VideoStatus) | undefined;
  /**
   * Called after the first poll, and when status, word or progress have changed. It is awaited; if it
   * throws, the wait ends with `VideoWaitError`. A status `failed` may still change: see `wait`.
   */
  onUpdate?: ((update: VideoUpdate) => void | Promise<void>) | undefined;
  /**
   * Awaited before every poll. Waits that share one limiter share its rate; `waitAll` has one of its
   * own. It should reject when the signal is aborted.
   */
  limiter?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /**
   * Allows a handle that another gateway issued, for a gateway that has moved. The request, with its
   * key, still goes to this client's gateway.
   * @defaultValue false
   */
  allowOtherBaseURL?: boolean | undefined;
}

/** How a submission is kept from being made twice, also by a process that comes after a crash. */
export interface VideoSubmitOptions extends RequestOptions {
  /**
   * Where submissions are written down before they are sent. A call id that was accepted before is
   * not sent again: its task is given instead. Needs `callId`.
   */
  ledger?: SubmitLedger | undefined;
  /**
   * Your own id of this submission, for example that of a job: the same at every attempt of the job,
   * and of no other. It is also the `callId` of the handle and of errors.
   * @defaultValue a fresh id, unless there is a ledger
   */
  callId?: string | undefined;
  /**
   * What to do when the ledger knows the call, but nobody knows whether it was accepted: a process died
   * between the two, or the answer was lost. `"resubmit"` submits again and may pay twice.
   *
   * `"settle"` looks it up in the gateway's usage log (`account.settle()`), and never pays twice. It
   * submits again only if the log proves that the first was refunded or not charged, and waits for the
   * task that was charged if the log names it. Everything else throws: a missing entry proves nothing.
   * @defaultValue "fail": `VideoSubmitUnknownError`
   */
  onUnknown?: 'fail' | 'resubmit' | 'settle' | undefined;
  /**
   * How the submission travels: as a form, or as JSON for gateways that want it. It is never sent again
   * in the other form by itself; a ledger takes both for the same submission. JSON cannot hold files.
   * @defaultValue the `bodyFormat` of the client
   */
  bodyFormat?: GatewayOptions['bodyFormat'];
}

/** Options of a submission together with the wait for it. */
export interface VideoCreateAndWaitOptions
  extends
    VideoWaitOptions,
    Pick<VideoSubmitOptions, 'ledger' | 'callId' | 'onUnknown' | 'bodyFormat'> {
  /**
   * Called with the handle of the task as soon as the gateway has accepted it, and awaited before
   * the first poll. Save the handle here. If it throws, the error carries the handle.
   */
  onSubmitted?: ((ref: VideoTaskRef) => void | Promise<void>) | undefined;
  /** Fields to add to the body of the submission. They win. */
  extraBody?: RequestOptions['extraBody'];
}

/** Options of waits for many tasks. `timeout` counts for each from the call of `waitAll`. */
export interface VideoWaitAllOptions extends VideoWaitOptions {
  /**
   * How many polls may begin in a second, over all tasks. Tasks whose turn has come are asked for one
   * after the other. 0.001 to 100000. A `limiter` of your own takes its place.
   * @defaultValue 10
   */
  maxPollsPerSecond?: number | undefined;
}

/** How one of many waits ended. */
export type VideoWaitResult = {
  /** The place of the task in what was given. */
  readonly index: number;
  /** The task as it was given. */
  readonly task: VideoTaskLike;
} & (
  | { readonly video: VideoTask; readonly error?: undefined }
  | {
      readonly video?: undefined;
      /** What `wait` would have thrown. */
      readonly error: unknown;
    }
);

/** Options of submissions of many tasks together with the waits for them. */
export interface VideoCreateAndWaitAllOptions
  extends
    VideoWaitAllOptions,
    ManyOptions<VideoCreateAndWaitResult>,
    Pick<VideoCreateAndWaitOptions, 'ledger' | 'onUnknown' | 'bodyFormat' | 'extraBody'> {
  /**
   * Your own id of this list, the same whenever it is submitted again. The tasks have `<callId>-0`,
   * `<callId>-1` and so on, by their place: with a `ledger`, a list that is submitted again goes on with
   * the tasks that there are.
   * @defaultValue a fresh id for each, unless there is a ledger
   */
  callId?: string | undefined;
  /**
   * Called with the handle of each task, and its place in the list, as soon as the gateway has accepted
   * it, and awaited before its first poll. Save the handle here. If it throws, the error of that task
   * carries the handle.
   */
  onSubmitted?: ((ref: VideoTaskRef, index: number) => void | Promise<void>) | undefined;
}

/** How one of many submissions, or the wait for it, ended. */
export type VideoCreateAndWaitResult = {
  /** The place of the task in what was given. */
  readonly index: number;
  /** Its parameters: the object that the caller passed. */
  readonly params: VideoCreateParams;
  /** The handle of the task, when it was accepted: it is paid for, and can be waited for again. */
  readonly ref?: VideoTaskRef | undefined;
} & (
  | { readonly video: VideoTask; readonly error?: undefined }
  | {
      readonly video?: undefined;
      /** What `createAndWait` would have thrown. */
      readonly error: unknown;
    }
);

/** What happens while a task is watched. */
export type VideoWatchEvent =
  | { readonly type: 'submitted'; readonly ref: VideoTaskRef }
  | ({ readonly type: 'update' } & VideoUpdate)
  /** A poll failed for a reason that passes; the next one comes. */
  | { readonly type: 'poll-error'; readonly error: unknown }
  | { readonly type: 'completed'; readonly task: VideoTask }
  | { readonly type: 'failed'; readonly error: VideoFailedError };

/** What is remembered between two polls. Plain JSON, so that another process can go on with it. */
export interface VideoWaitState {
  /** Version of this format. */
  readonly v: 1;
  /** When the waiting began, in milliseconds since 1970. */
  readonly since: number;
  /** How many polls were made. */
  readonly polls: number;
  /** What the last poll that succeeded said; all `undefined` before the first one. */
  readonly status?: VideoStatus | undefined;
  readonly rawStatus?: string | undefined;
  readonly progress?: number | undefined;
  /** The pause that was last taken, before it was varied. */
  readonly interval?: number | undefined;
  /** The reason of a failure that is not final yet, or the error that stood in place of a status. */
  readonly failure?: VideoTaskError | undefined;
  /** Since when the polls have said the same, in milliseconds from the beginning. */
  readonly sameSince?: number | undefined;
  /** How many polls have said the same. */
  readonly samePolls?: number | undefined;
  /** When the vendor's route was last asked, in milliseconds from the beginning. */
  readonly vendorAsked?: number | undefined;
  /** How many polls in a row have failed. */
  readonly errors: number;
  /** How many polls in a row did not find the task. */
  readonly missing: number;
}

/** The state after one poll, and what to do next. */
export interface VideoWaitStep {
  readonly state: VideoWaitState;
  readonly next:
    | {
        /** Poll again after this pause, in milliseconds. */
        readonly delayMs: number;
        /** Poll again after this pause at the earliest, should something speak for it. */
        readonly earliestMs: number;
      }
    | { readonly video: VideoTask }
    | { readonly error: GatewayError };
  /** The task as the poll found it; `undefined` when the poll failed. */
  readonly task?: VideoTask | undefined;
  /** What the poll failed with. */
  readonly pollError?: unknown;
}

/** How often a task is polled, all decided. */
export type IntervalSettings = {
  readonly [Key in keyof VideoWaitInterval]-?: number;
};

/** The options of a wait, all decided. */
export type WaitSettings = ReturnType<typeof resolveWait>;

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

/** Checks the options of a wait and fills in what is missing. */
export function resolveWait(options: VideoWaitOptions & { readonly onSubmitted?: unknown }) {
  const { headers, query, fetchOptions, maxRetries, validation, ...own } = options;
  /** Of every poll. */
  const request: RequestOptions = { headers, query, fetchOptions, maxRetries, validation };
  const { timeout = 1_800_000, pollTimeout = 30_000, notFoundGrace = 30_000 } = own;
  const { maxConsecutiveErrors = 10, unknownStatus = 'keep-waiting' } = own;
  const { allowOtherBaseURL = false } = own;
  for (const name of ['onUpdate', 'onSubmitted', 'limiter'] as const)
    checkFunction(name, own[name]);
  const isWord = unknownStatus === 'keep-waiting' || unknownStatus === 'fail';
  const problem = 'must be "keep-waiting", "fail" or a function.';
  check(isWord || typeof unknownStatus === 'function', 'unknownStatus', problem);
  return {
    ...own,
    interval: resolveInterval(own.interval),
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

/** Options of a download. */
export interface VideoDownloadOptions extends RequestOptions {
  /**
   * Which asset to download. Most gateways ignore it and give the video.
   * @defaultValue the video
   */
  variant?: 'video' | 'thumbnail' | 'spritesheet' | (string & {}) | undefined;
}

/** The same, under the name that code for `openai` uses. */
export type VideoDownloadContentParams = Pick<VideoDownloadOptions, 'variant'>;
