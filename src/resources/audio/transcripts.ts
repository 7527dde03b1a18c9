import {
  fill,
  findFirst,
  firstObject,
  hasValue,
  isObject,
  isText,
  listObjects,
  normalizeItems,
  numberFrom,
  parseJSON,
  toFields,
  toNumber,
  trimmedText,
} from '../../answers/objects.ts';
import { mergeUsage } from '../../answers/usage.ts';
import { readErrorValue, saysFailure } from '../../answers/failure.ts';
import { numeric, readValue, type ResponseSchema, unchecked } from '../../answers/reader.ts';
import { describeMarkup } from '../../answers/received-file.ts';
import type { ResultFormat } from '../../calls/gateway-request.ts';
import { textFormat } from '../../calls/response.ts';
import { collectAs, eventFormat } from '../../streams/open-stream.ts';
import {
  type Delivery,
  lastEvent,
  type StreamProgress,
  type StreamProtocol,
} from '../../streams/protocol.ts';
import type { JsonObject } from '../../types.ts';
import type {
  TranscriptionCreateResponse,
  TranscriptionStreamEvent,
} from './transcription-types.ts';

/** Unwraps a list of segments or words, removes other items from it, and converts times that were sent as text. */
function normalizeTimed(owner: JsonObject, key: string): void {
  const inner = toFields(owner[key])[key];
  if (Array.isArray(inner)) owner[key] = inner;
  if (!Array.isArray(owner[key])) return;
  normalizeItems(owner, key, (item) => {
    for (const time of ['start', 'end']) {
      if (typeof item[time] === 'string') item[time] = numberFrom(item[time]) ?? item[time];
    }
  });
}

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
      normalizeTimed(value, 'segments');
      normalizeTimed(value, 'words');
    },
  };
}

const isTextFormat = /^(text|srt|vtt)$/;

/** The beginning of a VTT or SRT file. */
const subtitles = /^\uFEFF?\s*(WEBVTT|\d+\r?\n\d+:\d\d)/;

