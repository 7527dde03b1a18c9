import type { NoOptions } from '../../options/options.ts';
import type { WithLedgerError } from '../../tasks/errors.ts';
import type { TaskErrorDetails } from '../../tasks/types.ts';
import type { OpenString, WithRequestId } from '../../types.ts';

/** Parameters shared by generating and editing images. */
export interface ImageParamsBase extends NoOptions {
  /** An image model id from `models.list()`. If omitted, the gateway chooses one or rejects the request. */
  model?: string | null | undefined;
  /** A description of the image, or of the change. Must not be empty. Every returned image is charged. */
  prompt: string;
  /** Number of images: an integer of at least 1. The gateway's default is 1. */
  n?: number | null | undefined;
  /** Width and height separated by `x`, for example `"1024x1024"`. Depends on the model. */
  size?:
    | OpenString<
        | 'auto'
        | '1024x1024'
        | '1536x1024'
        | '1024x1536'
        | '256x256'
        | '512x512'
        | '1792x1024'
        | '1024x1792'
      >
    | null
    | undefined;
  /** The quality of the image, if the model supports it. */
  quality?:
    | OpenString<'low' | 'medium' | 'high' | 'xhigh' | 'max' | 'auto' | 'standard' | 'hd'>
    | null
    | undefined;
  /** Selects URLs or base64 bytes for the images. Only sent if you set it, because some models reject it. */
  response_format?: OpenString<'url' | 'b64_json'> | null | undefined;
  /** The background around the subject: transparent, opaque or chosen by the model. */
  background?: OpenString<'transparent' | 'opaque' | 'auto'> | null | undefined;
  /** The file format. */
  output_format?: OpenString<'png' | 'jpeg' | 'webp' | 'gif' | 'svg'> | null | undefined;
  /** Compression of JPEG and WebP in percent, 0 to 100. */
  output_compression?: number | null | undefined;
  /** The strictness of the content review of prompt and image. */
  moderation?: OpenString<'low' | 'auto'> | null | undefined;
  /** Ratio of width to height, for example `"16:9"`, for models that expect it instead of `size`. */
  aspect_ratio?: string | null | undefined;
  /** For example `"2k"`, for models that expect it instead of `size`. */
  resolution?: string | null | undefined;
  /** `true` to let the provider add its watermark. */
  watermark?: boolean | null | undefined;
  /** With `output_format: "svg"`: the model that draws, and its reasoning effort. */
  svg?: ImageSVG | null | undefined;
  /** Number of previews in a stream, 0 to 3. */
  partial_images?: number | null | undefined;
  /**
   * `true` returns the images as a stream of events. Many gateways do not stream images; their complete
   * response is then converted to events.
   */
  stream?: boolean | null | undefined;
  /** Your own stable id for the end user. */
  user?: string | undefined;
  /** A stable, hashed id of the end user, for abuse detection. Takes precedence over `user`. */
  safety_identifier?: string | null | undefined;
  /** Computation spent on planning the image; independent of `quality`. */
  complexity?: OpenString<'low' | 'medium' | 'high'> | null | undefined;
  /** Number of frames with `output_format: "gif"`, 2 to 16. OpenAI's default is 9. */
  frame_count?: number | null | undefined;
  /** Delay of each frame in milliseconds, with `output_format: "gif"`. OpenAI's default is 200. */
  frame_duration_ms?: number | null | undefined;
}

/**
 * Parameters of `images.generate()`: `POST /v1/images/generations`.
 *
 * Send fields that are not listed here with the option `extraBody`.
 */
export interface ImageGenerateParamsBase extends ImageParamsBase {
  /** The style, for models that support it. */
  style?: OpenString<'vivid' | 'natural'> | null | undefined;
}

/** Settings of SVG images. */
export interface ImageSVG {
  model?: string | undefined;
  reasoning?: ImageSVGReasoning | null | undefined;
}

type ImageSVGReasoning = {
  effort?: OpenString<'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'> | null;
};

/** Parameters of `images.generate()` without a stream. */
export interface ImageGenerateParamsNonStreaming extends ImageGenerateParamsBase {
  stream?: false | null | undefined;
}

/** Parameters of `images.generate()` with a stream. */
export interface ImageGenerateParamsStreaming extends ImageGenerateParamsBase {
  stream: true;
}

