import { optionsFor } from '../../options/resolve.ts';
import type { SubmitLedger, VideoCreateAndWaitOptions, VideoUpdate } from '../../index.ts';
import type { VideoContentOptions } from './content.ts';
import type { VideoJob } from './job.ts';

/**
 * Options of a processor. Options for waits and requests apply to all its jobs; `timeout` is that of the wait,
 * and remixes ignore `fallback`.
 */
export interface VideoProcessorOptions<Job extends VideoJob = VideoJob>
  extends
    Omit<
      VideoCreateAndWaitOptions,
      'ledger' | 'callId' | 'idempotencyKey' | 'signal' | 'onSubmitted' | 'onUpdate'
    >,
    VideoContentOptions<Job> {
  /**
   * Records submissions before they are sent, which is the only protection against two workers submitting
   * the same video. All workers of a queue must share it, on a server or on a shared disk.
   */
  ledger: SubmitLedger;
  /**
   * Returns the id of a job's video in the ledger: the same for every run of the job, and unique among the
   * jobs of all queues that share the ledger.
   * @defaultValue the name of the queue and the id of the job, as in `videos:order-17`
   */
  callId?: ((job: Job) => string) | undefined;
  /**
   * Time to wait for the result of a worker that stopped responding during a submission, in
   * milliseconds, before the job fails with an unknown outcome. 0 or more.
   * @defaultValue 120000
   */
  unknownGrace?: number | undefined;
  /**
   * The `lockDuration` of the workers, in milliseconds.
   * @defaultValue 30000
   */
  lockDuration?: number | undefined;
  /** Called and awaited when the task has changed, after `job.progress` was updated. */
  onUpdate?: ((update: VideoUpdate, job: Job) => void | Promise<void>) | undefined;
}

/** The options that the client does not have, or that differ from its own. */
const jobOptions = [
  'callId',
  'unknownGrace',
  'lockDuration',
  'onUpdate',
  'saveTo',
  'deliver',
] as const;

function without<Options extends object, Name extends keyof Options>(
  options: Options,
  names: readonly Name[],
): Omit<Options, Name> {
  const rest = { ...options };
  for (const name of names) Reflect.deleteProperty(rest, name);
  return rest;
}

/** Returns the options for the client, which rejects those that it does not know. */
export function toClientOptions<Job extends VideoJob>(options: VideoProcessorOptions<Job>) {
  return without(options, jobOptions);
}

/** Returns the options for the polls of a job. */
export function toWaitOptions<Job extends VideoJob>(options: VideoProcessorOptions<Job>) {
  return optionsFor(toClientOptions(options), 'videos.step');
}

/** Returns the options for the submission of a job, or of a remix. */
export function toSubmitOptions<Job extends VideoJob>(
  options: VideoProcessorOptions<Job>,
  method: 'videos.create' | 'videos.remix',
) {
  return optionsFor(without(options, [...jobOptions, 'timeout']), method);
}
