import type { OpenString, WithRequestId } from '../types.ts';

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
  input_tokens_details?: ImageTokenDetails | undefined;
  output_tokens_details?: ImageTokenDetails | undefined;
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
  background?: OpenString<'transparent' | 'opaque'> | undefined;
  /** The file format, for example `"png"`. */
  output_format?: OpenString<'png' | 'webp' | 'jpeg' | 'gif' | 'svg'> | undefined;
  quality?: OpenString<'low' | 'medium' | 'high' | 'xhigh' | 'max'> | undefined;
  /** Width and height, for example `"1024x1024"`. */
  size?: string | undefined;
  usage?: ImageUsage | undefined;
}
