import type { Bytes } from '../media/bytes.ts';
import {
  charge,
  readFields,
  fileURL,
  invalid,
  checkModelName,
  type Call,
  type Handler,
} from '../server/call.ts';
import { pendingResponse } from '../control/pending.ts';
import { endFile } from '../control/task-ends.ts';
import { contentRefusal, routingRefusal, taskRefusal } from '../server/errors.ts';
import type { Fields } from '../server/fields.ts';
import { jsonType, record } from '../control/json.ts';
import { checkWords } from '../routes/prompts.ts';
import { recordWords, vendorBody } from './vendor-bodies.ts';
import { taskOfContent, videoBody } from './bodies.ts';
import type { EmulatorVideo, VideoOrder } from './tasks.ts';
import { findChannel, quirksFor, type VideoChannel } from './vendors.ts';

type Ratios = ReturnType<VideoChannel['ratios']>;

/** Returns the usage log's description of a video's price: the ratios other than 1. */
function priceText(ratios: Ratios): string {
  const factors = Object.entries(ratios).filter(([, ratio]) => ratio !== 1);
  const parts = factors.map(([name, ratio]) => `${name}: ${ratio.toFixed(2)}`);
  return ['操作 textGenerate', ...(parts.length > 0 ? [`计算参数：${parts.join(', ')}`] : [])].join(
    ', ',
  );
}

/** Charges for a video and creates its task. */
export function submitVideo(call: Call, order: VideoOrder, billed: string) {
  const { ids, files, tasks } = call.world;
  const id = ids.next('task_');
  const ratios = findChannel(call.world, order.model).ratios(Number(billed), order.size);
  const product = Object.values(ratios).reduce((factor, ratio) => factor * ratio, 1);
  charge(call, order.model, Math.floor(1000 * product), {
    taskId: id,
    content: priceText(ratios),
  });
  const bytes = (): Promise<Bytes> => tasks.content(id);
  const isExpired = (): boolean => tasks.get(id)?.expired === true;
  const video = tasks.add(order, id, files.add('mp4', { type: 'video/mp4', bytes, isExpired }));
  return { video, ratios };
}

function submitted(call: Call, order: VideoOrder, billed: string): Response {
  const { video, ratios } = submitVideo(call, order, billed);
  // The response is created before the gateway's poller has checked the task.
  const first: EmulatorVideo = { ...video, state: 'queued', progress: 0, endedAt: undefined };
  return Response.json(videoBody(call, { ...first, failure: undefined }, false), {
    status: call.world.quirks.videoSubmitStatus,
    headers: { 'x-new-api-other-ratios': JSON.stringify(ratios) },
  });
}

/** Reads the duration under either name: the value for the vendor, and the requested one. */
function readDuration(call: Call, fields: Fields, channel: VideoChannel, model: string) {
  const isJson = call.body.kind === 'json';
  const isIgnored = isJson && quirksFor(call.world, model).videoJsonSeconds === 'ignored';
  const textOrNumber = (name: string): string | undefined => {
    const value = fields.raw(name);
    return typeof value === 'number' ? String(value) : fields.string(name);
  };
  const duration = textOrNumber('duration');
  const seconds = isIgnored ? textOrNumber('seconds') : fields.string('seconds');
  const requested = seconds ?? duration ?? channel.seconds;
  if (!(Number(requested) > 0)) throw invalid(call, `invalid seconds "${requested}"`);
  return { seconds: isIgnored ? (duration ?? channel.seconds) : requested, requested };
}

/** Checks `metadata`, an object or, in a form, JSON text; ignores other values. */
function checkMetadata(fields: Fields, { metadata }: VideoChannel): void {
  const sent = record(fields.parsed('metadata'));
  for (const [name, type] of Object.entries(metadata)) {
    const value = sent[name] ?? undefined;
    if (value === undefined || jsonType(value) === type) continue;
    const message = `unmarshal metadata failed: cannot unmarshal ${jsonType(value)} into field ${name} of type ${type}`;
    throw taskRefusal(500, 'build_request_failed', message);
  }
}

/** `POST /v1/videos`, as JSON or as a form. */
const createVideo: Handler = (call) => {
  const fields = readFields(call);
  const model = checkModelName(call, fields.string('model'));
  const channel = findChannel(call.world, model);
  const duration = typeof (fields.raw('duration') ?? 0);
  if (channel.needsContent && (call.body.kind !== 'json' || duration !== 'number')) {
    throw routingRefusal(400, 'invalid_asset_request', 'invalid asset request');
  }
  const prompt = fields.string('prompt')?.trim() ?? '';
  if (prompt === '') throw taskRefusal(400, 'invalid_request', 'field prompt is required');
  checkWords(prompt);
  if (channel.needsContent && fields.list('content') === undefined) {
    throw taskRefusal(400, 'invalid_request', 'request requires a text prompt or an asset');
  }
  const { seconds, requested } = readDuration(call, fields, channel, model);
  const size = fields.string('size') ?? channel.size;
  if (!channel.sizes.test(size)) {
    const isOwn = channel.sizeCode === 'invalid_size';
    throw taskRefusal(isOwn ? 400 : 500, channel.sizeCode, `size "${size}" is not supported`);
  }
  fields.string('input_reference');
  checkMetadata(fields, channel);
  const uploaded = fields.files.length > 0 && channel.reads.includes('file') ? ['file'] : [];
  const named = channel.reads.filter((name) => fields.raw(name) !== undefined);
  const order = { model, prompt, seconds, size, references: [...named, ...uploaded] };
  return submitted(call, order, channel.billsUnread ? requested : seconds);
};

