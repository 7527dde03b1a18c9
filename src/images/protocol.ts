import { isObject, objectsOf } from '../answers/objects.ts';
import { readValue, type ResponseSchema } from '../answers/reader.ts';
import { type StreamProtocol, typedProtocol } from '../streams/protocol.ts';
import type { JsonObject } from '../types.ts';
import { eventSchema, imagesSchema, isImage } from './schema.ts';
import type { ImageEditStreamEvent, ImageGenStreamEvent, ImagesResponse } from './types.ts';

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
