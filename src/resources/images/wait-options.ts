import type { GatewayError } from '../../errors/gateway-error.ts';
import type { RequestOptions } from '../../options/options.ts';
import type { TaskWaitOptions } from '../../tasks/wait-options.ts';
import type { ImageTaskRef } from '../../tasks/ref.ts';
import type { LedgerOptions } from '../../tasks/submit.ts';
import type { NextPoll, PolledTask, TaskUpdate, TaskWaitState } from '../../tasks/types.ts';
import type { ImagesResponse } from './types.ts';

/** Options of calls for images. `timeout` limits an attempt, `totalTimeout` the whole call. */
export interface ImageRequestOptions extends Omit<RequestOptions, 'callId'>, LedgerOptions {
  /**
   * Called with the handle of the task if the gateway returns one instead of images, and awaited before the
   * first poll. Save the handle here. If it throws, the error carries the handle.
   */
  onSubmitted?: ((ref: ImageTaskRef) => void | Promise<void>) | undefined;
  /**
   * Time limit for such a task, in milliseconds; `null` for none. 1 to 2147483647. When it has passed, the
   * task is polled once more, for at most 10 seconds, before the wait ends.
   * @defaultValue 600000 (10 minutes)
   */
  taskTimeout?: number | null | undefined;
}

/** A change that a poll found. Its `task.raw` is the response of the gateway. */
export type ImageUpdate = TaskUpdate<PolledTask>;

/**
 * Options of a wait for images: those of `videos.wait()`, with the same meaning. The request options apply to
 * every poll.
 */
export type ImageWaitOptions = TaskWaitOptions<PolledTask>;

/** The state kept between two polls. Plain JSON, so that another process can continue the wait. */
export type ImageWaitState = TaskWaitState;

/** The state after one poll, and what to do next. */
export interface ImageWaitStep {
  readonly state: ImageWaitState;
  readonly next: NextPoll | { readonly images: ImagesResponse } | { readonly error: GatewayError };
  /** The error of the poll. */
  readonly pollError?: unknown;
}
