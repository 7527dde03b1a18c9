import type { RequestOptions } from '../options.ts';
import type { VideoStatus, VideoTask, VideoTaskRef } from '../types/videos.ts';

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
   * throws, the wait ends with `VideoWaitError`.
   */
  onUpdate?: ((update: VideoUpdate) => void | Promise<void>) | undefined;
  /**
   * Allows a handle that another gateway issued, for a gateway that has moved. The request, with its
   * key, still goes to this client's gateway.
   * @defaultValue false
   */
  allowOtherBaseURL?: boolean | undefined;
}

/** Options of a submission together with the wait for it. */
export interface VideoCreateAndWaitOptions extends VideoWaitOptions {
  /**
   * Called with the handle of the task as soon as the gateway has accepted it, and awaited before
   * the first poll. Save the handle here. If it throws, the error carries the handle.
   */
  onSubmitted?: ((ref: VideoTaskRef) => void | Promise<void>) | undefined;
  /** Fields to add to the body of the submission. They win. */
  extraBody?: RequestOptions['extraBody'];
}
