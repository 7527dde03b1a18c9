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

/** Places of the task id in the response to a submission. */
export const videoIds = [
  'requestId',
  'generation_id',
  'jobId',
  'queue_id',
  'name',
  'Resp.video_id',
  'Response.JobId',
] as const satisfies readonly Quirks['videoId'][];

/** Places of the URL in a completed video task. */
export const videoURLs = [
  'result.videos',
  'results.videos',
  'video_result',
  'assets.video',
  'output.works',
  'content.result_url',
] as const satisfies readonly Quirks['videoUrl'][];

/** Failures of video tasks without a status of their own. */
export const videoFailures = [
  'error-inside',
  'text-inside',
  'moderation',
  'success-flag',
] as const satisfies readonly Quirks['videoFailure'][];

/** Bodies of a 202 for a task that is not completed. */
export const pendingBodies = [
  'empty',
  'null',
  'text',
  'page',
] as const satisfies readonly Quirks['taskPending'][];
