import { decodeBytes, decodeHex, encodeBase64, isHex } from '../../answers/bytes.ts';
import { isObject, isText, toFields, trimmedText } from '../../answers/objects.ts';
import { deepestResult, notResults, parseNested } from '../../answers/result-places.ts';
import type { JsonObject } from '../../types.ts';

/*
 * The one reader of audio in JSON. Direct responses and events of streams both pass through `findAudio`.
 */

/** Fields that hold the bytes of audio as text. */
const byteFields =
  /^(audio_?(data|content|base64|b64|bytes|hex|file)?|audios|speech|b64_json|base64|data)$/i;

/** Fields that hold bytes inside a field for audio. */
const innerFields = /^(content|bytes|value)$/i;

/** Fields that hold the URL of audio. */
const urlFields =
  /^((audio|file|speech|result|download|output)?_?urls?|audio_?(file|data|content)?|audios|speech|output|file|data|result)$/i;

const otherFields = notResults(/subtitle|voice|stream_?url$/i);

/** The shortest text in a field of an uncertain name that counts as bytes; shorter ones may be words or ids. */
const shortest = 64;

const isURL = (text: string): boolean => /^\s*https?:\/\//i.test(text);

type Read = (name: string, text: string) => boolean;

const isBytes: Read = (name, text) =>
  byteFields.test(name) &&
  !isURL(text) &&
  (/audio/i.test(name) || text.length >= shortest || /^\s*data:audio\//i.test(text));

const isAddress: Read = (name, text) => urlFields.test(name) && isURL(text);

function collect(value: unknown, name: string, read: Read, levels = deepestResult): string[] {
  if (typeof value === 'string') {
    const inner = parseNested(value);
    if (inner !== value && levels > 0) return collect(inner, name, read, levels - 1);
    return isText(value) && read(name, value) ? [value.trim()] : [];
  }
  if (levels === 0) return [];
  if (Array.isArray(value)) return value.flatMap((item) => collect(item, name, read, levels - 1));
  const fields = toFields(value);
  const { data, mimeType, mime_type = mimeType } = fields;
  // A part of a multimodal message, such as Gemini's `inlineData`.
  if (read === isBytes && isText(data) && isText(mime_type) && /^audio\//i.test(mime_type)) {
    return [/^\s*data:/i.test(data) ? data : `data:${mime_type};base64,${data.trim()}`];
  }
  return Object.entries(fields).flatMap(([key, inner]) => {
    if (otherFields.test(key)) return [];
    // In `audio: { data }`, the outer name is the certain one.
    const isInner = byteFields.test(key) || innerFields.test(key);
    const isNamed = /audio/i.test(name) && isInner && read === isBytes;
    return collect(inner, isNamed ? name : key, read, levels - 1);
  });
}

/** Returns the audio in a JSON response: its bytes as text, or else its URLs. */
export function findAudio(value: unknown): readonly string[] {
  // Frameworks send text as a JSON string.
  if (isText(value)) return isURL(value) || isBytes('data', value) ? [value.trim()] : [];
  if (!isObject(value)) return [];
  const bytes = collect(value, '', isBytes);
  return bytes.length > 0 ? bytes : collect(value, '', isAddress);
}

function decodePiece(text: string): Uint8Array<ArrayBuffer> | undefined {
  return isHex(text) ? decodeHex(text) : decodeBytes(text)?.bytes;
}

/** The object of events of sglang-omni. */
const chunkObject = 'audio.speech.chunk';

/**
 * Converts an event of MiniMax (`data.audio`, `data.status`), Alibaba (`output.audio`) or sglang-omni (`audio.data`) to
 * events of this API; none for any other.
 */
export function splitEvent(value: unknown): readonly JsonObject[] {
  const event = toFields(value);
  const data = toFields(event['data']);
  const output = toFields(event['output']);
  const isMiniMax = 'audio' in data || 'status' in data;
  const isChunk = event['object'] === chunkObject;
  const isOther = !isMiniMax && !isChunk && !('audio' in output);
  if (isOther || isText(event['type'])) return [];
  const [text] = findAudio(event);
  const reason = trimmedText((isChunk ? event : output)['finish_reason']);
  // The last event of MiniMax has all of the audio, which earlier ones have in part.
  const isWhole = data['status'] === 2;
  const isLast = isWhole || (reason !== undefined && reason !== 'null');
  const url = text !== undefined && isURL(text) ? text : undefined;
  const bytes = text === undefined || url !== undefined ? undefined : decodePiece(text);
  const audio = bytes && encodeBase64(bytes);
  const delta = { type: 'speech.audio.delta', audio: (isWhole ? undefined : audio) ?? '' };
  if (!isLast) return [delta];
  const whole = isWhole && audio !== undefined ? { audio } : {};
  return [delta, { type: 'speech.audio.done', ...whole, ...(url !== undefined && { url }) }];
}
