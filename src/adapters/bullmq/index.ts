/**
 * Video jobs of BullMQ that are submitted once.
 *
 * @module model-gateway/bullmq
 */
export {
  videoDownloader,
  type VideoContent,
  type VideoContentOptions,
  type VideoDownloaderOptions,
} from './content.ts';
export {
  DelayedError,
  UnrecoverableError,
  type VideoJob,
  type VideoJobData,
  type VideoJobParams,
  type VideoJobProgress,
  type VideoJobResult,
} from './job.ts';
export type { VideoProcessorOptions } from './options.ts';
export { videoProcessor, type VideoProcessor } from './processor.ts';
export {
  videoQueueOptions,
  type VideoQueueOptions,
  type VideoQueueSettings,
} from './queue-options.ts';
export { videoJob, type NewVideoJob, type VideoJobRequest } from './video-job.ts';
