import type { JsonObject } from '../types.ts';
import type {
  ImageEventBase,
  Image,
  ImageTokenDetails,
  ImageUsage,
  ImagesResponse,
  ImageEditStreamEvent,
  ImageGenStreamEvent,
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
import { type FieldsOf, numeric, type ResponseSchema, readValue } from '../answers/reader.ts';
import { type StreamProtocol, typedProtocol } from '../streams/protocol.ts';

const details: FieldsOf<ImageTokenDetails> = { image_tokens: 'number', text_tokens: 'number' };

const usageFields: FieldsOf<ImageUsage> = {
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
  const { usage: counts } = owner;
  if (!isObject(counts)) return;
  fill(counts, { input_tokens: 0, output_tokens: 0 });
  counts['total_tokens'] ??= Number(counts['input_tokens']) + Number(counts['output_tokens']);
}

/** Some gateways send every key, with `""` for what is not there; `'url' in image` then misleads. */
function normalizeImage(image: JsonObject): void {
  for (const key of ['b64_json', 'url', 'revised_prompt']) {
    if (!image[key]) delete image[key];
  }
}

/** Whether there is a picture in it, in whatever form. */
function isImage(image: JsonObject): boolean {
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
    usage: usageFields,
    svg_usage: 'object',
  } satisfies FieldsOf<ImagesResponse>,
  answer: { name: 'image', isIn: areImages },
  normalize(value) {
    toNumber(value, 'created');
    normalizeItems(value, 'data', normalizeImage);
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
function eventSchema(prefix: 'image_generation' | 'image_edit') {
  return {
    fields: {
      type: 'any',
      b64_json: 'string',
      url: 'string',
      created_at: numeric,
      partial_image_index: 'number',
      ...settings,
      usage: usageFields,
    } satisfies FieldsOf<ImageEventFields>,
    normalize(event: JsonObject): void {
      event['type'] = typeOf(event, prefix);
      toNumber(event, 'created_at');
      for (const key in { b64_json: '', ...settings }) event[key] ??= '';
      normalizeUsage(event);
    },
  };
}

/** How a stream of so many new images is read. */
export function imageGenProtocol(expected: number): StreamProtocol<ImageGenStreamEvent> {
  return imageProtocol(eventSchema('image_generation'), 'image_generation.completed', expected);
}

/** How a stream of so many edited images is read. */
export function imageEditProtocol(expected: number): StreamProtocol<ImageEditStreamEvent> {
  return imageProtocol(eventSchema('image_edit'), 'image_edit.completed', expected);
}

function imageProtocol<Item extends ImageGenStreamEvent | ImageEditStreamEvent>(
  schema: ResponseSchema<Item>,
  endType: Item['type'],
  expected: number,
): StreamProtocol<Item> {
  const fromAnswer = (answer: unknown): JsonObject[] => toEvents(answer, endType);
  return typedProtocol({ schema, endType, expected, fromAnswer });
}

/** Makes one event per image of a whole answer. The last one carries the usage. */
function toEvents(answer: unknown, type: string): JsonObject[] {
  if (!isObject(answer)) return [];
  const { data, created, background, output_format, quality, size, usage } = answer;
  const images = objectsOf(data).filter(isImage);
  return images.map((image, index) => ({
    created_at: created,
    background,
    output_format,
    quality,
    size,
    ...image,
    ...contentOf(image),
    type,
    usage: index === images.length - 1 ? usage : undefined,
  }));
}

/** Events hold bytes, so what is inside a data URL is taken out of it. */
function contentOf({ b64_json: encoded, url }: JsonObject): JsonObject {
  if (typeof encoded === 'string' && encoded !== '') return { b64_json: encoded, url: undefined };
  const [, inline] = typeof url === 'string' ? (/^data:[^,]*;base64,(.*)$/s.exec(url) ?? []) : [];
  return inline === undefined ? {} : { b64_json: inline, url: undefined };
}

/** Makes an answer of the images of an event stream that came in place of one. */
export function imagesOf(events: unknown): ImagesResponse {
  const images = objectsOf(events);
  const { created_at: created, usage, ...last } = images.at(-1) ?? {};
  const answer: JsonObject = { created, usage };
  answer['data'] = images.map(({ b64_json: encoded, url }) => ({ b64_json: encoded, url }));
  for (const key of ['background', 'output_format', 'quality', 'size']) {
    if (last[key] !== '') answer[key] = last[key];
  }
  // What differs was reported of the events.
  return readValue(answer, imagesSchema, { validation: 'off', onIssue: () => {} });
}
