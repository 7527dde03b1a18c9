import {
  GatewayError,
  InvalidInputError,
  parseVideoTaskRef,
  type VideoCreateInput,
  type VideoImageReference,
  type VideoStatus,
  type VideoTaskRef,
  type VideoWaitState,
} from '../../index.ts';

/*
 * BullMQ also identifies its errors by name, and jobs are typed by their shape. Nothing of BullMQ is
 * imported, so it may be installed as ES modules, as CommonJS, or twice.
 */

/** Parameters of a video as JSON: references are URLs or data URLs. */
export type VideoJobParams = Omit<VideoCreateInput, 'input_reference' | 'image' | 'images'> & {
  input_reference?: string | VideoImageReference | undefined;
  image?: string | undefined;
  images?: readonly string[] | undefined;
};

/** Data of a job. Plain JSON; additional fields are kept. */
export interface VideoJobData {
  /** Parameters of `videos.create()`, or of `videos.remix()` if `remixOf` is set. */
  params?: VideoJobParams | { prompt: string } | undefined;
  /** The id or handle of the video to remix. */
  remixOf?: string | VideoTaskRef | undefined;
  /** The handle of the task, once submitted. A job added with a handle only waits for it. */
  ref?: VideoTaskRef | undefined;
  /** State of the wait after the last poll. */
  state?: VideoWaitState | undefined;
  /** When the outcome of the submission became unknown, in milliseconds since 1970. */
  unknownSince?: number | undefined;
}

/** Value of `job.progress`: the status of the task at the last poll that saw a change. */
export interface VideoJobProgress {
  readonly status: VideoStatus;
  /** The gateway's own status, if it sent one. */
  readonly rawStatus?: string | undefined;
  /** 0 to 100, if the gateway reports it. */
  readonly progress?: number | undefined;
  /** Number of polls. */
  readonly polls: number;
  /** Time waited, in milliseconds. */
  readonly elapsed: number;
}

/** Value of `job.returnvalue`. */
export interface VideoJobResult {
  readonly ref: VideoTaskRef;
  /** Path of the file, with `saveTo`. */
  readonly path?: string | undefined;
  /** Size of the file in bytes. */
  readonly bytes?: number | undefined;
  /** Result of `deliver`. */
  readonly delivered?: unknown;
}

/** The properties of a BullMQ job that the processor uses. */
export interface VideoJob {
  readonly id?: string | undefined;
  readonly queueName: string;
  readonly data: VideoJobData;
  readonly processedOn?: number | undefined;
  updateData(data: VideoJobData): Promise<void>;
  updateProgress(progress: VideoJobProgress): Promise<void>;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
  /** Missing in jobs of sandboxed processors. */
  extendLock?(token: string, duration: number): Promise<number>;
  retry?(state?: 'failed'): Promise<void>;
  getChildrenValues?(): Promise<Readonly<Record<string, unknown>>>;
}

/** Signals the worker that the job is not finished: it was delayed, or another worker has it. */
export class DelayedError extends Error {
  override readonly name = 'DelayedError';
}

/** Fails the job regardless of its remaining attempts. `cause` is the error of the client. */
export class UnrecoverableError extends Error {
  override readonly name = 'UnrecoverableError';
}

/** Delays a job. Returns the error that its run must throw. */
export async function delayJob(
  job: VideoJob,
  token: string | undefined,
  milliseconds: number,
): Promise<DelayedError> {
  await job.moveToDelayed(Date.now() + milliseconds, token);
  return new DelayedError('The job continues later.');
}

/** Returns whether a value is an object and not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws `InvalidInputError` unless `holds` is true */
export function check(holds: boolean, field: string, problem: string): asserts holds {
  if (!holds) throw new InvalidInputError(field, problem);
}

/** @throws `InvalidInputError` unless the value is a number of milliseconds */
export function checkMilliseconds(field: string, value: unknown, smallest = 0): number {
  const isGood = typeof value === 'number' && value >= smallest && value <= 2_147_483_647;
  check(isGood, field, `must be milliseconds from ${smallest} to 2147483647.`);
  return value;
}

/** @throws `InvalidInputError` unless the value is a function or `undefined` */
export function checkCallback(field: string, value: unknown): void {
  check(value === undefined || typeof value === 'function', field, 'must be a function.');
}

/** @throws `InvalidInputError` unless the client can create videos */
export function checkClient(client: { readonly videos?: { readonly create?: unknown } }): void {
  check(typeof client?.videos?.create === 'function', 'client', 'must be a Gateway.');
}

/** Returns the handle in an error about a submitted task. */
export function errorRef(error: unknown): VideoTaskRef | undefined {
  if (!GatewayError.isInstance(error) || !('ref' in error)) return undefined;
  return isObject(error.ref) ? parseVideoTaskRef(error.ref) : undefined;
}
