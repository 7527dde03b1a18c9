import type { Quirks } from '../../src/testing/index.ts';

/** Places of images in responses that are not the documented one; see `docs/wire.md`. */
const imagePlaces = [
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
  'message.audio',
  'inlineData',
  'events',
  'data-events',
  'chunk-events',
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
const videoIds = [
  'requestId',
  'generation_id',
  'jobId',
  'queue_id',
  'name',
  'Resp.video_id',
  'Response.JobId',
] as const satisfies readonly Quirks['videoId'][];

/** Places of the URL in a completed video task. */
const videoURLs = [
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
  'filtered',
] as const satisfies readonly Quirks['videoFailure'][];

/** Bodies of a 202 for a task that is not completed. */
const pendingBodies = [
  'empty',
  'null',
  'text',
  'page',
] as const satisfies readonly Quirks['taskPending'][];

/** Shapes of responses to image calls that name a task. */
const imageTaskShapes = [
  'list',
  'text',
  'object',
  'data',
  'accepted',
  'status-url',
  'polling-url',
  'task-info',
] as const satisfies readonly Quirks['imageTasks'][];

/** Statuses of a content route whose video is at the URL in its task. */
const contentStatuses = [
  403, 404, 405, 410, 500, 501, 502,
] as const satisfies readonly Quirks['contentStatus'][];

/** A gateway that delivers results in another way than the documented one. */
export interface Delivery {
  readonly name: string;
  readonly quirks: Partial<Quirks>;
}

function deliveries<Name extends keyof Quirks>(
  quirk: Name,
  values: readonly Quirks[Name][],
  others: Partial<Quirks> = {},
): Delivery[] {
  return values.map((value) => ({
    name: `${quirk} ${JSON.stringify(value)}`,
    quirks: { ...others, [quirk]: value },
  }));
}

/*
 * The table that every door runs: the client with `saveTo()` and `downloadVideo()`, the command line, the MCP server
 * and the AI SDK provider.
 */

/** Gateways whose images must arrive as PNG files, for one charge. */
export const imageDeliveries: readonly Delivery[] = [
  ...deliveries('imagePlace', imagePlaces),
  ...deliveries('imageEncoding', imageEncodings, { imageFormat: 'b64_json' }),
  ...deliveries('imageStream', ['result-always']),
  ...deliveries('imageTasks', imageTaskShapes),
  ...deliveries('taskPending', pendingBodies, { imageTasks: 'list' }),
  ...deliveries('taskRequest', [true], { imageTasks: 'data' }),
];

/** Gateways whose image tasks fail without a status of their own. */
export const imageFailures = deliveries('videoFailure', videoFailures, { imageTasks: 'list' });

/** A gateway that sends an error beside the images of a task. */
export const remarkedImage: Delivery = {
  name: 'taskRemark',
  quirks: { imageTasks: 'list', taskRemark: true },
};

/** Gateways whose speech must arrive as an MP3 file, for one charge. */
export const speechDeliveries = deliveries('speechPlace', speechPlaces);

/** Gateways whose videos must arrive as MP4 files, for one charge. */
export const videoDeliveries: readonly Delivery[] = [
  ...deliveries('videoUrl', videoURLs, { contentStatus: 403 }),
  ...deliveries('videoId', videoIds),
  ...deliveries('taskPending', pendingBodies),
  ...deliveries('contentStatus', contentStatuses),
  ...deliveries('taskRequest', [true], { contentStatus: 403, videoUrl: 'content.result_url' }),
];

/** The error that `taskRemark` sends beside a result. */
export const remark = 'Upscaling failed; the original size was sent.';

/** Returns the reason that a failure of a form must have. */
export const reasonFor = (form: Quirks['videoFailure'] | undefined, reason: RegExp): RegExp =>
  form === 'moderation' ? /moderation/ : reason;
