/** Types of videos, with the namespaces that code for `openai` uses. */
import type * as videos from '../../resources/videos/types.ts';
import type { VideoDownloadOptions } from '../../resources/videos/wait-options.ts';
import type { ErrorMisalignment } from './errors.ts';

export type * from '../../resources/videos/types.ts';

/** The error of a failed video. */
export interface VideoCreateError extends videos.VideoTaskError {}
export declare namespace VideoCreateError {
  export { ErrorMisalignment as Misalignment };
}

/** The type of a video task. */
export type Video = videos.VideoTask;

/** An image as input of a video. A `file_id` is not supported. */
export type ImageInputReferenceParam = videos.VideoImageReference;

/** Parameters of a download. */
export type VideoDownloadContentParams = Pick<VideoDownloadOptions, 'variant'>;
