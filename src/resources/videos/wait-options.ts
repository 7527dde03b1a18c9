import type { GatewayError } from '../../errors/gateway-error.ts';
import type { VideoFailedError } from './errors.ts';
import type { ManyOptions } from '../../tasks/many.ts';
import type { GatewayOptions, ReadOptions, RequestOptions } from '../../options/options.ts';
import type { NextPoll, TaskUpdate, TaskWaitState } from '../../tasks/types.ts';
import type { LedgerOptions } from '../../tasks/submit.ts';
import type { TaskWaitInterval, TaskWaitOptions } from '../../tasks/wait-options.ts';
import type { VideoCreateParams, VideoTask, VideoTaskLike, VideoTaskRef } from './types.ts';

/** The polling interval of a wait. Times are in milliseconds. */
export type VideoWaitInterval = TaskWaitInterval;

/** A change that a poll found. */
export type VideoUpdate = TaskUpdate<VideoTask>;

/** Options for a wait. The request options apply to every poll. */
export type VideoWaitOptions = TaskWaitOptions<VideoTask>;

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

/**
 * Options for a submission and the wait for its task. Each request option applies to the submission, and those
 * for reads to the polls too.
 *
 * `timeout` limits the whole, from the submission to the end of the wait. A submission that it ends has an
 * unknown outcome. `totalTimeout` limits the submission with its attempts, and each poll with its own.
 */
export interface VideoCreateAndWaitOptions
  extends VideoWaitOptions, Omit<VideoSubmitOptions, keyof VideoWaitOptions> {
  /**
   * Called with the handle of the task as soon as the gateway has accepted it, and awaited before
   * the first poll. Save the handle here. If it throws, the error carries the handle.
   */
  onSubmitted?: ((ref: VideoTaskRef) => void | Promise<void>) | undefined;
}

/** Options for waits for many tasks. `timeout` applies to each task and starts when `waitAll` is called. */
export interface VideoWaitAllOptions extends VideoWaitOptions {
  /**
   * The maximum number of polls that start per second, across all tasks. Tasks that are due are polled one
   * after the other. 0.001 to 100000.
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

/** Options for the submission of a remix, which has no model to replace. */
export interface VideoRemixOptions extends Omit<
  VideoSubmitOptions,
  'fallback' | 'fallbackOn' | 'onFallback'
> {}

/** Options for the submission of a remix and the wait for its task. */
export interface VideoRemixAndWaitOptions extends Omit<
  VideoCreateAndWaitOptions,
  'fallback' | 'fallbackOn' | 'onFallback'
> {}

/** Options for many submissions and the waits for their tasks. `timeout` starts with each submission. */
export interface VideoCreateAndWaitAllOptions
  extends
    VideoWaitAllOptions,
    ManyOptions<VideoCreateAndWaitResult>,
    Omit<
      VideoCreateAndWaitOptions,
      keyof VideoWaitOptions | 'callId' | 'idempotencyKey' | 'onSubmitted'
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

/** Options for a download. */
export interface VideoDownloadOptions extends ReadOptions {
  /**
   * The asset to download. Most gateways ignore it and return the video.
   * @defaultValue the video
   */
  variant?: 'video' | 'thumbnail' | 'spritesheet' | (string & {}) | undefined;
  /**
   * Fetch the video from the URL in its task if the content route fails for good. The URL must be a public https URL
   * or on the gateway's origin; the key is not sent to it. Only for the variant `video`.
   * @defaultValue true
   */
  resultURL?: boolean | undefined;
}
