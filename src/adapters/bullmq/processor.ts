import type { Gateway } from '../../index.ts';
import { checkContent } from './content.ts';
import { toJobError } from './failures.ts';
import {
  check,
  checkCallback,
  checkClient,
  checkMilliseconds,
  isObject,
  type VideoJob,
  type VideoJobResult,
} from './job.ts';
import { toClientOptions, type VideoProcessorOptions } from './options.ts';
import { VideoJobRun } from './run.ts';

/** A processor for BullMQ's `new Worker()`. Each call submits or polls. */
export type VideoProcessor<Job extends VideoJob = VideoJob> = (
  job: Job,
  token?: string,
  signal?: AbortSignal,
) => Promise<VideoJobResult>;

/**
 * Creates the processor of a BullMQ queue that makes videos. It submits each video once, even if workers
 * crash, and delays the job between polls, so that no process is blocked by a video.
 *
 * Consumes credit, once per job. A job contains `{ params }` (see `videoJob`); the handle and the state of
 * the wait are added to it. Transient failures are left to BullMQ's attempts, which resubmit only if
 * nothing was submitted. Permanent failures fail the job immediately with an `UnrecoverableError`, whose
 * `cause` has the details. `job.retry()` continues with the existing task: after a timeout, and if a
 * worker's result arrived too late.
 *
 * Cancelling a job aborts a poll or a download, which the next attempt repeats; to stop for good, remove
 * the job. A submission is not aborted, because its outcome would be unknown.
 *
 * Use it with `videoQueueOptions()`: BullMQ's own defaults fail jobs whose videos are paid for. The
 * queue may be on Redis or on PostgreSQL.
 *
 * @throws `InvalidInputError` immediately, if an option is invalid or the ledger is missing
 *
 * @example
 * const { queue, worker } = videoQueueOptions();
 * const videos = new Queue('videos', { connection, ...queue });
 * const processor = videoProcessor(client, { ledger, saveTo: (job) => `films/${job.id}.mp4` });
 * new Worker('videos', processor, { connection, ...worker });
 * await videos.addBulk([videoJob({ id: 'boat', params: { model: 'sora-2', prompt: 'A boat' } })]);
 */
export function videoProcessor<Job extends VideoJob = VideoJob>(
  client: Gateway,
  options: VideoProcessorOptions<Job>,
): VideoProcessor<Job> {
  checkClient(client);
  const isGiven = typeof options === 'object' && options !== null;
  check(isGiven, 'options', 'must be an object with a ledger.');
  checkLedger(options.ledger);
  checkCallback('callId', options.callId);
  checkCallback('onUpdate', options.onUpdate);
  checkContent(options);
  checkMilliseconds('unknownGrace', options.unknownGrace ?? 0);
  checkMilliseconds('lockDuration', options.lockDuration ?? 1_000, 1_000);
  let checked: Promise<void> | undefined;
  // BullMQ passes the signal only to processors that declare three parameters.
  return async (job, token, signal) => {
    checked ??= checkWait(client, options);
    // Thrown unconverted, so that the job is retried: it succeeds once the options are fixed.
    await checked;
    try {
      const problem = 'is missing; pass the processor to a Worker of BullMQ, which provides it.';
      check(typeof token === 'string' && token !== '', 'token', problem);
      return await new VideoJobRun(client, options, job, token, signal).run();
    } catch (error) {
      throw toJobError(error);
    }
  };
}

function checkLedger(ledger: unknown): void {
  const problem =
    'is missing; without it, two workers may submit and pay for the same video. Pass postgresLedger(), redisLedger(), or fileLedger() on a shared disk.';
  check(isObject(ledger), 'ledger', problem);
  for (const method of ['claim', 'accept', 'finish', 'entry']) {
    const hasMethod = typeof ledger[method] === 'function';
    check(hasMethod, 'ledger', `has no method ${method}(); pass a SubmitLedger.`);
  }
}

/** Lets the client check the options before anything is submitted. An empty list submits no task. */
async function checkWait<Job extends VideoJob>(
  client: Gateway,
  options: VideoProcessorOptions<Job>,
): Promise<void> {
  await client.videos.createAndWaitAll([], toClientOptions(options)).next();
  const { onUnknown = 'fail' } = options;
  const isKnown = onUnknown === 'fail' || onUnknown === 'resubmit';
  check(isKnown, 'onUnknown', 'must be "fail" or "resubmit".');
}