/** Returns the text of a JSON string, which frameworks send for text. A quoted transcript is not JSON by its type. */
function unquote(text: string, type: string): string {
  if (!/^\s*"/.test(text)) return text;
  const inner = parseJSON(text);
  const isString = typeof inner === 'string' && (/\bjson\b/.test(type) || /\\[nr"]/.test(text));
  return isString ? inner : text;
}

const transcriptEventSchema: ResponseSchema<TranscriptionStreamEvent> = {
  fields: { type: 'any', delta: 'string', text: 'string' },
};

/** The object of a chunk in vLLM's streams. */
const chunkObject = 'transcription.chunk';

const isChunk = (value: object): boolean => 'object' in value && value.object === chunkObject;

/** Returns the text and the finish reason of a chunk in vLLM's streams. */
function readChunk({ choices }: JsonObject): { readonly text: string; readonly finish?: string } {
  const list = listObjects(choices);
  const texts = list.map(({ delta, text }) => toFields(delta)['content'] ?? text);
  const finish = findFirst(list, ({ finish_reason: reason }) => trimmedText(reason));
  const text = texts.filter((piece) => typeof piece === 'string').join('');
  return finish === undefined ? { text } : { text, finish };
}

/** Converts an event of vLLM or Mistral to one of OpenAI. Other values are unchanged. */
function toTranscriptEvent(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (isChunk(value)) {
    return { ...value, type: 'transcript.text.delta', delta: readChunk(value).text };
  }
  switch (value['type']) {
    case 'transcription.text.delta':
      return { ...value, type: 'transcript.text.delta', delta: value['text'] ?? '' };
    case 'transcription.segment':
      return { ...value, type: 'transcript.text.segment' };
    case 'transcription.done':
      return { ...value, type: 'transcript.text.done' };
    default:
      return value;
  }
}

/** Follows a stream that ends with the full text, or in vLLM's form with a finish reason and `[DONE]`. */
function followTranscript(keeps: boolean): StreamProgress<TranscriptionStreamEvent> {
  let text = '';
  let isWhole = false;
  const segments: TranscriptionStreamEvent[] = [];
  let finish: string | undefined;
  let started = false;
  let usage: JsonObject | undefined;
  const hasFailed = (): boolean => finish !== undefined && /^(abort|error)$/i.test(finish);
  return {
    proof: lastEvent,
    get started() {
      return started;
    },
    get usage() {
      return usage;
    },
    get failure() {
      return hasFailed() ? `ended with the finish reason "${finish}"` : undefined;
    },
    /** The text so far, which is paid for even if the stream fails. */
    get partial() {
      if (!keeps || !started) return undefined;
      const others = segments.length > 0 ? { segments } : {};
      return { text, ...others, ...(usage && { usage }) };
    },
    // A long recording has several finish reasons in vLLM's streams, and text may follow each.
    isFinished: (terminated) => isWhole || (terminated && finish !== undefined && !hasFailed()),
    add(event) {
      started ||= /^transcript\b/.test(event.type);
      if ('usage' in event && isObject(event.usage)) usage = mergeUsage(usage, event.usage);
      if (isChunk(event)) finish = readChunk(toFields(event)).finish ?? finish;
      if (event.type === 'transcript.text.delta') text += event.delta;
      if (event.type === 'transcript.text.segment') segments.push(event);
      if (event.type !== 'transcript.text.done') return;
      isWhole = true;
      if (isText(event.text)) ({ text } = event);
      else event.text = text;
    },
  };
}

/** Yields the events of a stream, and the last event of OpenAI's streams after a complete one of vLLM. */
function deliverTranscript(
  emit: (event: TranscriptionStreamEvent) => void,
): Delivery<TranscriptionStreamEvent> {
  let text = '';
  let usage: JsonObject | undefined;
  let last: JsonObject | undefined;
  return {
    add(event) {
      const chunk = isChunk(event) ? toFields(event) : undefined;
      if (chunk !== undefined) {
        last = chunk;
        if (isObject(chunk['usage'])) usage = mergeUsage(usage, chunk['usage']);
      }
      const isEmpty = event.type === 'transcript.text.delta' && event.delta === '';
      if (chunk !== undefined && isEmpty) return false;
      if (event.type === 'transcript.text.delta') text += event.delta;
      emit(event);
      return true;
    },
    flush(isComplete) {
      if (last === undefined || !isComplete) return;
      const done = { type: 'transcript.text.done', text, ...(usage && { usage }) };
      emit(readValue(done, transcriptEventSchema, unchecked));
      last = undefined;
    },
  };
}

/**
 * Returns a response with the transcript in `text`. Workers AI puts it into `result`, RunPod into `output`, and
 * Deepgram into the first alternative of the first channel.
 */
function locateText(value: JsonObject): JsonObject {
  if (typeof value['text'] === 'string') return value;
  const output = toFields(value['output']);
  const channel = firstObject(toFields(value['results'])['channels']);
  const places = [
    toFields(value['result'])['text'],
    output['transcription'],
    output['text'],
    firstObject(channel?.['alternatives'])?.['transcript'],
  ];
  const text = places.find((place) => typeof place === 'string');
  return text === undefined ? value : { ...value, text };
}

/** Converts the complete response of a model that does not stream to events. */
function toTextEvents(body: unknown): readonly unknown[] {
  const { text, usage } = locateText(toFields(body));
  if (typeof text !== 'string') return [];
  return [
    { type: 'transcript.text.delta', delta: text },
    { type: 'transcript.text.done', text, usage },
  ];
}

/** Converts text or a JSON string to events. */
function fromText(received: string, type: string): readonly unknown[] {
  const text = unquote(received, type);
  const value = parseJSON(text);
  if (isObject(value)) return toTextEvents(value);
  if (value === null) return [];
  // Text may start with a bracket, such as `[Music]`, but never with a brace.
  const isTranscript = !/^\s*\{/.test(text) && describeMarkup(text) === undefined;
  return isText(text) && isTranscript ? toTextEvents({ text }) : [];
}

const protocol: StreamProtocol<TranscriptionStreamEvent> = {
  read: (value, check) => readValue(toTranscriptEvent(value), transcriptEventSchema, check),
  fromResponse: toTextEvents,
  isPiece: (value) => isChunk(toFields(value)),
  fromText,
  follow: followTranscript,
  deliver: deliverTranscript,
};

/** Response format for streamed transcriptions. They are complete once the event with the full text arrived. */
export const transcriptionEvents = eventFormat(protocol);

/**
 * Response format for transcriptions and translations. Decides by the requested format and by the
 * content: some gateways label JSON as text, send text where JSON was requested, or stream without a request.
 */
export const transcriptionFormat = (
  format?: string,
): ResultFormat<TranscriptionCreateResponse | string, 'text'> =>
  textFormat<TranscriptionCreateResponse | string>((received, read, type) => {
    const text = unquote(received, type);
    const parsed = parseJSON(text);
    const value = isObject(parsed) ? locateText(parsed) : undefined;
    const inside = value?.['text'];
    const isEmpty =
      parsed === null || (Array.isArray(parsed) && !parsed.some((each) => hasValue(each)));
    // JSON of an unknown form may be a transcript in the requested one, but not an error.
    const isError = saysFailure(parsed) || readErrorValue(parsed).message !== undefined;
    if (isEmpty || (isError && typeof parsed === 'object' && typeof inside !== 'string')) {
      return { problem: 'the response has no text.' };
    }
    const markup = describeMarkup(text);
    if (markup !== undefined)
      return { problem: `the response is ${markup} instead of a transcript.` };
    if (isTextFormat.test(format ?? '')) {
      // Providers that only know JSON wrap the text in it; other JSON is returned unchanged.
      const isWrapped = typeof inside === 'string' && (format === 'text' || subtitles.test(inside));
      return { value: isWrapped ? inside : text };
    }
    if (text.trim() === '') return { problem: 'the response is empty.' };
    // Text may start with a bracket, such as `[Music]`, but never with a brace.
    if (!value && /^\s*\{/.test(text)) return { problem: 'the response is incomplete JSON.' };
    if (value && typeof inside !== 'string') return { problem: 'the response has no text.' };
    return { value: read(value ?? { text }, transcriptionSchema(format)) };
  }, collectAs(protocol));
