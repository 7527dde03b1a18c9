import { readSound, type SoundFacts } from '../media/audio-reader.ts';
import {
  charge,
  checkVendor,
  fieldsOf,
  invalid,
  requiredModelOf,
  type Handler,
} from '../server/call.ts';
import { refusal } from '../server/errors.ts';

// The gateway works out the duration by the extension, and knows only these, in lower case.
const extensions = new Set(
  'mp3 wav flac m4a mp4 ogg oga opus aif aiff aifc webm aac'.split(' ').map((name) => `.${name}`),
);

interface Segment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What a transcribing model says about each of its segments. */
const certainty = {
  tokens: [1],
  temperature: 0,
  avg_logprob: -0.2,
  compression_ratio: 1,
  no_speech_prob: 0.01,
};

function textOf(filename: string, { duration, title }: SoundFacts): string {
  // The emulator's own speech carries its words, so speech and translation fit together.
  if (title !== undefined && title !== '') return title;
  const length = duration === undefined ? 'unknown length' : `${duration.toFixed(1)} seconds`;
  return `This is the translation of ${filename}. The sound has a duration of ${length}.`;
}

/** One segment for each sentence, its share of the time by its length. */
function segmentsOf(text: string, duration: number): Segment[] {
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

function plain(body: string): Response {
  return new Response(body, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

/** `POST /v1/audio/translations`. */
export const createTranslation: Handler = async (call) => {
  const fields = fieldsOf(call);
  const model = requiredModelOf(call, fields.string('model'));
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
  const text = textOf(upload.filename, facts);
  const duration = facts.duration ?? 1;
  charge(call, model, Math.ceil(duration * 10));
  const segments = segmentsOf(text, duration);
  switch (format) {
    case 'json':
      return Response.json({ text, usage: { type: 'duration', seconds: Math.ceil(duration) } });
    case 'verbose_json': {
      const parts = segments.map((segment, id) => ({ id, seek: 0, ...segment, ...certainty }));
      return Response.json({
        task: 'translate',
        language: 'english',
        duration,
        text,
        segments: parts,
      });
    }
    case 'text':
      return plain(`${text}\n`);
    case 'srt':
    case 'vtt':
      return plain(subtitles(segments, format));
    default:
      throw invalid(call, `invalid response_format "${format}"`);
  }
};
