import { imageEditEventSchema, imageGenEventSchema } from './schema.ts';
import type { ImageEventPrefix } from './schema.ts';
import { imagesSchema, isImage } from './schema.ts';
import { isObject, objectsOf } from '../answers/objects.ts';
import { readValue, type ResponseSchema } from '../answers/reader.ts';
import type { JsonObject } from '../types.ts';
import type { ImageEditStreamEvent, ImageGenStreamEvent, ImagesResponse } from './types.ts';
import { type StreamProtocol, type TypedStream, typedProtocol } from '../streams/protocol.ts';

/** How a stream of so many new images is read. */
export function imageGenProtocol(expected: number): StreamProtocol<ImageGenStreamEvent> {
  return typedProtocol(imageStream('image_generation', imageGenEventSchema, expected));
}

/** How a stream of so many edited images is read. */
export function imageEditProtocol(expected: number): StreamProtocol<ImageEditStreamEvent> {
  return typedProtocol(imageStream('image_edit', imageEditEventSchema, expected));
}

function imageStream<Item>(
  prefix: ImageEventPrefix,
  schema: ResponseSchema<Item>,
  expected: number,
): TypedStream<Item> {
  const endType = `${prefix}.completed`;
  return { schema, endType, expected, fromAnswer: (answer) => toEvents(answer, endType) };
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
