import { formTranscript, mistralEvents, vllmEvents } from '../audio/places.ts';
import { doneEvent, type StreamEvent } from '../faults/stream-faults.ts';
import { readSound, type SoundFacts } from '../media/audio-reader.ts';
import {
  type Call,
  charge,
  checkVendor,
  readFields,
  invalid,
  requireModel,
  type Handler,
} from '../server/call.ts';
import { findVendor } from '../control/models.ts';
import { refusal } from '../server/errors.ts';
import { eventResponse } from '../server/event-stream.ts';
import type { Fields } from '../server/fields.ts';
import { countTokens } from './usage.ts';

// The gateway determines the duration by the extension, and only knows these, in lower case.
const extensions = new Set(
  'mp3 wav flac m4a mp4 ogg oga opus aif aiff aifc webm aac'.split(' ').map((name) => `.${name}`),
);

interface Segment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Confidence values of a transcription segment. */
const certainty = {
  tokens: [1],
  temperature: 0,
  avg_logprob: -0.2,
  compression_ratio: 1,
  no_speech_prob: 0.01,
};

function spokenText(filename: string, { duration, title }: SoundFacts, what: string): string {
  // The emulator's speech contains its text, so transcriptions of it are correct.
  if (title !== undefined && title !== '') return title;
  const length = duration === undefined ? 'unknown length' : `${duration.toFixed(1)} seconds`;
  return `This is the ${what} of ${filename}. The sound has a duration of ${length}.`;
}

/** Creates a segment for each sentence, with a duration proportional to its length. */
function toSegments(text: string, duration: number): Segment[] {
  const sentences = text.match(/[^.!?]+[.!?]*\s*/g) ?? [text];
  let spoken = 0;
  return sentences.map((sentence) => {
    const start = (duration * spoken) / text.length;
    spoken += sentence.length;
    return { start, end: (duration * spoken) / text.length, text: sentence.trim() };
  });
}

function timestamp(seconds: number, separator: string): string {
  const time = new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23);
  return time.replace('.', separator);
}

function subtitles(segments: readonly Segment[], format: 'srt' | 'vtt'): string {
  const separator = format === 'srt' ? ',' : '.';
  const cues = segments.map(({ start, end, text }, index) => {
    const times = `${timestamp(start, separator)} --> ${timestamp(end, separator)}`;
    return format === 'srt' ? `${index + 1}\n${times}\n${text}\n` : `${times}\n${text}\n`;
  });
  return `${format === 'vtt' ? 'WEBVTT\n\n' : ''}${cues.join('\n')}\n`;
}

