import {
  fill,
  findFirst,
  isObject,
  parseJSON,
  toNumber,
  trimmedText,
  unwrapLevels,
} from '../../answers/objects.ts';
import { numeric, type ResponseSchema } from '../../answers/reader.ts';
import type { AnswerFormat } from '../../calls/request.ts';
import { discardBody, findRequestId, unusable } from '../../http/response-body.ts';
import type { OutgoingRequest } from '../../http/request.ts';
import { textAnswer } from '../../calls/response.ts';
import type { FailedAttempt } from '../../http/retry.ts';
import { followRedirects, parseLocation } from '../../http/send.ts';
import { eventAnswer } from '../../streams/open-stream.ts';
import { typedProtocol } from '../../streams/protocol.ts';
import type { JsonObject } from '../../types.ts';
import { fileAnswer } from '../../uploads/file-answer.ts';
import type {
  TranscriptionCreateResponse,
  TranscriptionStreamEvent,
} from './transcription-types.ts';
import type { SpeechStreamEvent } from './types.ts';

/** Schema of transcriptions in all JSON formats. Translations have a subset of these fields. */
function transcriptionSchema(
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
      if (isVerbose) fill(value, { language: '' });
      if (isDiarized) fill(value, { segments: [], task: 'transcribe' });
    },
  };
}

/** Finds the audio of a JSON response: Mistral's `audio_data`, MiniMax's `data.audio`, `output.audio.data`. */
function audioData(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  return findFirst(unwrapLevels(value), ({ audio_data: data, audio }) =>
    findFirst([data, audio, isObject(audio) ? audio['data'] : undefined], trimmedText),
  );
}

/** Response format for speech as a file. */
export const speechFile = fileAnswer(audioData);

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
 * Follows a redirect to the audio file: some vendors respond to speech requests with its URL. Returns
 * `undefined` for a redirect to the same path and for one that asks to resend the request (307, 308).
 */
export function followToFile(
  redirect: Response,
  request: OutgoingRequest,
): Promise<Response | FailedAttempt> | undefined {
  if (!/^30[123]$/.test(`${redirect.status}`)) return undefined;
  const target = parseLocation(redirect, request.url);
  const isFile = target !== undefined && target.pathname !== new URL(request.url).pathname;
  return isFile ? fetchFile(redirect, request) : undefined;
}

/** Fetches a file. It is already paid for, so a failure must not cause a retry of the request. */
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
      discardBody(response.body);
      problem = `responded with status ${response.status}.`;
    }
  } catch (error) {
    cause = error;
  }
  const answer = { response: redirect, requestId: findRequestId(redirect.headers) };
  return { ...unusable(answer, `the file at the URL of the response ${problem}`), cause };
}

/**
 * Response format for streamed speech, which has no terminator: it is complete once its last event has
 * arrived.
 */
export const speechEvents = eventAnswer({
  ...typedProtocol({
    schema: speechEventSchema,
    endType: 'speech.audio.done',
    fromAnswer: () => [],
  }),
  fromFile: toEvents,
});

/** Small enough for the call stack, and divisible by three, so that no chunk is padded with `=`. */
const chunkBytes = 24_576;

function toEvents(bytes: Uint8Array): readonly JsonObject[] {
  const events: JsonObject[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    const chunk = String.fromCharCode(...bytes.subarray(start, start + chunkBytes));
    events.push({ type: 'speech.audio.delta', audio: btoa(chunk) });
  }
  return [...events, { type: 'speech.audio.done' }];
}

const isText = /^(text|srt|vtt)$/;

/** The beginning of a VTT or SRT file. */
const subtitles = /^\uFEFF?\s*(WEBVTT|\d+\r?\n\d\d:\d\d)/;

/** Returns the text of a JSON string, which frameworks send for text. A quoted transcript is not JSON by its type. */
function unquote(text: string, type: string): string {
  if (!/^\s*"/.test(text)) return text;
  const inner = parseJSON(text);
  const isString = typeof inner === 'string' && (/\bjson\b/.test(type) || /\\[nr"]/.test(text));
  return isString ? inner : text;
}

/**
 * Response format for transcriptions and translations. Decides by the requested format and by the
 * content: some gateways label JSON as text, or send text where JSON was requested.
 */
export const transcriptionAnswer = (
  format?: string,
): AnswerFormat<TranscriptionCreateResponse | string, 'text'> =>
  textAnswer<TranscriptionCreateResponse | string>((received, read, type) => {
    const text = unquote(received, type);
    const parsed = parseJSON(text);
    const value = isObject(parsed) ? parsed : undefined;
    const inside = value?.['text'];
    if (isText.test(format ?? '')) {
      // Providers that only know JSON wrap the text in it; other JSON is returned unchanged.
      const isWrapped = typeof inside === 'string' && (format === 'text' || subtitles.test(inside));
      return { value: isWrapped ? inside : text };
    }
    if (text.trim() === '') return { problem: 'the response is empty.' };
    // Text may start with a bracket, such as `[Music]`, but never with a brace.
    if (!value && /^\s*\{/.test(text)) return { problem: 'the response is incomplete JSON.' };
    if (value && typeof inside !== 'string') return { problem: 'the response has no text.' };
    return { value: read(value ?? { text }, transcriptionSchema(format)) };
  });

const transcriptEventSchema: ResponseSchema<TranscriptionStreamEvent> = {
  fields: { type: 'any', delta: 'string', text: 'string' },
};

/** Converts the complete response of a model that does not stream to events. */
function toTextEvents(answer: unknown): readonly unknown[] {
  if (!isObject(answer) || typeof answer['text'] !== 'string') return [];
  const { text, usage } = answer;
  return [
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text, usage },
  ];
}

/** Response format for streamed transcriptions: complete once the last event, with the full text, arrived. */
export const transcriptionEvents = eventAnswer(
  typedProtocol({
    schema: transcriptEventSchema,
    endType: 'transcript.text.done',
    fromAnswer: toTextEvents,
  }),
);
