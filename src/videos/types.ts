import type { ErrorMisalignment, JsonObject, OpenString, WithRequestId } from '../types.ts';
import type { Uploadable } from '../uploads/types.ts';

/** The four states of a video task, as `GET /v1/videos/{task_id}` gives them. */
export type VideoStatus = 'queued' | 'in_progress' | 'completed' | 'failed';

/** Parameters of `videos.create()`: `POST /v1/videos`. */
export interface VideoCreateParams {
  /** An exact video model id, as `models.list()` gives it. */
  model: string;
  /** What the video shows. May not be blank. */
  prompt: string;
  /**
   * A reference image: a file, or a URL or data URL as text.
   *
   * References travel under the field that you use, and each vendor reads its own: Sora, Veo and Jimeng
   * a file here, Sora and Ali text here; Kling, Vidu, Ali and Jimeng text in `image`. What a vendor does
   * not read is dropped by the gateway without an error, and the text-only video is charged.
   */
  input_reference?: Uploadable | string | VideoImageReference | undefined;
  /** A reference image for vendors that read this field, as Kling, Vidu, Ali and Jimeng do: best as text. */
  image?: Uploadable | string | undefined;
  /** Several reference images, for vendors that take them, as Vidu does. A single one is sent as `image`. */
  images?: readonly (Uploadable | string)[] | undefined;
  /** Duration in seconds. Numbers are sent as text, which every gateway of this family wants. */
  seconds?: string | number | undefined;
  /** Width and height, for example `"1280x720"`. The allowed values depend on the model. */
  size?: string | undefined;
  /**
   * Settings of the vendor behind the model, for example `{ negative_prompt: "..." }`, with its own names
   * for references too: `image_tail`, `img_url`. In a form it travels as JSON text. It cannot hold files.
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

/** The same, under the name that code for `openai` uses. A `file_id` is not understood. */
export type ImageInputReferenceParam = VideoImageReference;

/** The length of a video in seconds. Which of them there are is up to the model. */
export type VideoSeconds = OpenString<'4' | '8' | '12'>;

/** The size of a video. Which of them there are is up to the model. */
export type VideoSize = OpenString<'720x1280' | '1280x720' | '1024x1792' | '1792x1024'>;

/** Parameters of `videos.remix()`: `POST /v1/videos/{video_id}/remix`. */
export interface VideoRemixParams {
  /** What to change. May not be blank. */
  prompt: string;
}

/** Why a video task failed, in one shape whatever the gateway sent. */
export interface VideoTaskError {
  /** The reason in words; never empty. */
  message: string;
  /** The vendor's code; numbers become strings. */
  code?: string | undefined;
}

/** The same, under the name that code for `openai` uses. */
export type VideoCreateError = VideoTaskError;

// The parts under the names that code for `openai` uses.
export declare namespace VideoCreateError {
  export { ErrorMisalignment as Misalignment };
}

/**
 * A handle to a video task that survives the process: plain JSON, without key, prompt or signed URL.
 *
 * Store it with `JSON.stringify`, read it back with `parseVideoTaskRef`.
 */
export interface VideoTaskRef {
  /** Version of this format. */
  v: 1;
  kind: 'video';
  /** The task id that the submission returned. */
  id: string;
  /** The route on which the status is read. */
  route: { type: 'openai' } | { type: 'vendor'; vendorPrefix: string };
  /** The root of the gateway that issued the id. Another gateway is never asked about it. */
  baseURL: string;
  model?: string | undefined;
  /** When the task was submitted, in milliseconds since 1970. */
  createdAt: number;
  /** The logical call that submitted the task, as in logs and errors. */
  callId?: string | undefined;
  /** The id of the task that was remixed. */
  remixOf?: string | undefined;
  /** The gateway's id of the request that submitted the task, by which its books know the charge. */
  requestId?: string | undefined;
  /** The trace of the submission, as a W3C `traceparent`, when it was traced. */
  trace?: string | undefined;
}

/** Parameters of `videos.retrieveFromVendor()`: `GET /{vendor_prefix}/v1/videos/text2video/{task_id}`. */
export interface VideoVendorParams {
  /** The first path segment of the vendor's route, for example `"kling"`. One segment, no slashes. */
  vendorPrefix: string;
  /** The task id that the submission returned. */
  taskId: string;
}

/** What stands for a video task: its id, its handle, or the task itself. */
export type VideoTaskLike = string | VideoTaskRef | VideoTask;

/**
 * A video task.
 *
 * `status` is one of four words whatever the gateway said; the gateway's own word is in
 * `raw_status`. Every other field of the gateway's answer is kept as it came.
 */
export interface VideoTask extends WithRequestId {
  /** The task id. The same as `task_id`. */
  id: string;
  /** The task id. Used as `{task_id}` in paths. */
  task_id: string;
  object?: OpenString<'video'> | undefined;
  model?: string | undefined;
  /** Words that are not known count as `queued`: a paid task is never given up for a word. */
  status: VideoStatus;
  /** The gateway's own status word, for example `"SUBMITTED"` or `"unknown"`; `undefined` when it sent none. */
  raw_status?: string | undefined;
  /**
   * `true` if the status word has no known meaning, or is a number, and `status` was concluded from the
   * URL of the result or the reason of the failure.
   */
  inferred?: true | undefined;
  /** 0 to 100, or `undefined`. It may be 100 on a failed task, so it says nothing about completion. */
  progress?: number | undefined;
  /** Seconds since 1970. */
  created_at?: number | undefined;
  /** Seconds since 1970. Often set while the task is still running: informative only. */
  completed_at?: number | undefined;
  /** Seconds since 1970, after which the content may be gone. */
  expires_at?: number | undefined;
  seconds?: string | undefined;
  size?: string | undefined;
  /** The original of a remix. Not every gateway that remixes says it. */
  remixed_from_video_id?: string | undefined;
  /** Set when `status` is `failed`, and `null` otherwise. */
  error?: VideoTaskError | null | undefined;
  /** Where the result can be viewed. Set only when `status` is `completed` and the gateway gave an http(s) or data URL. */
  url?: string | undefined;
  metadata?: JsonObject | null | undefined;
  /** The handle with which any process can go on. Not enumerable, so it never shows in JSON. */
  readonly ref: VideoTaskRef;
  /** The gateway's answer with the fields as they came. Not enumerable. */
  readonly raw: unknown;
}

/** The same, under the name that code for `openai` uses. */
export type Video = VideoTask;