/** Parameters of `images.generate()`. */
export type ImageGenerateParams = ImageGenerateParamsNonStreaming | ImageGenerateParamsStreaming;

/** A generated image. */
export interface Image {
  /** The image bytes in plain base64, whatever form of it the gateway sent. */
  b64_json?: string | undefined;
  /** The MIME type of the bytes, if the gateway sent it beside them, for example in a data URL. */
  media_type?: string | undefined;
  /**
   * The URL of the image: a short-lived URL on another host, or a `data:` URL. Download it without the key.
   */
  url?: string | undefined;
  /** The prompt as the model revised it. */
  revised_prompt?: string | undefined;
}

/** Tokens of an image request by kind. */
export interface ImageTokenDetails {
  image_tokens: number;
  text_tokens: number;
}

/** Token usage of an image request. */
export interface ImageUsage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  input_tokens_details?: ImageTokenDetails | null | undefined;
  output_tokens_details?: ImageTokenDetails | null | undefined;
}

/** Token usage of the model that drew an SVG. */
export interface ImageSVGUsage {
  model: string;
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  total_tokens: number;
}

/**
 * The response of `images.generate()` and `images.edit()`. Optional fields are typed as in `openai`; like there, a
 * gateway may send `null` or another word.
 */
export interface ImagesResponse extends WithRequestId, WithLedgerError {
  /** Time of creation, in Unix seconds; 0 if the gateway does not report it. */
  created: number;
  /**
   * The images. There may be fewer than `n`, or none if a safety filter removed them; the request is still
   * charged. An image has `b64_json` or `url`; missing fields are omitted.
   */
  data: Image[];
  background?: 'transparent' | 'opaque' | undefined;
  /** The file format, for example `"png"`. */
  output_format?: 'png' | 'webp' | 'jpeg' | 'gif' | 'svg' | undefined;
  quality?: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | undefined;
  /** Width and height, for example `"1024x1024"`. */
  size?: string | undefined;
  usage?: ImageUsage | undefined;
  svg_usage?: ImageSVGUsage | undefined;
  /** The id of the end user that the provider used for abuse detection. */
  safety_identifier?: string | null | undefined;
  /** What the gateway reports beside the images of a task, such as a lower quality than requested. */
  error?: TaskErrorDetails | null | undefined;
}

/** Fields of every event in an image stream. Omitted strings are empty, and gateways may send other words. */
export interface ImageEventBase {
  /** The image bytes in plain base64. Empty if the event has a `url` instead. */
  b64_json: string;
  /** The MIME type of the bytes, if the gateway sent it beside them. */
  media_type?: string | undefined;
  background: 'transparent' | 'opaque' | 'auto';
  /** Time of the event, in Unix seconds; 0 if the provider does not report it. */
  created_at: number;
  output_format: 'png' | 'webp' | 'jpeg';
  quality: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | 'auto';
  /** Width and height, for example `"1024x1024"`. */
  size: string;
}

/** A preview of an image that is being generated. */
export interface ImageGenPartialImageEvent extends ImageEventBase {
  type: 'image_generation.partial_image';
  /** Position among the previews, from 0. */
  partial_image_index: number;
}

/** A finished image. */
export interface ImageGenCompletedEvent extends ImageEventBase {
  type: 'image_generation.completed';
  /** The URL of the image, if the gateway did not stream and returned a URL. */
  url?: string | undefined;
  usage?: ImageUsage | null | undefined;
  /** The id of the end user that the provider used for abuse detection. */
  safety_identifier?: string | null | undefined;
}

/** An event of `images.generate({ stream: true })`. */
export type ImageGenStreamEvent = ImageGenPartialImageEvent | ImageGenCompletedEvent;

/** A preview of an image that is being edited. */
export interface ImageEditPartialImageEvent extends ImageEventBase {
  type: 'image_edit.partial_image';
  /** Position among the previews, from 0. */
  partial_image_index: number;
}

/** A finished edit. */
export interface ImageEditCompletedEvent extends ImageEventBase {
  type: 'image_edit.completed';
  /** The URL of the image, if the gateway did not stream and returned a URL. */
  url?: string | undefined;
  usage?: ImageUsage | null | undefined;
  /** The id of the end user that the provider used for abuse detection. */
  safety_identifier?: string | null | undefined;
}

/** An event of `images.edit({ stream: true })`. */
export type ImageEditStreamEvent = ImageEditPartialImageEvent | ImageEditCompletedEvent;
