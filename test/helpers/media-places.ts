import type { Quirks } from '../../src/testing/index.ts';

/** Places of images in responses that are not the documented one; see `docs/wire.md`. */
export const imagePlaces = [
  'images',
  'image-texts',
  'output.results',
  'message-content',
  'result.image',
  'artifacts',
  'data-texts',
  'message.images',
  'markdown',
  'inlineData',
  'predictions',
  'data.data',
  'data.image_urls',
  'data.images',
  'data.image_url',
  'file',
] as const satisfies readonly Quirks['imagePlace'][];

/** Forms of base64 besides the plain one. */
export const imageEncodings = [
  'data-url',
  'url-safe',
  'line-breaks',
  'no-padding',
] as const satisfies readonly Quirks['imageEncoding'][];
