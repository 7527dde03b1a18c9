import type { OpenString } from '../types.ts';
import type { ImageUsage } from './types.ts';

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
  usage?: ImageUsage | undefined;
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
  usage?: ImageUsage | undefined;
}

/** An event of `images.edit({ stream: true })`. */
export type ImageEditStreamEvent = ImageEditPartialImageEvent | ImageEditCompletedEvent;