function plain({ world }: Call, body: string): Response {
  const { transcriptForm: form } = world.quirks;
  if (form !== 'plain') return formTranscript(form, body);
  return new Response(body, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

/** The transcribed audio and the requested format. */
interface Transcript {
  readonly format: string;
  readonly text: string;
  readonly duration: number;
  readonly fields: Fields;
}

/** Reads the audio file of a call and charges for it. */
async function transcribeFile(call: Call, what: string): Promise<Transcript> {
  const fields = readFields(call);
  const model = requireModel(call, fields.string('model'));
  checkVendor(call, model, 'anthropic', 'google');
  const upload = fields.files.find(({ field }) => field === 'file');
  if (upload === undefined) throw refusal(500, 'convert_request_failed', 'file is required');
  fields.number('temperature');
  const extension = /\.[^.]*$/.exec(upload.filename)?.[0] ?? '';
  if (!extensions.has(extension)) {
    const message = `error getting audio duration: unsupported audio format: ${extension}`;
    throw refusal(500, 'count_token_failed', message);
  }
  const format = fields.string('response_format') ?? 'json';
  const facts = readSound(new Uint8Array(await upload.file.arrayBuffer()));
  const text = spokenText(upload.filename, facts, what);
  const duration = facts.duration ?? 1;
  charge(call, model, Math.ceil(duration * 10));
  return { format, text, duration, fields };
}

/** Formats a response of either route. */
function written(call: Call, { format, text, duration }: Transcript, verbose: object): Response {
  const segments = toSegments(text, duration);
  switch (format) {
    case 'json':
      return json(call, { text, usage: durationUsage(duration) });
    case 'verbose_json': {
      const parts = segments.map((segment, id) => ({ id, seek: 0, ...segment, ...certainty }));
      return json(call, { ...verbose, duration, text, segments: formSegments(call, parts) });
    }
    case 'text':
      return plain(call, `${text}\n`);
    case 'srt':
    case 'vtt':
      return plain(call, subtitles(segments, format));
    default:
      throw invalid(call, `invalid response_format "${format}"`);
  }
}

/** Returns the segments of a transcript in the form of the quirk. */
function formSegments({ world }: Call, segments: readonly object[]): unknown {
  const { transcriptSegments: form } = world.quirks;
  if (form === 'nested') return { segments };
  return form === 'null' ? [null, ...segments] : segments;
}

function json({ world }: Call, body: object): Response {
  const { transcriptForm: form } = world.quirks;
  return form === 'doubled-json' ? formTranscript(form, JSON.stringify(body)) : Response.json(body);
}

const durationUsage = (duration: number) => ({ type: 'duration', seconds: Math.ceil(duration) });

/** Returns whether `vtt` subtitles are replaced by JSON. */
function isVttDropped({ world: { models, quirks } }: Call, model: string): boolean {
  const { translationVtt } = quirks;
  if (translationVtt !== 'vendor') return translationVtt === 'json';
  return findVendor(models, model) === 'openai';
}

/** `POST /v1/audio/translations`. */
const createTranslation: Handler = async (call) => {
  const heard = await transcribeFile(call, 'translation');
  const isDropped =
    heard.format === 'vtt' && isVttDropped(call, heard.fields.string('model') ?? '');
  const translated = isDropped ? { ...heard, format: 'json' } : heard;
  return written(call, translated, { task: 'translate', language: 'english' });
};

/** Returns whether a model supports streaming, by its name. */
const canStream = (model: string | undefined): boolean => !/whisper/i.test(model ?? '');

/** `POST /v1/audio/transcriptions`. */
export const createTranscription: Handler = async (call) => {
  const heard = await transcribeFile(call, 'transcription');
  const { format, text, duration, fields } = heard;
  if (fields.boolean('stream') === true && canStream(fields.string('model'))) {
    return streamed(call, text, duration);
  }
  const task = 'transcribe';
  if (format === 'diarized_json') {
    const segments = toSegments(text, duration).map((segment, at) => ({
      type: 'transcript.text.segment',
      id: `seg_${at}`,
      speaker: 'A',
      ...segment,
    }));
    const parts = formSegments(call, segments);
    return json(call, { task, duration, text, segments: parts, usage: durationUsage(duration) });
  }
  const language = fields.string('language') ?? 'english';
  const timed = [fields.raw('timestamp_granularities[]')].flat();
  const words = timed.includes('word') ? { words: timedWords(text, duration) } : {};
  return written(call, heard, { task, language, ...words });
};

/** Returns the words of a text with equal durations. */
function timedWords(text: string, duration: number): object[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const each = duration / Math.max(1, words.length);
  return words.map((word, at) => ({ word, start: at * each, end: (at + 1) * each }));
}

/** Responds to a request for a stream. */
function streamed(call: Call, text: string, duration: number): Response {
  const deltas = text.match(/\S+\s*/g) ?? [];
  switch (call.world.quirks.transcriptStream) {
    case 'openai':
      return eventResponse(call, transcriptEvents(text, duration));
    case 'vllm':
      return eventResponse(call, [...vllmEvents(deltas, Math.ceil(duration)), doneEvent]);
    case 'mistral':
      return eventResponse(call, mistralEvents(deltas, durationUsage(duration)));
    case 'text':
      return plain(call, text);
  }
}

function transcriptEvents(text: string, duration: number): StreamEvent[] {
  const deltas = text.match(/\S+\s*/g) ?? [];
  const spoken = countTokens(text);
  const heard = Math.ceil(duration * 10);
  const counts = { input_tokens: heard, output_tokens: spoken, total_tokens: heard + spoken };
  return [
    ...deltas.map((delta): StreamEvent => ({
      role: 'delta',
      data: { type: 'transcript.text.delta', delta },
    })),
    {
      role: 'finish',
      data: { type: 'transcript.text.done', text, usage: { type: 'tokens', ...counts } },
    },
  ];
}

export const transcriptHandlers = {
  'audio.transcriptions.create': createTranscription,
  'audio.translations.create': createTranslation,
};
