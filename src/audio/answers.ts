import { fill, isObject, parseJSON, toNumber } from '../answers/objects.ts';
import { numeric, type ResponseSchema } from '../answers/reader.ts';
import type { AnswerFormat } from '../http/call.ts';
import { letGo, requestIdOf, unusable } from '../http/response-body.ts';
import type { OutgoingRequest } from '../http/request.ts';
import { textAnswer } from '../http/response.ts';
import type { FailedAttempt } from '../http/retry.ts';
import { followRedirects, locationOf } from '../http/send.ts';
import { eventAnswer } from '../streams/open-stream.ts';
import { typedProtocol } from '../streams/protocol.ts';
import type { JsonObject } from '../types.ts';
import { fileAnswer } from '../uploads/file-answer.ts';
import type {
  TranscriptionCreateResponse,
  TranscriptionStreamEvent,
} from './transcription-types.ts';
import type { SpeechStreamEvent } from './types.ts';

/** Text for sound, in any of the forms that are objects. Translations are a part of transcriptions. */
function spokenSchema(format: string | undefined): ResponseSchema<TranscriptionCreateResponse> {
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
      if (isVerbose) fill(value, { language: '' });
      if (isDiarized) fill(value, { segments: [], task: 'transcribe' });
    },
  };
}

/** Mistral's models answer with JSON. */
function soundIn(value: unknown): string | undefined {
  const data = isObject(value) ? value['audio_data'] : undefined;
  return typeof data === 'string' ? data : undefined;
}

/** How speech is read that comes as a file. */
export const fileOfSpeech = fileAnswer(soundIn);

const speechEventSchema: ResponseSchema<SpeechStreamEvent> = {
  fields: {
    type: 'any',
    audio: 'string',
    usage: { input_tokens: 'number', output_tokens: 'number', total_tokens: 'number' },
  },
  normalize(event) {
    if (event['type'] === 'speech.audio.delta') event['audio'] ??= event['audio_data'] ?? '';
  },
};

/**
 * Reads the file that a redirect tells of: some vendors answer speech so. A redirect to the same path, or
 * one that asks to send the request again, tells of none.
 */
export function fileBehind(
  redirect: Response,
  request: OutgoingRequest,
): Promise<Response | FailedAttempt> | undefined {
  if (!/^30[123]$/.test(`${redirect.status}`)) return undefined;
  const target = locationOf(redirect, request.url);
  const isFile = target !== undefined && target.pathname !== new URL(request.url).pathname;
  return isFile ? fetchFile(redirect, request) : undefined;
}

/** Fetches a file. It is paid for, so a failure must not ask for it again. */
async function fetchFile(
  redirect: Response,
  request: OutgoingRequest,
): Promise<Response | FailedAttempt> {
  const headers = new Headers(request.headers);
  headers.delete('content-type');
  let problem = 'could not be read.';
  let cause: unknown;
  try {
    const read = { ...request, method: 'GET', headers, body: undefined };
    const response = await followRedirects(redirect, read);
    if ('ok' in response) {
      if (response.ok) return response;
      letGo(response.body);
      problem = `answered with status ${response.status}.`;
    }
  } catch (error) {
    cause = error;
  }
  const answer = { response: redirect, requestId: requestIdOf(redirect.headers) };
  return { ...unusable(answer, `the file that the gateway referred to ${problem}`), cause };
}

/** How a stream of speech is read. It ends without a terminator; its last event is the proof. */
export const eventsOfSpeech = eventAnswer({
  ...typedProtocol({
    schema: speechEventSchema,
    endType: 'speech.audio.done',
    fromAnswer: () => [],
  }),
  fromFile: toEvents,
});

/** Small enough for the call stack, and whole groups of three bytes, so that no piece ends in `=`. */
const pieceBytes = 24_576;

function toEvents(bytes: Uint8Array): readonly JsonObject[] {
  const events: JsonObject[] = [];
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    const piece = String.fromCharCode(...bytes.subarray(start, start + pieceBytes));
    events.push({ type: 'speech.audio.delta', audio: btoa(piece) });
  }
  return [...events, { type: 'speech.audio.done' }];
}

const isText = /^(text|srt|vtt)$/;

/**
 * How text for sound is read: by what was asked for and by what came. Gateways send JSON as text, and text
 * where JSON was asked for.
 */
export const spokenAnswer = (
  format?: string,
): AnswerFormat<TranscriptionCreateResponse | string, 'text'> =>
  textAnswer<TranscriptionCreateResponse | string>((text, read) => {
    const parsed = parseJSON(text);
    const value = isObject(parsed) ? parsed : undefined;
    const inside = value?.['text'];
    if (isText.test(format ?? '')) {
      // A provider that knows only JSON has put the text into it; subtitles would be no subtitles.
      return { value: format === 'text' && typeof inside === 'string' ? inside : text };
    }
    if (text.trim() === '') return { problem: 'the answer is empty.' };
    // A bracket may begin a text, such as `[Music]`; a brace never does.
    if (!value && /^\s*\{/.test(text)) return { problem: 'the answer is not whole JSON.' };
    if (value && typeof inside !== 'string') return { problem: 'the answer has no text.' };
    return { value: read(value ?? { text }, spokenSchema(format)) };
  });

const transcriptEventSchema: ResponseSchema<TranscriptionStreamEvent> = {
  fields: { type: 'any', delta: 'string', text: 'string' },
};

/** A model that does not stream answers whole. */
function eventsOfText(answer: unknown): readonly unknown[] {
  if (!isObject(answer) || typeof answer['text'] !== 'string') return [];
  const { text, usage } = answer;
  return [
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text, usage },
  ];
}

/** How a stream of a transcription is read: its last event, with all of the text, is the proof. */
export const eventsOfTranscription = eventAnswer(
  typedProtocol({
    schema: transcriptEventSchema,
    endType: 'transcript.text.done',
    fromAnswer: eventsOfText,
  }),
);
