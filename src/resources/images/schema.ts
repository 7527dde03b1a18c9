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
import { detectType, encodeBase64 } from '../../answers/bytes.ts';
import { isEmptyResult } from '../../answers/failure.ts';
import {
  fill,
  isObject,
  isText,
  normalizeItems,
  listObjects,
  toFields,
  toNumber,
} from '../../answers/objects.ts';
import {
  type FieldsOf,
  numeric,
  type ResponseSchema,
  readValue,
  unchecked,
} from '../../answers/reader.ts';
import { isImage, locateImages, readImage } from './pictures.ts';
import type { ResultFormat } from '../../calls/gateway-request.ts';
import { jsonFormat, readContentType, type ReadOther } from '../../calls/response.ts';
import { collectAs } from '../../streams/open-stream.ts';
import { type StreamProtocol, typedProtocol } from '../../streams/protocol.ts';
import { requireWhole } from '../../uploads/file-end.ts';

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
      {
        b64_json: 'string',
        url: 'string',
        revised_prompt: 'string',
        media_type: 'string',
      } satisfies FieldsOf<Image>,
    ],
    ...settings,
    usage: usageFields,
    svg_usage: 'object',
    safety_identifier: 'any',
    error: 'string or object',
  } satisfies FieldsOf<ImagesResponse>,
  locate: locateImages,
  result: { name: 'image', isIn: areImages },
  normalize(value) {
    toNumber(value, 'created');
    if (isText(value['error'])) value['error'] = { message: value['error'] };
    normalizeItems(value, 'data', readImage);
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

/** Normalizes the image of an event, which holds bytes rather than a data URL. */
function readEventImage(event: JsonObject): void {
  const { url } = event;
  if (isText(url) && /^\s*data:/i.test(url) && !event['b64_json']) {
    event['b64_json'] = url;
    delete event['url'];
  }
  readImage(event);
}

/** The fields of every kind of event. */
interface ImageEventFields extends ImageEventBase {
  type: string;
  partial_image_index: number;
  url: string;
  usage: ImageUsage;
}

/* @__NO_SIDE_EFFECTS__ */
function eventSchema(prefix: 'image_generation' | 'image_edit') {
  return {
    fields: {
      type: 'any',
      b64_json: 'string',
      url: 'string',
      media_type: 'string',
      created_at: numeric,
      partial_image_index: 'number',
      ...settings,
      usage: usageFields,
    } satisfies FieldsOf<ImageEventFields>,
    normalize(event: JsonObject): void {
      event['type'] = readEventType(event, prefix);
      readEventImage(event);
      toNumber(event, 'created_at');
      for (const key in { b64_json: '', ...settings }) event[key] ??= '';
      normalizeUsage(event);
    },
  };
}

/** Returns a function that returns the protocol for a stream of that many images. */
/* @__NO_SIDE_EFFECTS__ */
const imageProtocol =
  <Item extends ImageGenStreamEvent | ImageEditStreamEvent>(
    schema: ResponseSchema<Item>,
    endType: Item['type'],
  ) =>
  (expected: number, sent?: readonly string[]): StreamProtocol<Item> => {
    const fromResponse = (body: unknown): JsonObject[] => toEvents(body, endType, sent);
    return {
      ...typedProtocol({ schema, endType, expected, fromResponse, missing: findMissing }),
      // A whole response as an event, such as `image.generation.result`, may hold several images.
      split: (value) => (isEvent(value) ? [] : fromResponse(value)),
      fromFile(bytes, incoming) {
        requireWhole(incoming, bytes);
        return [{ type: endType, ...fileImage(bytes, readContentType(incoming.response)) }];
      },
    };
  };

export const imageGenProtocol = imageProtocol<ImageGenStreamEvent>(
  eventSchema('image_generation'),
  'image_generation.completed',
);

export const imageEditProtocol = imageProtocol<ImageEditStreamEvent>(
  eventSchema('image_edit'),
  'image_edit.completed',
);

/** Returns the problem with an event that completes an image and has none. */
const findMissing = (event: object): string | undefined =>
  isImage(toFields(event)) ? undefined : 'ended without an image in its last event';

/** Returns whether the data of an event has the fields of OpenAI's events. */
const isEvent = (value: unknown): boolean =>
  !isObject(value) || isText(value['type']) || isImage(value);

/** Converts a response to one event per image. The last event has the usage. */
function toEvents(body: unknown, type: string, sent?: readonly string[]): JsonObject[] {
  const response = locateImages(body, sent);
  if (!isObject(response)) return [];
  const { data, created, background, output_format, quality, size, usage } = response;
  const images = listObjects(data).filter(isImage);
  return images.map((image, index) => ({
    created_at: created,
    background,
    output_format,
    quality,
    size,
    ...image,
    type,
    usage: index === images.length - 1 ? usage : undefined,
  }));
}

/** Returns whether a response is an image as a file, by its content type and the first bytes as text. */
function isImageFile(type: string, beginning: string): boolean {
  if (/\b(json|event-stream)\b|^text\//.test(type)) return false;
  return type.startsWith('image/') || /^(\uFFFDPNG|\uFFFD{3}|RIFF.{4}WEBP|GIF8)/s.test(beginning);
}

/** Returns an image that was sent as a file instead of JSON. */
function fileImage(bytes: Uint8Array, type: string | undefined): JsonObject {
  const [declared] = type?.match(/^image\/[\w.+-]+/) ?? [];
  return { b64_json: encodeBase64(bytes), media_type: detectType(bytes) ?? declared };
}

/** Converts the events of a stream to a response, if a gateway streamed although no stream was requested. */
function toImagesResponse(events: unknown): ImagesResponse {
  const images = listObjects(events);
  const { created_at: created, usage, ...last } = images.at(-1) ?? {};
  const response: JsonObject = { created, usage };
  response['data'] = images.map(({ b64_json, url, media_type }) => ({ b64_json, url, media_type }));
  for (const key in settings) {
    if (last[key] !== '') response[key] = last[key];
  }
  // Differences were already reported when the events were read.
  return readValue(response, imagesSchema, unchecked);
}

const collectEvents = collectAs(/* @__PURE__ */ imageGenProtocol(1));

/**
 * Reads images from a response that is not streamed.
 *
 * @param sent - The URLs that the call sent.
 */
export const wholeFormat = <Other>(
  readOther: ReadOther<Other>,
  sent: readonly string[],
): ResultFormat<ImagesResponse | Other, 'json'> =>
  jsonFormat<ImagesResponse, Other>({
    schema: { ...imagesSchema, locate: (body) => locateImages(body, sent) },
    readOther,
    fromEvents: async (request, incoming) =>
      toImagesResponse(await collectEvents(request, incoming)),
    fromFile: {
      isFile: isImageFile,
      toValue(bytes, incoming) {
        requireWhole(incoming, bytes);
        return { data: [fileImage(bytes, readContentType(incoming.response))] };
      },
    },
  });
