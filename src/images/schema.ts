import * as z from 'zod/mini';
import type { JsonObject } from '../types.ts';
import type { Image, ImageTokenDetails, ImageUsage, ImagesResponse } from './types.ts';
import { timestampSchema } from '../chat/part-schemas.ts';
import { isEmptyAnswer } from '../answers/error-body.ts';
import {
  dropNull,
  holdsSomething,
  isObject,
  objectsOf,
  repairItems,
  toNumber,
} from '../answers/objects.ts';
import type { Reader } from '../answers/reader.ts';
import {
  optionalList,
  optionalNumber,
  optionalObject,
  optionalText,
  type ShapeOf,
} from '../answers/shape-of.ts';

const imageShape = {
  b64_json: optionalText,
  url: optionalText,
  revised_prompt: optionalText,
} satisfies ShapeOf<Image>;

const detailsShape = {
  image_tokens: optionalNumber,
  text_tokens: optionalNumber,
} satisfies ShapeOf<ImageTokenDetails>;

/** What an image request used. */
export const imageUsageSchema = optionalObject({
  input_tokens: optionalNumber,
  output_tokens: optionalNumber,
  total_tokens: optionalNumber,
  input_tokens_details: optionalObject(detailsShape),
  output_tokens_details: optionalObject(detailsShape),
} satisfies ShapeOf<ImageUsage>);

const responseShape = {
  created: timestampSchema,
  data: optionalList(z.looseObject(imageShape)),
  background: optionalText,
  output_format: optionalText,
  quality: optionalText,
  size: optionalText,
  usage: imageUsageSchema,
} satisfies ShapeOf<Omit<ImagesResponse, '_request_id'>>;

/** Some gateways send every key, with `""` for what is not there; `'url' in image` then misleads. */
function repairImage(image: JsonObject): void {
  for (const key of ['b64_json', 'url', 'revised_prompt']) {
    if (!image[key]) delete image[key];
  }
}

/** Fills the counts of a usage object that is there. */
export function repairImageUsage(owner: JsonObject): void {
  dropNull(owner, 'usage');
  const { usage } = owner;
  if (!isObject(usage)) return;
  usage['input_tokens'] ??= 0;
  usage['output_tokens'] ??= 0;
  usage['total_tokens'] ??= Number(usage['input_tokens']) + Number(usage['output_tokens']);
  dropNull(usage, 'input_tokens_details', 'output_tokens_details');
}

/** Whether there is a picture in it, in whatever form. */
export function isImage(image: JsonObject): boolean {
  return holdsSomething({ ...image, revised_prompt: undefined, error: undefined });
}

/** A filter may take out every picture, and the call is charged all the same. */
function areImages(value: JsonObject): boolean {
  return isEmptyAnswer(value['data'], value) || objectsOf(value['data']).some(isImage);
}

/** Reads the answer to generating or editing images. */
export const imagesReader: Reader<ImagesResponse> = {
  schema: z.looseObject(responseShape),
  answer: { name: 'image', isIn: areImages },
  repair(value) {
    toNumber(value, 'created');
    repairItems(value, 'data', repairImage);
    dropNull(value, 'background', 'output_format', 'quality', 'size');
    repairImageUsage(value);
  },
};
