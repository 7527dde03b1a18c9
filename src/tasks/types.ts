import type { TaskErrorDetails } from '../answers/failure.ts';
import type { IntervalSettings } from '../options/interval.ts';
import type { RequestOptions } from '../options/options.ts';

export type { TaskErrorDetails };

/** The status of a task, normalized across gateways. */
export type TaskStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

/** The fields of a polled task that a wait uses. */
export interface PolledTask {
  status: TaskStatus;
  /** The gateway's own status word; `undefined` if it sent none. */
  raw_status?: string | undefined;
  /** `true` if the word is unknown, and `status` was inferred from other fields. */
  inferred?: true | undefined;
  /** 0 to 100, or `undefined`. */
  progress?: number | undefined;
  /** Set when `status` is `failed`. */
  error?: TaskErrorDetails | null | undefined;
  /** The gateway's response, unchanged. */
  readonly raw: unknown;
}

/** A change that a poll found. */
export interface TaskUpdate<Task> {
  /** `failed` is not final, because another poll may show that the task is still running. */
  readonly status: TaskStatus;
  /** The gateway's own status word, or `undefined` if it sent none. */
  readonly rawStatus: string | undefined;
  /** 0 to 100, or `undefined`. */
  readonly progress: number | undefined;
  /** Time waited so far, in milliseconds. */
  readonly elapsed: number;
  /** Status requests made so far. */
  readonly polls: number;
  readonly task: Task;
}

/** The state kept between two polls. Plain JSON, so that another process can continue the wait. */
export interface TaskWaitState {
  /** Version of this format. */
  readonly v: 1;
  /** Start of the wait, in milliseconds since 1970. */
  readonly since: number;
  /** Number of polls made. */
  readonly polls: number;
  /** Results of the last successful poll; all `undefined` before the first one. */
  readonly status?: TaskStatus | undefined;
  readonly rawStatus?: string | undefined;
  readonly progress?: number | undefined;
  /** The last pause, before jitter. */
  readonly interval?: number | undefined;
  /** The reason of a failure that is not final yet, or the error sent instead of a status. */
  readonly failure?: TaskErrorDetails | undefined;
  /** When polls began to return the same result, in milliseconds since the start of the wait. */
  readonly unchangedSince?: number | undefined;
  /** Number of polls with the same result. */
  readonly unchangedPolls?: number | undefined;
  /** When the vendor's route was last requested, in milliseconds since the start of the wait. */
  readonly vendorPolledAt?: number | undefined;
  /** Number of failed polls in a row. */
  readonly errors: number;
  /** Number of polls in a row that did not find the task. */
  readonly missing: number;
}

/** The next poll of a task that has not ended. */
export interface NextPoll {
  /** Poll again after this pause, in milliseconds. */
  readonly delayMs: number;
  /** The shortest pause if the poll is moved forward, for example because a tab becomes visible. */
  readonly earliestMs: number;
}

/** Settings of a wait with defaults applied. Times are in milliseconds. */
export interface WaitSettings<Task> {
  readonly interval: IntervalSettings;
  /** Time limit of the whole wait; `null` for none. */
  readonly timeout: number | null;
  /** Time limit of one attempt of a poll. */
  readonly pollTimeout: number;
  readonly maxConsecutiveErrors: number;
  readonly onUpdate?: ((update: TaskUpdate<Task>) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Options of every poll. */
  readonly request: RequestOptions;
}
