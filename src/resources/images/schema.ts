import type { JsonObject } from '../../types.ts';
import type {
  ImageEventBase,
  Image,
  ImageTokenDetails,
  ImageUsage,
  ImagesResponse,
  ImageEditStreamEvent,
  ImageGenStreamEvent,
} from './types.ts';
import { isEmptyResult } from '../../answers/error-body.ts';
import {
  fill,
  hasValue,
  isObject,
  normalizeItems,
  listObjects,
  toNumber,
} from '../../answers/objects.ts';
import { type FieldsOf, numeric, type ResponseSchema, readValue } from '../../answers/reader.ts';
import { type StreamProtocol, typedProtocol } from '../../streams/protocol.ts';

const details: FieldsOf<ImageTokenDetails> = { image_tokens: 'number', text_tokens: 'number' };

const usageFields: FieldsOf<ImageUsage> = {
  input_tokens: 'number',
  output_tokens: 'number',
  total_tokens: 'number',
  input_tokens_details: details,
  output_tokens_details: details,
};

/** The settings that responses and events report. */
const settings = {
  background: 'string',
  output_format: 'string',
  quality: 'string',
  size: 'string',
} as const;

function normalizeUsage(owner: JsonObject): void {
  const { usage: counts } = owner;
  if (!isObject(counts)) return;
  // OpenRouter uses the field names of chat usage.
  const { prompt_tokens: input, completion_tokens: output } = counts;
  fill(counts, { input_tokens: input ?? 0, output_tokens: output ?? 0 });
  counts['total_tokens'] ??= Number(counts['input_tokens']) + Number(counts['output_tokens']);
}

/** Deletes empty fields: some gateways send `""` for missing ones, which makes `'url' in image` misleading. */
function normalizeImage(image: JsonObject): void {
  for (const key of ['b64_json', 'url', 'revised_prompt']) {
    if (!image[key]) delete image[key];
  }
}

/** Returns whether an item holds an image in any form. */
function isImage(image: JsonObject): boolean {
  return hasValue({ ...image, revised_prompt: undefined, error: undefined });
}

/**
 * Returns whether a response holds images, or is empty because a filter removed them, which is charged too.
 */
function areImages(value: JsonObject): boolean {
  return isEmptyResult(value['data'], value) || listObjects(value['data']).some(isImage);
}

/** The schema of responses to `images.generate()` and `images.edit()`. */
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

/** Returns the type of an event, from its `type` (which may belong to the other operation) or its fields. */
function readEventType(event: JsonObject, prefix: string): string {
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

/** Returns the schema of events in a stream of images. */
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
      event['type'] = readEventType(event, prefix);
      toNumber(event, 'created_at');
      for (const key in { b64_json: '', ...settings }) event[key] ??= '';
      normalizeUsage(event);
    },
  };
}

/** Returns the protocol for a stream of that many generated images. */
/* @__NO_SIDE_EFFECTS__ */
export function imageGenProtocol(expected: number): StreamProtocol<ImageGenStreamEvent> {
  return imageProtocol(eventSchema('image_generation'), 'image_generation.completed', expected);
}

/** Returns the protocol for a stream of that many edited images. */
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

/** Converts a response to one event per image. The last event has the usage. */
function toEvents(answer: unknown, type: string): JsonObject[] {
  if (!isObject(answer)) return [];
  const { data, created, background, output_format, quality, size, usage } = answer;
  const images = listObjects(data).filter(isImage);
  return images.map((image, index) => ({
    created_at: created,
    background,
    output_format,
    quality,
    size,
    ...image,
    ...decodeDataURL(image),
    type,
    usage: index === images.length - 1 ? usage : undefined,
  }));
}

/** Extracts the base64 bytes from a data URL, because events hold bytes. */
function decodeDataURL({ b64_json: encoded, url }: JsonObject): JsonObject {
  if (typeof encoded === 'string' && encoded !== '') return { b64_json: encoded, url: undefined };
  const [, inline] = typeof url === 'string' ? (/^data:[^,]*;base64,(.*)$/s.exec(url) ?? []) : [];
  return inline === undefined ? {} : { b64_json: inline, url: undefined };
}

/** Converts the events of a stream to a response, if a gateway streamed although no stream was requested. */
export function toImagesResponse(events: unknown): ImagesResponse {
  const images = listObjects(events);
  const { created_at: created, usage, ...last } = images.at(-1) ?? {};
  const answer: JsonObject = { created, usage };
  answer['data'] = images.map(({ b64_json: encoded, url }) => ({ b64_json: encoded, url }));
  for (const key of ['background', 'output_format', 'quality', 'size']) {
    if (last[key] !== '') answer[key] = last[key];
  }
  // Differences were already reported when the events were read.
  return readValue(answer, imagesSchema, { validation: 'off', onIssue: () => {} });
}
