import type { NoOptions } from '../../options/options.ts';
import type { VideoTaskRef } from '../../tasks/ref.ts';
import type { TaskErrorDetails, TaskStatus } from '../../tasks/types.ts';
import type { WithLedgerError } from '../../tasks/errors.ts';
import type { JsonObject, OpenString, WithRequestId } from '../../types.ts';
import type { Uploadable } from '../../uploads/types.ts';

/** The four states of a video task, as `GET /v1/videos/{task_id}` returns them. */
export type VideoStatus = TaskStatus;

/** Parameters of `videos.create()`: `POST /v1/videos`. */
export interface VideoCreateParams extends NoOptions {
  /** An exact video model id, as `models.list()` returns it. */
  model: string;
  /** A description of the video. Must not be blank. */
  prompt: string;
  /**
   * A reference image: a file, or a URL or data URL as text.
   *
   * References are sent in the field that you set, and vendors read different fields: Sora, Veo and Jimeng
   * read a file here, Sora and Ali read text here; Kling, Vidu, Ali and Jimeng read text in `image`. If
   * the vendor doesn't read the field, the gateway drops the reference without an error and charges for
   * the text-only video.
   */
  input_reference?: Uploadable | string | VideoImageReference | undefined;
  /** A reference image for vendors that read this field, such as Kling, Vidu, Ali and Jimeng. Text works best. */
  image?: Uploadable | string | undefined;
  /** Several reference images, for vendors that accept them, such as Vidu. A single image is sent as `image`. */
  images?: readonly (Uploadable | string)[] | undefined;
  /** Duration in seconds. Numbers are sent as text, as all gateways of this family expect. */
  seconds?: string | number | undefined;
  /** Width and height, for example `"1280x720"`. The allowed values depend on the model. */
  size?: string | undefined;
  /** For example `"720p"`, for OpenRouter. */
  resolution?: string | undefined;
  /** Ratio of width to height, for example `"16:9"`, for OpenRouter. */
  aspect_ratio?: string | undefined;
  /** The first and the last frame, for OpenRouter. `image` is the first frame, too. */
  frame_images?: readonly VideoFrameImage[] | undefined;
  /**
   * Settings for the vendor behind the model, for example `{ negative_prompt: "..." }`, including the
   * vendor's own fields for references: `image_tail`, `img_url`. Sent as JSON text in a form. It cannot
   * hold files.
   */
  metadata?: JsonObject | undefined;
}

/**
 * OpenAI's object form of a reference image. The URL in it is sent as text, the only form that
 * gateways of this family read.
 */
export interface VideoImageReference {
  /** An http(s) URL or a data URL. */
  image_url: string;
}

/** A frame of a video, in OpenRouter's format. */
export interface VideoFrameImage {
  type: 'image_url';
  image_url: { url: string };
  frame_type: OpenString<'first_frame' | 'last_frame'>;
}

/** The length of a video in seconds. The allowed values depend on the model. */
export type VideoSeconds = OpenString<'4' | '8' | '12'>;

/** The size of a video. The allowed values depend on the model. */
export type VideoSize = OpenString<'720x1280' | '1280x720' | '1024x1792' | '1792x1024'>;

/** Parameters of `videos.remix()`: `POST /v1/videos/{video_id}/remix`. */
export interface VideoRemixParams extends NoOptions {
  /** A description of the change. Must not be blank. */
  prompt: string;
}

/** The reason why a video task failed, in the same shape for every gateway. */
export type VideoTaskError = TaskErrorDetails;

export type { VideoTaskRef };

/** Parameters of `videos.retrieveFromVendor()`: `GET /{vendor_prefix}/v1/videos/text2video/{task_id}`. */
export interface VideoVendorParams {
  /** The first path segment of the vendor's route, for example `"kling"`. One segment, no slashes. */
  vendorPrefix: string;
  /** The task id that the submission returned. */
  taskId: string;
}

/** Identifies a video task: its id, its handle, or the task itself. */
export type VideoTaskLike = string | VideoTaskRef | VideoTask;

/** The usage or cost of a video. */
export interface VideoUsage {
  /** The cost in US dollars, reported by OpenRouter. */
  cost?: number | null | undefined;
  /** `true` if your own vendor key was used. `cost` is then only OpenRouter's fee. */
  is_byok?: boolean | null | undefined;
  completion_tokens?: number | null | undefined;
  total_tokens?: number | null | undefined;
}

/**
 * A video task.
 *
 * `status` is always one of four values; the gateway's own status is in `raw_status`. All other fields of
 * the gateway's response are kept unchanged.
 */
export interface VideoTask extends WithRequestId, WithLedgerError {
  /** The task id, same as `task_id`. */
  id: string;
  /** The task id. Used as `{task_id}` in paths. */
  task_id: string;
  object?: OpenString<'video'> | undefined;
  model?: string | undefined;
  /** An unknown status counts as `queued`, so that a paid task is never abandoned because of it. */
  status: VideoStatus;
  /** The gateway's own status, for example `"SUBMITTED"` or `"unknown"`; `undefined` if it sent none. */
  raw_status?: string | undefined;
  /**
   * `true` if the gateway's status is unknown or a number, and `status` was inferred from the URL of the
   * result or the reason for the failure.
   */
  inferred?: true | undefined;
  /** 0 to 100, or `undefined`. Does not indicate completion: it may be 100 on a failed task. */
  progress?: number | undefined;
  /** Seconds since 1970. */
  created_at?: number | undefined;
  /** Seconds since 1970. Often set while the task is still running: informative only. */
  completed_at?: number | undefined;
  /** Seconds since 1970, after which the content may be gone. */
  expires_at?: number | undefined;
  seconds?: string | undefined;
  size?: string | undefined;
  /** The prompt, if the gateway returns it. */
  prompt?: string | null | undefined;
  /** The original of a remix. Not every gateway that can remix reports it. */
  remixed_from_video_id?: string | undefined;
  /** Set when `status` is `failed`, and `null` otherwise. */
  error?: VideoTaskError | null | undefined;
  /** The id of the result for the content route, if the profile of the gateway reads one. */
  content_id?: string | undefined;
  /** The URL of the result. Set only if `status` is `completed` and the gateway returned an http(s) or data URL. */
  url?: string | undefined;
  metadata?: JsonObject | null | undefined;
  /** The usage or cost of the video, if the gateway reports it; most do so once the task is completed. */
  usage?: VideoUsage | null | undefined;
  /** The handle with which any process can resume the task. Not enumerable, so it is never in JSON. */
  readonly ref: VideoTaskRef;
  /** The gateway's response with its original fields. Not enumerable. */
  readonly raw: unknown;
}
