import type { OpenString } from '../types.ts';
import type { Uploadable } from '../uploads/types.ts';

/** What generating and editing images have in common. */
export interface ImageParamsBase {
  /** An image model id, as `models.list()` gives it. */
  model: string;
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
export interface ImageGenerateParamsBase extends Omit<ImageParamsBase, 'model'> {
  /** An image model id, as `models.list()` gives it. Left out, the gateway chooses or refuses. */
  model?: string | undefined;
  /** The style, for models that have a choice. */
  style?: OpenString<'vivid' | 'natural'> | null | undefined;
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

/** An image named in JSON. Which form a model takes is up to its provider; it is sent as it is. */
export interface ImageReferenceObject {
  /** The address of the image. */
  image_url?: string | { url: string } | undefined;
  /** The address of the image. */
  url?: string | undefined;
  /** The bytes of the image in base64. */
  b64_json?: string | undefined;
  /** The id of a file at the provider. */
  file_id?: string | undefined;
}

/** An image named in JSON: an `https:` or `data:` URL, or an object that the model understands. */
export type ImageReference = string | ImageReferenceObject;

/**
 * Parameters of `images.edit()`: `POST /v1/images/edits`.
 *
 * What the images are decides how the request travels: files make a form, references make JSON. Which
 * of the two a model takes is up to its provider. Fields that are not listed here go through with the
 * option `extraBody`.
 */
export interface ImageEditParamsBase extends ImageParamsBase {
  /**
   * The image to edit, or several: all of them files, or all of them references. A file is given the
   * name and extension that its bytes call for.
   */
  image?: Uploadable | ImageReference | readonly (Uploadable | ImageReference)[] | undefined;
  /** The images as references, for models that want a list under this name. Only in JSON. */
  images?: readonly ImageReference[] | undefined;
  /** Where the image may change: its transparent part. A file if `image` is, else a reference. */
  mask?: Uploadable | ImageReference | null | undefined;
  /** How closely the edit keeps to the image. */
  input_fidelity?: OpenString<'high' | 'low'> | null | undefined;
}

/** Parameters of `images.edit()` without a stream. */
export interface ImageEditParamsNonStreaming extends ImageEditParamsBase {
  stream?: false | null | undefined;
}

/** Parameters of `images.edit()` with a stream. */
export interface ImageEditParamsStreaming extends ImageEditParamsBase {
  stream: true;
}

/** Parameters of `images.edit()`. */
export type ImageEditParams = ImageEditParamsNonStreaming | ImageEditParamsStreaming;
