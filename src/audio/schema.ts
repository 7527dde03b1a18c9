import type { SpeechStreamEvent, SpeechUsage, Translation, TranslationVerbose } from './types.ts';
import { fill, toNumber } from '../answers/objects.ts';
import { type FieldsOf, numeric, type ResponseSchema } from '../answers/reader.ts';

/** A translation. */
export const translationSchema: ResponseSchema<Translation> = { fields: { text: 'string' } };

/** A translation in the form `verbose_json`. */
export const verboseTranslationSchema: ResponseSchema<TranslationVerbose> = {
  fields: {
    text: 'string',
    duration: numeric,
    language: 'string',
    segments: 'array',
  } satisfies FieldsOf<TranslationVerbose>,
  normalize(value) {
    toNumber(value, 'duration');
    fill(value, { language: '', segments: undefined });
  },
};

/** The fields of every kind of event. */
interface SpeechEventFields {
  type: string;
  audio: string;
  usage: SpeechUsage;
}

/** An event of a stream of speech. */
export const speechEventSchema: ResponseSchema<SpeechStreamEvent> = {
  fields: {
    type: 'any',
    audio: 'string',
    usage: { input_tokens: 'number', output_tokens: 'number', total_tokens: 'number' },
  } satisfies FieldsOf<SpeechEventFields>,
  normalize(event) {
    if (event['type'] === 'speech.audio.delta') event['audio'] ??= event['audio_data'] ?? '';
    fill(event, { usage: undefined });
  },
};
