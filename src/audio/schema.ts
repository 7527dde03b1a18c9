import type {
  TranscriptionCreateResponse,
  TranscriptionStreamEvent,
} from './transcription-types.ts';
import type { SpeechStreamEvent, SpeechUsage } from './types.ts';
import { fill, toNumber } from '../answers/objects.ts';
import { type FieldsOf, numeric, type ResponseSchema } from '../answers/reader.ts';

/** Text for sound, in any of the forms that are objects. Translations are a part of transcriptions. */
export function spokenSchema(
  format: string | undefined,
): ResponseSchema<TranscriptionCreateResponse> {
  const isVerbose = format === 'verbose_json';
  const isDiarized = format === 'diarized_json';
  return {
    fields: {
      text: 'string',
      duration: numeric,
      language: 'string',
      segments: 'array',
      words: 'array',
      languages: 'array',
      logprobs: 'array',
      usage: 'object',
    },
    normalize(value) {
      if (isVerbose || isDiarized) toNumber(value, 'duration');
      for (const name of ['words', 'languages', 'logprobs', 'usage'])
        fill(value, { [name]: undefined });
      fill(value, { segments: isDiarized ? [] : undefined });
      if (isVerbose) fill(value, { language: '' });
      if (isDiarized) fill(value, { task: 'transcribe' });
    },
  };
}

/** An event of a stream of a transcription. */
export const transcriptEventSchema: ResponseSchema<TranscriptionStreamEvent> = {
  fields: { type: 'any', delta: 'string', text: 'string' },
  normalize: (event) => fill(event, { usage: undefined, logprobs: undefined }),
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
