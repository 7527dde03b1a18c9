import * as z from 'zod/mini';
import type { JsonObject } from '../types.ts';
import type { ImageEditStreamEvent, ImageEventBase, ImageGenStreamEvent } from './stream-types.ts';
import type { ImageUsage } from './types.ts';
import { timestampSchema } from '../chat/part-schemas.ts';
import { imageUsageSchema, repairImageUsage } from './schema.ts';
import { toNumber } from '../answers/objects.ts';
import type { Reader } from '../answers/reader.ts';
import { optionalNumber, optionalText, type ShapeOf, unread } from '../answers/shape-of.ts';

/** The fields of every kind of event. */
interface ImageEventFields extends ImageEventBase {
  type: string;
  partial_image_index: number;
  url: string;
  usage: ImageUsage;
}

const eventSchema = z.looseObject({
  type: unread,
  b64_json: optionalText,
  url: optionalText,
  background: optionalText,
  created_at: timestampSchema,
  output_format: optionalText,
  quality: optionalText,
  size: optionalText,
  partial_image_index: optionalNumber,
  usage: imageUsageSchema,
} satisfies ShapeOf<ImageEventFields>);

/** The first half of the names of the events of an operation. */
export type ImageEventPrefix = 'image_generation' | 'image_edit';

/** The kind of an event by its own word, which may be that of the other operation, or by its fields. */
function typeOf(event: JsonObject, prefix: ImageEventPrefix): string {
  const { type, partial_image_index: position } = event;
  if (typeof type !== 'string' || type === '') {
    if (typeof position === 'number') return `${prefix}.partial_image`;
    return event['b64_json'] || event['url'] ? `${prefix}.completed` : '';
  }
  return type.replace(/^image_(generation|edit)\./, `${prefix}.`);
}

function readerFor(prefix: ImageEventPrefix) {
  return {
    schema: eventSchema,
    repair(event: JsonObject): void {
      event['type'] = typeOf(event, prefix);
      toNumber(event, 'created_at');
      for (const key of ['b64_json', 'background', 'output_format', 'quality', 'size']) {
        event[key] ??= '';
      }
      repairImageUsage(event);
    },
  };
}

/** Reads an event of a stream of new images. */
export const imageGenEventReader: Reader<ImageGenStreamEvent> = readerFor('image_generation');

/** Reads an event of a stream of edited images. */
export const imageEditEventReader: Reader<ImageEditStreamEvent> = readerFor('image_edit');