function found(video: EmulatorVideo | undefined, message = 'task_not_exist'): EmulatorVideo {
  if (video === undefined) throw taskRefusal(400, 'task_not_exist', message);
  return video;
}

/** `POST /v1/videos/{video_id}/remix`. Uses the model of the original task. */
const remixVideo: Handler = (call) => {
  const { tasks } = call.world;
  const fields = readFields(call);
  const prompt = fields.string('prompt')?.trim() ?? '';
  if (prompt === '') throw taskRefusal(400, 'invalid_request', 'field prompt is required');
  checkWords(prompt);
  const original = found(tasks.get(call.parameters['video_id'] ?? ''), 'task_origin_not_exist');
  const { model, seconds, size, id } = original;
  const { videoRemix } = quirksFor(call.world, model);
  if (videoRemix === 'not-found') {
    throw taskRefusal(404, 'fail_to_fetch_task', `Video with id '${id}' not found.`);
  }
  const remixedFrom = videoRemix === 'version' ? id : undefined;
  return submitted(call, { model, prompt, seconds, size, references: [], remixedFrom }, seconds);
};

/** `GET /v1/videos/{task_id}`, or `POST` with the id in the body. */
const retrieveVideo: Handler = (call) => {
  const named = call.parameters['task_id'] ?? readFields(call).string('task_id') ?? '';
  const id = named.replace(/^operations\//, '');
  const video = found(call.world.tasks.poll(id));
  const isPending = video.state !== 'completed' && video.state !== 'failed';
  const accepted = isPending ? pendingResponse(call.world.quirks) : undefined;
  return accepted ?? Response.json(videoBody(call, video, true));
};

/** `GET /{vendor_prefix}/v1/videos/text2video/{task_id}`. */
const retrieveVendorVideo: Handler = (call) =>
  Response.json(vendorBody(call, found(call.world.tasks.get(call.parameters['task_id'] ?? ''))));

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Returns the range of a `Range` header; `undefined` if it is missing or unsatisfiable. */
function readRange(header: string | null, size: number): Range | undefined {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1);
  return { start, end };
}

/** `GET /v1/videos/{task_id}/content`. */
export const downloadVideo: Handler = async (call) => {
  const { quirks, tasks } = call.world;
  if (!tasks.mayDownload()) return new Response(null, { status: 429 });
  const video = tasks.get(taskOfContent(call.parameters['task_id'] ?? '', quirks));
  if (video === undefined) throw contentRefusal(404, 'Task not found');
  if (video.state !== 'completed') {
    const status = recordWords[video.state];
    throw contentRefusal(400, `Task is not completed yet, current status: ${status}`);
  }
  if (video.expired || call.fault?.type === 'expired-content') {
    throw contentRefusal(410, 'video result has expired');
  }
  if (quirks.contentStatus !== 200) {
    throw contentRefusal(quirks.contentStatus, 'domain not in whitelist');
  }
  if (quirks.contentDelivery === 'redirect') {
    const location = fileURL(call, video.filePath, 'other');
    return new Response(null, { status: 302, headers: { location, 'cache-control': 'no-store' } });
  }
  const whole = await tasks.content(video.id);
  const headers = new Headers({
    'content-type': quirks.contentType,
    'cache-control': 'public, max-age=86400',
  });
  if (findChannel(call.world, video.model).hasContentAddress) {
    headers.set('accept-ranges', 'bytes');
    headers.set('etag', `"${video.id}"`);
    headers.set('last-modified', new Date(video.createdAt).toUTCString());
  }
  const wanted = call.request.headers.get('range');
  const range = quirks.contentRange === 'honoured' ? readRange(wanted, whole.length) : undefined;
  if (range !== undefined && range.start >= range.end) {
    return new Response(null, {
      status: 416,
      headers: { 'content-range': `bytes */${whole.length}` },
    });
  }
  const bytes = range === undefined ? endFile(whole, quirks) : whole.slice(range.start, range.end);
  if (range !== undefined) {
    headers.set('content-range', `bytes ${range.start}-${range.end - 1}/${whole.length}`);
  }
  if (quirks.contentLength && quirks.fileEnd === 'whole')
    headers.set('content-length', String(bytes.length));
  return new Response(bytes, { status: range === undefined ? 200 : 206, headers });
};

export const videoHandlers = {
  'videos.create': createVideo,
  'videos.retrieve': retrieveVideo,
  'videos.downloadContent': downloadVideo,
  'videos.remix': remixVideo,
  'videos.retrieveFromVendor': retrieveVendorVideo,
};
