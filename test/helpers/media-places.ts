import type { Quirks } from '../../src/testing/index.ts';

/** Places of images in responses that are not the documented one; see `docs/wire.md`. */
export const imagePlaces = [
  'images',
  'image-texts',
  'output.results',
  'message-content',
  'result.image',
  'artifacts',
  'data-texts',
  'message.images',
  'markdown',
  'inlineData',
  'predictions',
  'data.data',
  'data.image_urls',
  'data.images',
  'data.image_url',
  'file',
] as const satisfies readonly Quirks['imagePlace'][];

/** Forms of base64 besides the plain one. */
export const imageEncodings = [
  'data-url',
  'url-safe',
  'line-breaks',
  'no-padding',
] as const satisfies readonly Quirks['imageEncoding'][];

/** Places of speech that is not a file. */
export const speechPlaces = [
  'audio_data',
  'audio',
  'audio-hex',
  'data.audio',
  'output.audio.data',
  'output.audio.url',
  'events',
  'data-events',
] as const satisfies readonly Quirks['speechPlace'][];

/** Forms of transcripts besides the documented one. */
export const transcriptForms = [
  'json-string',
  'in-json',
  'doubled-json',
] as const satisfies readonly Quirks['transcriptForm'][];

/** Events of streamed transcripts that are not OpenAI's. */
export const transcriptStreams = [
  'vllm',
  'mistral',
  'text',
] as const satisfies readonly Quirks['transcriptStream'][];
