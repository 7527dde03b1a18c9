import type { OpenString, WithRequestId } from '../types.ts';

/** What generating and editing images have in common. */
export interface ImageParamsBase {
  /** An image model id, as `models.list()` gives it. Left out, the gateway chooses or refuses. */
  model?: string | null | undefined;
  /** What to make or to change. May not be empty. Every image of the answer is charged. */
  prompt: string;
  /** How many images: an integer of at least 1. The gateway's default is 1. */
  n?: number | null | undefined;
  /** Width and height with an `x` between them, for example `"1024x1024"`. Depends on the model. */
  size?: OpenString<'auto' | '1024x1024' | '1536x1024' | '1024x1536'> | null | undefined;
  /** How carefully to paint, where the model supports it. */
  quality?:
    | OpenString<'low' | 'medium' | 'high' | 'xhigh' | 'max' | 'auto' | 'standard' | 'hd'>
    | null
    | undefined;
  /**
   * Whether the answer holds addresses or the bytes. Never sent unless you set it, because some models
   * refuse it.
   */
  response_format?: OpenString<'url' | 'b64_json'> | null | undefined;
  /** Whether what is around the subject is see-through. */
  background?: OpenString<'transparent' | 'opaque' | 'auto'> | null | undefined;
  /** The file format. */
  output_format?: OpenString<'png' | 'jpeg' | 'webp'> | null | undefined;
  /** Compression of JPEG and WebP in percent, 0 to 100. */
  output_compression?: number | null | undefined;
  /** How strictly prompt and image are reviewed. */
  moderation?: OpenString<'low' | 'auto'> | null | undefined;
  /** Width to height, for example `"16:9"`, for models that want it instead of `size`. */
  aspect_ratio?: string | null | undefined;
  /** For example `"2k"`, for models that want it instead of `size`. */
  resolution?: string | null | undefined;
  /** Whether the provider puts its mark on the image. */
  watermark?: boolean | null | undefined;
  /** With `output_format: "svg"`: which model draws, and how hard it thinks. */
  svg?: ImageSVG | null | undefined;
  /** How many previews a stream holds, 0 to 3. */
  partial_images?: number | null | undefined;
  /**
   * Whether the images come as a stream of events. Many gateways do not stream images and answer
   * whole; that answer then becomes the events of a stream.
   */
  stream?: boolean | null | undefined;
  /** Your own stable id of the end user. */
  user?: string | undefined;
}

/**
 * Parameters of `images.generate()`: `POST /v1/images/generations`.
 *
 * Fields that are not listed here go through with the option `extraBody`.
 */
export interface ImageGenerateParamsBase extends ImageParamsBase {
  /** The style, for models that have a choice. */
  style?: OpenString<'vivid' | 'natural'> | null | undefined;
}

/** How an image is drawn as SVG. */
export interface ImageSVG {
  model?: string | undefined;
  reasoning?: ImageSVGReasoning | null | undefined;
}

type ImageSVGReasoning = { effort?: OpenString<'none' | 'low' | 'medium' | 'high'> | null };

// The parts under the names that code for `openai` uses.
export declare namespace ImageSVG {
  export { ImageSVGReasoning as Reasoning };
}

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

// The parts under the names that code for `openai` uses.
export declare namespace ImageGenerateParams {
  export { ImageGenerateParamsNonStreaming, ImageGenerateParamsStreaming, ImageSVG as Svg };
}

/** An image that was made. */
export interface Image {
  /** The bytes in base64. */
  b64_json?: string | undefined;
  /**
   * Where the image is: a short-lived address on another host, or a `data:` URL. Download it without
   * the key.
   */
  url?: string | undefined;
  /** The prompt as the model understood it. */
  revised_prompt?: string | undefined;
}

/** What the tokens of an image request were spent on. */
export interface ImageTokenDetails {
  image_tokens: number;
  text_tokens: number;
}

/** What an image request used. */
export interface ImageUsage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  input_tokens_details?: ImageTokenDetails | null | undefined;
  output_tokens_details?: ImageTokenDetails | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ImageUsage {
  export { ImageTokenDetails as InputTokensDetails, ImageTokenDetails as OutputTokensDetails };
}

/** What the model used that drew an SVG. */
export interface ImageSVGUsage {
  model: string;
  input_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  total_tokens: number;
}

/** The answer of `images.generate()` and `images.edit()`. */
export interface ImagesResponse extends WithRequestId {
  /** When the images were made, in Unix seconds; 0 when the gateway does not say. */
  created: number;
  /**
   * The images. There can be fewer than `n`, and none at all when a safety filter took them out; the
   * request is charged all the same. An image has `b64_json` or `url`; what it lacks is left out.
   */
  data: Image[];
  background?: OpenString<'transparent' | 'opaque'> | null | undefined;
  /** The file format, for example `"png"`. */
  output_format?: OpenString<'png' | 'webp' | 'jpeg' | 'gif' | 'svg'> | null | undefined;
  quality?: OpenString<'low' | 'medium' | 'high' | 'xhigh' | 'max'> | null | undefined;
  /** Width and height, for example `"1024x1024"`. */
  size?: string | null | undefined;
  usage?: ImageUsage | null | undefined;
  svg_usage?: ImageSVGUsage | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ImagesResponse {
  export { ImageSVGUsage as SvgUsage, ImageUsage as Usage };
}

/** What every event of an image stream carries. Text that the provider leaves out is empty. */
export interface ImageEventBase {
  /** The bytes of the image in base64. Empty when the event has a `url` instead. */
  b64_json: string;
  background: OpenString<'transparent' | 'opaque' | 'auto'>;
  /** When the event was made, in Unix seconds; 0 when the provider does not say. */
  created_at: number;
  output_format: OpenString<'png' | 'webp' | 'jpeg'>;
  quality: OpenString<'low' | 'medium' | 'high' | 'xhigh' | 'max' | 'auto'>;
  /** Width and height, for example `"1024x1024"`. */
  size: string;
}

/** A preview of an image that is being made. */
export interface ImageGenPartialImageEvent extends ImageEventBase {
  type: 'image_generation.partial_image';
  /** Position among the previews, from 0. */
  partial_image_index: number;
}

/** A finished image. */
export interface ImageGenCompletedEvent extends ImageEventBase {
  type: 'image_generation.completed';
  /** Where the image is, when the gateway did not stream and answered with an address. */
  url?: string | undefined;
  usage?: ImageUsage | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ImageGenCompletedEvent {
  export { ImageUsage as Usage };
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
  /** Where the image is, when the gateway did not stream and answered with an address. */
  url?: string | undefined;
  usage?: ImageUsage | null | undefined;
}

// The parts under the names that code for `openai` uses.
export declare namespace ImageEditCompletedEvent {
  export { ImageUsage as Usage };
}

/** An event of `images.edit({ stream: true })`. */
export type ImageEditStreamEvent = ImageEditPartialImageEvent | ImageEditCompletedEvent;
