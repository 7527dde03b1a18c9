import * as z from 'zod/mini';
import type { SpeechStreamEvent, SpeechUsage } from './types.ts';
import { dropNull } from '../answers/objects.ts';
import type { Reader } from '../answers/reader.ts';
import {
  optionalNumber,
  optionalObject,
  optionalText,
  type ShapeOf,
  unread,
} from '../answers/shape-of.ts';

/** The fields of every kind of event. */
interface SpeechEventFields {
  type: string;
  audio: string;
  usage: SpeechUsage;
}

const usageShape = {
  input_tokens: optionalNumber,
  output_tokens: optionalNumber,
  total_tokens: optionalNumber,
} satisfies ShapeOf<SpeechUsage>;

const eventShape = {
  type: unread,
  audio: optionalText,
  usage: optionalObject(usageShape),
} satisfies ShapeOf<SpeechEventFields>;

/** Reads an event of a stream of speech. */
export const speechEventReader: Reader<SpeechStreamEvent> = {
  schema: z.looseObject(eventShape),
  repair(event) {
    if (event['type'] === 'speech.audio.delta') event['audio'] ??= event['audio_data'] ?? '';
    dropNull(event, 'usage');
  },
};
