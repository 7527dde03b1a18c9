import type { JsonObject } from '../types.ts';
import type {
  ImageEventBase,
  Image,
  ImageTokenDetails,
  ImageUsage,
  ImagesResponse,
} from './types.ts';
import { isEmptyAnswer } from '../answers/error-body.ts';
import {
  fill,
  holdsSomething,
  isObject,
  normalizeItems,
  objectsOf,
  toNumber,
} from '../answers/objects.ts';
import { type FieldsOf, numeric, type ResponseSchema } from '../answers/reader.ts';

const details: FieldsOf<ImageTokenDetails> = { image_tokens: 'number', text_tokens: 'number' };

const usage: FieldsOf<ImageUsage> = {
  input_tokens: 'number',
  output_tokens: 'number',
  total_tokens: 'number',
  input_tokens_details: details,
  output_tokens_details: details,
};

/** How pictures were made, as answers and events say it. */
const settings = {
  background: 'string',
  output_format: 'string',
  quality: 'string',
  size: 'string',
} as const;

function normalizeUsage(owner: JsonObject): void {
  fill(owner, { usage: undefined });
  const { usage: counts } = owner;
  if (!isObject(counts)) return;
  fill(counts, {
    input_tokens: 0,
    output_tokens: 0,
    input_tokens_details: undefined,
    output_tokens_details: undefined,
  });
  counts['total_tokens'] ??= Number(counts['input_tokens']) + Number(counts['output_tokens']);
}

/** Some gateways send every key, with `""` for what is not there; `'url' in image` then misleads. */
function normalizeImage(image: JsonObject): void {
  for (const key of ['b64_json', 'url', 'revised_prompt']) {
    if (!image[key]) delete image[key];
  }
}

/** Whether there is a picture in it, in whatever form. */
export function isImage(image: JsonObject): boolean {
  return holdsSomething({ ...image, revised_prompt: undefined, error: undefined });
}

/** A filter may take out every picture, and the call is charged all the same. */
function areImages(value: JsonObject): boolean {
  return isEmptyAnswer(value['data'], value) || objectsOf(value['data']).some(isImage);
}

/** The answer to generating or editing images. */
export const imagesSchema: ResponseSchema<ImagesResponse> = {
  fields: {
    created: numeric,
    data: [
      { b64_json: 'string', url: 'string', revised_prompt: 'string' } satisfies FieldsOf<Image>,
    ],
    ...settings,
    usage,
  } satisfies FieldsOf<ImagesResponse>,
  answer: { name: 'image', isIn: areImages },
  normalize(value) {
    toNumber(value, 'created');
    normalizeItems(value, 'data', normalizeImage);
    for (const key in settings) fill(value, { [key]: undefined });
    normalizeUsage(value);
  },
};

/** The kind of an event by its own word, which may be that of the other operation, or by its fields. */
function typeOf(event: JsonObject, prefix: string): string {
  const { type, partial_image_index: position } = event;
  if (typeof type !== 'string' || type === '') {
    if (typeof position === 'number') return `${prefix}.partial_image`;
    return event['b64_json'] || event['url'] ? `${prefix}.completed` : '';
  }
  return type.replace(/^image_(generation|edit)\./, `${prefix}.`);
}

/** The fields of every kind of event. */
interface ImageEventFields extends ImageEventBase {
  type: string;
  partial_image_index: number;
  url: string;
  usage: ImageUsage;
}

/** An event of a stream of images. */
export function eventSchema(prefix: 'image_generation' | 'image_edit') {
  return {
    fields: {
      type: 'any',
      b64_json: 'string',
      url: 'string',
      created_at: numeric,
      partial_image_index: 'number',
      ...settings,
      usage,
    } satisfies FieldsOf<ImageEventFields>,
    normalize(event: JsonObject): void {
      event['type'] = typeOf(event, prefix);
      toNumber(event, 'created_at');
      for (const key in { b64_json: '', ...settings }) event[key] ??= '';
      normalizeUsage(event);
    },
  };
}
