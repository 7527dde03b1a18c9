/** Types of videos, with the namespaces that code for `openai` uses. */
import type * as videos from '../../resources/videos/types.ts';
import type { VideoDownloadOptions } from '../../resources/videos/wait-options.ts';
import type { Closed } from '../../types.ts';
import type { Uploadable } from '../../uploads/types.ts';
import type { ErrorMisalignment } from './errors.ts';

export type * from '../../resources/videos/types.ts';

/** The error of a failed video. */
export interface VideoCreateError extends videos.VideoTaskError {
  type?: string | null | undefined;
  param?: string | null | undefined;
  headers?: Record<string, string> | undefined;
  misalignment?: ErrorMisalignment | undefined;
}
export declare namespace VideoCreateError {
  export { ErrorMisalignment as Misalignment };
}

/** The type of a video task. */
export type Video = videos.VideoTask;

/** An image as input of a video. A `file_id` is not supported. */
export type ImageInputReferenceParam = videos.VideoImageReference;

/** Parameters of a download. The option `variant` also accepts other words. */
export type VideoDownloadContentParams = Closed<Pick<VideoDownloadOptions, 'variant'>>;

/** The length of a video in seconds. `create()` also accepts other lengths. */
export type VideoSeconds = Closed<videos.VideoSeconds>;

/** The size of a video. `create()` also accepts other sizes. */
export type VideoSize = Closed<videos.VideoSize>;

/** The parameters that `videos.create()` accepts. */
export interface VideoCreateInput extends videos.VideoCreateParams {}

/**
 * Parameters of `videos.create()` as `openai` types them. `create()` also accepts text as a reference, and other
 * lengths and sizes.
 */
export interface VideoCreateParams extends Omit<
  videos.VideoCreateParams,
  'input_reference' | 'seconds' | 'size'
> {
  input_reference?: Uploadable | ImageInputReferenceParam | undefined;
  seconds?: VideoSeconds | undefined;
  size?: VideoSize | undefined;
}
