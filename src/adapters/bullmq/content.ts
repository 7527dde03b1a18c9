import {
  APIError,
  parseVideoTaskRef,
  RateLimitError,
  type Gateway,
  type VideoTaskLike,
  type VideoTaskRef,
} from '../../index.ts';
import { downloadVideo } from '../node/index.ts';
import { toJobError } from './failures.ts';
import {
  check,
  checkCallback,
  checkClient,
  isObject,
  delayJob,
  type VideoJob,
  type VideoJobResult,
} from './job.ts';

/** A finished video during its download. */
export interface VideoContent<Job extends VideoJob = VideoJob> {
  /** The video. Reading fails if the download is cut off. Read it to the end. */
  readonly stream: ReadableStream<Uint8Array>;
  /** The response that the stream belongs to, for its headers. */
  readonly response: Response;
  readonly ref: VideoTaskRef;
  readonly job: Job;
  /** Aborted if the job is cancelled. */
  readonly signal: AbortSignal | undefined;
}

/** Storage of a finished video. Set at most one; without either, the result is only the handle. */
export interface VideoContentOptions<Job extends VideoJob = VideoJob> {
  /**
   * Returns the path of the file to save the video in. The folder must exist. The next attempt of the job
   * on the same machine resumes an interrupted download; the file appears once it is complete. While the
   * gateway's download limit is reached, the job is delayed.
   */
  saveTo?: ((job: Job) => string) | undefined;
  /**
   * Called and awaited with the video as a stream, for example to upload it to a store. The result becomes
   * `delivered` of the job's result, so it must be JSON. It runs again if a worker dies: derive the name of
   * the object in the store from the job.
   */
  deliver?: ((content: VideoContent<Job>) => unknown) | undefined;
}

/** Checks the options for finished videos. */
export function checkContent<Job extends VideoJob>(options: VideoContentOptions<Job>): void {
  const { saveTo, deliver } = options;
  checkCallback('saveTo', saveTo);
  checkCallback('deliver', deliver);
  const isOne = saveTo === undefined || deliver === undefined;
  check(isOne, 'deliver', 'cannot be used with saveTo; pass only one of them.');
}

/** The client and job of a download. */
export interface ContentRun<Job extends VideoJob> {
  readonly client: Gateway;
  readonly job: Job;
  readonly token: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Saves or delivers a finished video. Delays the job where the client would wait, so that no worker is
 * blocked.
 *
 * @throws `DelayedError` if the gateway's download limit is reached
 */
export async function processContent<Job extends VideoJob>(
  run: ContentRun<Job>,
  video: VideoTaskLike,
  ref: VideoTaskRef,
  options: VideoContentOptions<Job>,
): Promise<VideoJobResult> {
  try {
    return await processVideo(run, video, ref, options);
  } catch (error) {
    if (RateLimitError.isInstance(error)) {
      const seconds = Number(error.headers?.get('retry-after') ?? Number.NaN);
      // Gateways limit downloads per minute, and mostly do not send Retry-After.
      const pause = seconds > 0 ? seconds * 1_000 : 10_000 + Math.random() * 50_000;
      throw await delayJob(run.job, run.token, pause);
    }
    // The file of a completed task may appear late, so leave these errors to the attempts of the job.
    const isLate = APIError.isInstance(error) && (error.status === 404 || error.status === 502);
    throw isLate ? new Error(error.message, { cause: error }) : error;
  }
}

async function processVideo<Job extends VideoJob>(
  { client, job, signal }: ContentRun<Job>,
  video: VideoTaskLike,
  ref: VideoTaskRef,
  { saveTo, deliver }: VideoContentOptions<Job>,
): Promise<VideoJobResult> {
  const options = { signal, maxRetries: 0 };
  if (saveTo !== undefined) {
    const file = await downloadVideo(client, video, { ...options, to: saveTo(job), resume: true });
    return { ref, ...file };
  }
  if (deliver === undefined) return { ref };
  const response = await client.videos.downloadContent(video, options);
  const stream = response.body;
  check(stream !== null, 'fetch', 'returned a response without a body.');
  try {
    return { ref, delivered: await deliver({ stream, response, ref, job, signal }) };
  } finally {
    // Cancel the stream unless it was read to the end; a reader may still hold it.
    if (!stream.locked) await stream.cancel().catch(() => {});
  }
}

/** Options of a processor of downloads. */
export type VideoDownloaderOptions<Job extends VideoJob = VideoJob> = VideoContentOptions<Job>;

/**
 * Creates the processor of a second queue that only downloads, so that downloads have their own limit:
 * gateways limit them per minute (often ten), across all machines.
 *
 * Its jobs are the parents of the jobs that create the videos, in a flow of BullMQ. A job may also
 * contain `{ ref }`. Only sends reads, so it is free and may be repeated.
 *
 * @throws `InvalidInputError` immediately, if neither `saveTo` nor `deliver` is set
 *
 * @example
 * new Worker('downloads', videoDownloader(client, { saveTo: (job) => `films/${job.id}.mp4` }), {
 *   connection,
 *   ...videoQueueOptions({ maxPerSecond: 10 / 60, concurrency: 4 }).worker,
 * });
 */
export function videoDownloader<Job extends VideoJob = VideoJob>(
  client: Gateway,
  options: VideoDownloaderOptions<Job>,
): (job: Job, token?: string, signal?: AbortSignal) => Promise<VideoJobResult> {
  checkClient(client);
  const isGiven = typeof options === 'object' && options !== null;
  check(isGiven, 'options', 'must be an object with saveTo or deliver.');
  checkContent(options);
  const hasTarget = options.saveTo !== undefined || options.deliver !== undefined;
  check(hasTarget, 'saveTo', 'is missing; pass saveTo or deliver.');
  return async (job, token, signal) => {
    try {
      const ref = await findRef(job);
      // Some gateways return the video with the task instead of as its content.
      const video = await client.videos.retrieve(ref, { signal });
      return await processContent({ client, job, token, signal }, video, ref, options);
    } catch (error) {
      throw toJobError(error);
    }
  };
}

/** Returns the handle from the job or from its child. */
async function findRef(job: VideoJob): Promise<VideoTaskRef> {
  if (job.data?.ref !== undefined) return parseVideoTaskRef(job.data.ref);
  const results = Object.values((await job.getChildrenValues?.()) ?? {});
  const found = results.filter((result) => isObject(result)).find(({ ref }) => isObject(ref));
  const problem =
    'is missing; add the job with { ref } as its data, or as the parent of a job that makes the video.';
  check(found !== undefined, 'job.data.ref', problem);
  return parseVideoTaskRef(found['ref']);
}
