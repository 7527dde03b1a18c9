import {
  APIError,
  parseVideoTaskRef,
  RateLimitError,
  type Gateway,
  type VideoTaskLike,
  type VideoTaskRef,
} from '../index.ts';
import { downloadVideo } from '../node/index.ts';
import { toJobError } from './failures.ts';
import {
  check,
  checkCallback,
  checkClient,
  isObject,
  putOff,
  type VideoJob,
  type VideoJobResult,
} from './job.ts';

/** A finished video, handed over while it is being downloaded. */
export interface VideoContent<Job extends VideoJob = VideoJob> {
  /** The film. It fails when the download is cut. Read it to its end. */
  readonly stream: ReadableStream<Uint8Array>;
  /** The answer that the stream is the body of, for its headers. */
  readonly response: Response;
  readonly ref: VideoTaskRef;
  readonly job: Job;
  /** Aborted when the job is cancelled. */
  readonly signal: AbortSignal | undefined;
}

/** What to do with a finished video. Give one of the two; without, the result is the handle alone. */
export interface VideoContentOptions<Job extends VideoJob = VideoJob> {
  /**
   * Names the file to save the video in. The folder has to exist. A download that breaks off is gone on
   * with by the next attempt of the job on the same machine; the file is there when it is whole. While
   * the gateway allows no more downloads, the job is put off.
   */
  saveTo?: ((job: Job) => string) | undefined;
  /**
   * Takes the video as a stream, to put it into a store of yours, and is awaited. What it gives becomes
   * `delivered` of the result, so it has to be JSON. A worker that dies runs it again: give the object
   * in the store a name that is made of the job's.
   */
  deliver?: ((content: VideoContent<Job>) => unknown) | undefined;
}

/** Checks what is to be done with videos. */
export function checkContent<Job extends VideoJob>(options: VideoContentOptions<Job>): void {
  const { saveTo, deliver } = options;
  checkCallback('saveTo', saveTo);
  checkCallback('deliver', deliver);
  const isOne = saveTo === undefined || deliver === undefined;
  check(isOne, 'deliver', 'cannot be used with saveTo; give one of the two.');
}

/** Of whom a video is taken, and for which run of a job. */
export interface ContentRun<Job extends VideoJob> {
  readonly client: Gateway;
  readonly job: Job;
  readonly token: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Does with a finished video what was asked for. What the client would wait for, the job waits for: a
 * worker is not held by it.
 *
 * @throws `DelayedError` when the gateway allows no more downloads for now
 */
export async function takeContent<Job extends VideoJob>(
  run: ContentRun<Job>,
  video: VideoTaskLike,
  ref: VideoTaskRef,
  options: VideoContentOptions<Job>,
): Promise<VideoJobResult> {
  try {
    return await take(run, video, ref, options);
  } catch (error) {
    if (RateLimitError.isInstance(error)) {
      const seconds = Number(error.headers?.get('retry-after') ?? Number.NaN);
      // Gateways count by the minute, and mostly do not say when it is over.
      const pause = seconds > 0 ? seconds * 1_000 : 10_000 + Math.random() * 50_000;
      throw await putOff(run.job, run.token, pause);
    }
    // The file of a completed task comes late at times, so these are left to the attempts of the job.
    const isLate = APIError.isInstance(error) && (error.status === 404 || error.status === 502);
    throw isLate ? new Error(error.message, { cause: error }) : error;
  }
}

async function take<Job extends VideoJob>(
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
  check(stream !== null, 'fetch', 'gave an answer without a body.');
  try {
    return { ref, delivered: await deliver({ stream, response, ref, job, signal }) };
  } finally {
    // Of one that was not read to its end; its reader may still have it.
    if (!stream.locked) await stream.cancel().catch(() => {});
  }
}

/** Options of a processor of downloads. */
export type VideoDownloaderOptions<Job extends VideoJob = VideoJob> = VideoContentOptions<Job>;

/**
 * Makes the processor of a second queue, which only downloads, so that downloads have a limit of their
 * own: gateways allow so many a minute (often ten), over all machines.
 *
 * Its jobs are the parents of those that make the videos, in a flow of BullMQ. A job may also hold
 * `{ ref }`. Only reads, so it costs nothing and may be repeated.
 *
 * @throws `InvalidInputError` at once, when neither `saveTo` nor `deliver` is given
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
  check(hasTarget, 'saveTo', 'is missing; give saveTo or deliver.');
  return async (job, token, signal) => {
    try {
      const ref = await findRef(job);
      // Some gateways give the film with the task, and not as its content.
      const video = await client.videos.retrieve(ref, { signal });
      return await takeContent({ client, job, token, signal }, video, ref, options);
    } catch (error) {
      throw toJobError(error);
    }
  };
}

/** The handle that a job holds, or that its child has given. */
async function findRef(job: VideoJob): Promise<VideoTaskRef> {
  if (job.data?.ref !== undefined) return parseVideoTaskRef(job.data.ref);
  const results = Object.values((await job.getChildrenValues?.()) ?? {});
  const found = results.filter((result) => isObject(result)).find(({ ref }) => isObject(ref));
  const problem =
    'is missing; add the job with { ref } as its data, or as the parent of a job that makes the video.';
  check(found !== undefined, 'job.data.ref', problem);
  return parseVideoTaskRef(found['ref']);
}
