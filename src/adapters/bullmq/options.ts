import type { SubmitLedger, VideoCreateAndWaitOptions, VideoUpdate } from '../../index.ts';
import type { VideoContentOptions } from './content.ts';
import type { VideoJob } from './job.ts';

/** Options of a processor. Options for waits and requests apply to all its jobs. */
export interface VideoProcessorOptions<Job extends VideoJob = VideoJob>
  extends
    Omit<
      VideoCreateAndWaitOptions,
      'ledger' | 'callId' | 'signal' | 'limiter' | 'onSubmitted' | 'onUpdate'
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

/** The options of a processor that the client does not know, or that differ from its own. */
const own = {
  callId: undefined,
  unknownGrace: undefined,
  lockDuration: undefined,
  onUpdate: undefined,
  saveTo: undefined,
  deliver: undefined,
};

/** Returns the options for the client, which warns about those that it does not know. */
export function toClientOptions<Job extends VideoJob>(options: VideoProcessorOptions<Job>) {
  return { ...options, ...own };
}
