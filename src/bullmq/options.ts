import type { SubmitLedger, VideoCreateAndWaitOptions, VideoUpdate } from '../index.ts';
import type { VideoContentOptions } from './content.ts';
import type { VideoJob } from './job.ts';

/** Options of a processor. Those of a wait and of requests hold for all its jobs. */
export interface VideoProcessorOptions<Job extends VideoJob = VideoJob>
  extends
    Omit<
      VideoCreateAndWaitOptions,
      'ledger' | 'callId' | 'signal' | 'limiter' | 'onSubmitted' | 'onUpdate'
    >,
    VideoContentOptions<Job> {
  /**
   * Where submissions are written down before they are sent: the only thing that keeps two workers from
   * submitting the same video. All workers of a queue need the same one, on a server or on a shared disk.
   */
  ledger: SubmitLedger;
  /**
   * Under which id the ledger keeps the video of a job: the same whenever the job is run, and of no
   * other job of any queue that shares the ledger.
   * @defaultValue the name of the queue and the id of the job, as in `videos:order-17`
   */
  callId?: ((job: Job) => string) | undefined;
  /**
   * How long a worker that fell silent while it submitted may still come back with the answer, in
   * milliseconds, before the job fails because nobody knows whether its video was made. 0 and more.
   * @defaultValue 120000
   */
  unknownGrace?: number | undefined;
  /**
   * The `lockDuration` of the workers, in milliseconds.
   * @defaultValue 30000
   */
  lockDuration?: number | undefined;
  /** Called when something has changed, after the same was put into `job.progress`, and awaited. */
  onUpdate?: ((update: VideoUpdate, job: Job) => void | Promise<void>) | undefined;
}
