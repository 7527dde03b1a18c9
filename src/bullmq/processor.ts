import type { Gateway } from '../index.ts';
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
import type { VideoProcessorOptions } from './options.ts';
import { VideoJobRun } from './run.ts';

/** A processor, as `new Worker()` of BullMQ takes it. Each call is a submission or a poll. */
export type VideoProcessor<Job extends VideoJob = VideoJob> = (
  job: Job,
  token?: string,
  signal?: AbortSignal,
) => Promise<VideoJobResult>;

/**
 * Makes the processor of a BullMQ queue whose jobs are videos: it submits each once, whatever happens to
 * the workers, and puts the job off between two polls, so that no process is held open by a video.
 *
 * Consumes credit, once for each job. A job holds `{ params }` (see `videoJob`); its handle and the state
 * of its wait are added to it. Failures that pass are left to BullMQ's attempts, which submit again only
 * what provably was not submitted. Failures that stay fail the job at once, by an `UnrecoverableError`
 * whose `cause` tells more. `job.retry()` goes on with the task that there is: after a time-out, and when
 * a worker has come back with an answer too late.
 *
 * Cancelling a job breaks off a poll or a download, which the next attempt makes again; to stop for good,
 * remove the job. A submission is not broken off, as nobody would know its outcome.
 *
 * Use it with `videoQueueOptions()`: BullMQ's own defaults fail jobs whose videos are paid for. It
 * makes no difference whether the queue is on Redis or on PostgreSQL.
 *
 * @throws `InvalidInputError` at once, when an option cannot work or there is no ledger
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
  // BullMQ gives the signal to processors that declare three parameters.
  return async (job, token, signal) => {
    checked ??= checkWait(client, options);
    // Not for the job to fail of: with right options it will go well.
    await checked;
    try {
      const problem = 'is missing; give the processor to a Worker of BullMQ, which passes it.';
      check(typeof token === 'string' && token !== '', 'token', problem);
      return await new VideoJobRun(client, options, job, token, signal).run();
    } catch (error) {
      throw toJobError(error);
    }
  };
}

function checkLedger(ledger: unknown): void {
  const problem =
    'is missing, without which two workers may submit, and pay, the same video; give postgresLedger(), redisLedger(), or fileLedger() on a shared disk.';
  check(isObject(ledger), 'ledger', problem);
  for (const method of ['claim', 'accept', 'finish', 'entry']) {
    const hasMethod = typeof ledger[method] === 'function';
    check(hasMethod, 'ledger', `has no method ${method}(); give a SubmitLedger.`);
  }
}

/** Has the client check the options of a wait before anything is submitted. Waits for nothing. */
async function checkWait<Job extends VideoJob>(
  client: Gateway,
  options: VideoProcessorOptions<Job>,
): Promise<void> {
  const { onUpdate: _, ...wait } = options;
  await client.videos.waitAll([], wait).next();
  const { onUnknown = 'fail' } = wait;
  const isKnown = onUnknown === 'fail' || onUnknown === 'resubmit';
  check(isKnown, 'onUnknown', 'must be "fail" or "resubmit".');
}
