import {
  GatewayError,
  InvalidInputError,
  parseVideoTaskRef,
  type VideoCreateParams,
  type VideoImageReference,
  type VideoStatus,
  type VideoTaskRef,
  type VideoWaitState,
} from '../index.ts';

/*
 * BullMQ recognises its errors by their names too, and jobs are used by their shape. So nothing of it is
 * imported: it makes no difference whether it was installed as modules or as CommonJS, or twice.
 */

/** What a video is made from, as far as JSON can hold it: references are URLs or data URLs as text. */
export type VideoJobParams = Omit<VideoCreateParams, 'input_reference' | 'image' | 'images'> & {
  input_reference?: string | VideoImageReference | undefined;
  image?: string | undefined;
  images?: readonly string[] | undefined;
};

/** What a job holds. Plain JSON; fields of your own are kept. */
export interface VideoJobData {
  /** What to make: the parameters of `videos.create()`, or of `videos.remix()` with `remixOf`. */
  params?: VideoJobParams | { prompt: string } | undefined;
  /** The video to remix: its id or its handle. */
  remixOf?: string | VideoTaskRef | undefined;
  /** The handle of the task, once it was submitted. A job that is added with one only waits for it. */
  ref?: VideoTaskRef | undefined;
  /** What the last poll has left. */
  state?: VideoWaitState | undefined;
  /** Since when nobody knows whether it was submitted, in milliseconds since 1970. */
  unknownSince?: number | undefined;
}

/** What `job.progress` is: how the task stands, by the last poll that brought something new. */
export interface VideoJobProgress {
  readonly status: VideoStatus;
  /** The gateway's own word, when it sent one. */
  readonly rawStatus?: string | undefined;
  /** 0 to 100, where the gateway says it. */
  readonly progress?: number | undefined;
  /** Polls that were made. */
  readonly polls: number;
  /** Milliseconds waited. */
  readonly elapsed: number;
}

/** What `job.returnvalue` is. */
export interface VideoJobResult {
  readonly ref: VideoTaskRef;
  /** The file, with `saveTo`. */
  readonly path?: string | undefined;
  /** Its length in bytes. */
  readonly bytes?: number | undefined;
  /** What `deliver` gave. */
  readonly delivered?: unknown;
}

/** What is used of a job of BullMQ. */
export interface VideoJob {
  readonly id?: string | undefined;
  readonly queueName: string;
  readonly data: VideoJobData;
  readonly processedOn?: number | undefined;
  updateData(data: VideoJobData): Promise<void>;
  updateProgress(progress: VideoJobProgress): Promise<void>;
  moveToDelayed(timestamp: number, token?: string): Promise<void>;
  /** Jobs of sandboxed processors have none of these. */
  extendLock?(token: string, duration: number): Promise<number>;
  retry?(state?: 'failed'): Promise<void>;
  getChildrenValues?(): Promise<Readonly<Record<string, unknown>>>;
}

/** Tells the worker that the job is not over: it was put off, or another worker has it. */
export class DelayedError extends Error {
  override readonly name = 'DelayedError';
}

/** Fails the job, whatever attempts it has left. Its `cause` is the error of the client. */
export class UnrecoverableError extends Error {
  override readonly name = 'UnrecoverableError';
}

/** Puts a job off. Gives what its run then has to throw. */
export async function putOff(
  job: VideoJob,
  token: string | undefined,
  milliseconds: number,
): Promise<DelayedError> {
  await job.moveToDelayed(Date.now() + milliseconds, token);
  return new DelayedError('The job goes on later.');
}

/** Whether `value` is an object and not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws `InvalidInputError` unless it holds */
export function check(holds: boolean, field: string, problem: string): asserts holds {
  if (!holds) throw new InvalidInputError(field, problem);
}

/** @throws `InvalidInputError` unless it is a number of milliseconds */
export function checkMilliseconds(field: string, value: unknown, smallest = 0): number {
  const isGood = typeof value === 'number' && value >= smallest && value <= 2_147_483_647;
  check(isGood, field, `must be milliseconds from ${smallest} to 2147483647.`);
  return value;
}

/** @throws `InvalidInputError` unless it is a function or left out */
export function checkCallback(field: string, value: unknown): void {
  check(value === undefined || typeof value === 'function', field, 'must be a function.');
}

/** @throws `InvalidInputError` unless it can make videos */
export function checkClient(client: { readonly videos?: { readonly create?: unknown } }): void {
  check(typeof client?.videos?.create === 'function', 'client', 'must be a Gateway.');
}

/** The handle that an error carries, when it is of a task that was submitted. */
export function refOf(error: unknown): VideoTaskRef | undefined {
  if (!GatewayError.isInstance(error) || !('ref' in error)) return undefined;
  return isObject(error.ref) ? parseVideoTaskRef(error.ref) : undefined;
}
