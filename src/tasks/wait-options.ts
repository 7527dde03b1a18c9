import type { RequestOptions } from '../options/options.ts';
import { changeOptions, optionsFor } from '../options/resolve.ts';
import type { TaskUpdate, WaitSettings } from './types.ts';

/** The polling interval of a wait. Times are in milliseconds. */
export interface TaskWaitInterval {
  /**
   * The pause before the first poll of a new task, and after each change of status.
   * @defaultValue 5000 for videos, 2000 for images
   */
  first?: number | undefined;
  /**
   * The shortest pause. At least 250.
   * @defaultValue 5000 for videos, 2000 for images
   */
  min?: number | undefined;
  /** The longest pause between successful polls. @defaultValue 10000 */
  max?: number | undefined;
  /** Multiplies the pause after each poll. 1 to 10. @defaultValue 1.25 */
  factor?: number | undefined;
  /** The random variation of the pause, as a fraction: 0.2 is ±20 %, within `min` and `max`. 0 to 1. @defaultValue 0.2 */
  jitter?: number | undefined;
}

/** Options for a wait for a task. The request options apply to every poll. */
export interface TaskWaitOptions<Task> extends Pick<
  RequestOptions,
  'signal' | 'headers' | 'query' | 'fetchOptions' | 'maxRetries' | 'maxResponseBytes' | 'validation'
> {
  /**
   * The polling interval; a number is a fixed pause in milliseconds. Gateways suggest 5 to 10 seconds for
   * videos, and many update their tasks only every 15 seconds.
   */
  interval?: number | TaskWaitInterval | undefined;
  /**
   * The maximum total wait in milliseconds; `null` waits forever. 1 to 2147483647. When it has passed, the
   * task is polled once more, for at most 10 seconds, before the wait ends.
   * @defaultValue 1800000 (30 minutes) for videos, 600000 (10 minutes) for images
   */
  timeout?: number | null | undefined;
  /**
   * The timeout of each attempt of a poll, in milliseconds. 1 to 2147483647.
   * @defaultValue 30000
   */
  pollTimeout?: number | undefined;
  /**
   * The number of polls in a row that may fail temporarily (lost connections, 408, 429, 5xx, HTML pages),
   * after the retries of each poll. 0 to 1000.
   * @defaultValue 10
   */
  maxConsecutiveErrors?: number | undefined;
  /**
   * Called after the first poll, and whenever the status, the gateway's own status or the progress has
   * changed. It is awaited; if it throws, the wait ends with an error. The status `failed` may still change,
   * because another poll must confirm it.
   */
  onUpdate?: ((update: TaskUpdate<Task>) => void | Promise<void>) | undefined;
}

/** Checked options of a wait, or of a method that also waits. */
export interface CheckedWait<Task> extends Omit<WaitSettings<Task>, 'request'> {
  readonly totalTimeout?: number | null | undefined;
}

/** Returns the settings of a wait. Every request option of the caller applies to the polls. */
export function toWaitSettings<Task>(options: CheckedWait<Task>): WaitSettings<Task> {
  const request = changeOptions(optionsFor(options, 'videos.retrieve'), {
    timeout: undefined,
    signal: undefined,
    // The id belongs to the submission: observers would take its polls for the same call.
    callId: undefined,
  });
  return { ...options, request };
}
