import type { Bytes } from './bytes.ts';
import { charge, fieldsOf, fileURL, invalid, modelOf, type Call, type Handler } from './call.ts';
import { contentRefusal, taskRefusal } from './errors.ts';
import type { Fields } from './fields.ts';
import { checkWords } from './markers.ts';
import { vendorBody } from './vendor-bodies.ts';
import { videoBody } from './video-bodies.ts';
import type { EmulatorVideo, VideoOrder } from './video-tasks.ts';

const defaultSeconds = '4';
const defaultSize = '1280x720';

function submitted(call: Call, order: VideoOrder): Response {
  const { ids, files, tasks, quirks } = call.world;
  const id = ids.next('task_');
  charge(call, order.model, Math.ceil(Number(order.seconds) * 1000), id);
  const bytes = (): Promise<Bytes> => tasks.content(id);
  const video = tasks.add(order, id, files.add('mp4', { type: 'video/mp4', bytes }));
  // The answer is made before the gateway's poller has looked at the task.
  const first: EmulatorVideo = { ...video, state: 'queued', progress: 0, endedAt: undefined };
  return Response.json(videoBody(call, first, false), {
    status: quirks.videoSubmitStatus,
    headers: {
      'x-new-api-other-ratios': JSON.stringify({ seconds: Number(order.seconds), size: 1 }),
    },
  });
}

/** The other name of the duration, which may be a number too. */
function durationOf(fields: Fields): string | undefined {
  const duration = fields.raw('duration');
  return typeof duration === 'number' ? String(duration) : fields.string('duration');
}

/** `POST /v1/videos`, as JSON or as a form. */
export const createVideo: Handler = (call) => {
  const fields = fieldsOf(call);
  const model = modelOf(call, fields.string('model'));
  const prompt = fields.string('prompt')?.trim() ?? '';
  if (prompt === '') throw taskRefusal(400, 'invalid_request', 'field prompt is required');
  checkWords(prompt);
  const seconds = fields.string('seconds') ?? durationOf(fields) ?? defaultSeconds;
  if (!(Number(seconds) > 0)) throw invalid(call, `invalid seconds "${seconds}"`);
  const size = fields.string('size') ?? defaultSize;
  if (!/^\d+[x*]\d+$|^\d+p$/i.test(size)) {
    throw taskRefusal(400, 'invalid_size', `size "${size}" is not supported`);
  }
  fields.string('input_reference');
  if (call.body.kind === 'json') fields.object('metadata');
  return submitted(call, { model, prompt, seconds, size });
};

function findTask(
  { world }: Call,
  id: string | undefined,
  message = 'task_not_exist',
): EmulatorVideo {
  const video = world.tasks.get(id ?? '');
  if (video === undefined) throw taskRefusal(400, 'task_not_exist', message);
  return video;
}

/** `POST /v1/videos/{video_id}/remix`. The model is that of the original task. */
export const remixVideo: Handler = (call) => {
  const fields = fieldsOf(call);
  const prompt = fields.string('prompt')?.trim() ?? '';
  if (prompt === '') throw taskRefusal(400, 'invalid_request', 'field prompt is required');
  checkWords(prompt);
  const original = findTask(call, call.parameters['video_id'], 'task_origin_not_exist');
  const { model, seconds, size, id } = original;
  const remixedFrom = call.world.quirks.videoRemix === 'version' ? id : undefined;
  return submitted(call, { model, prompt, seconds, size, remixedFrom });
};

/** `GET /v1/videos/{task_id}`. */
export const retrieveVideo: Handler = (call) =>
  Response.json(videoBody(call, findTask(call, call.parameters['task_id']), true));

/** `GET /{vendor_prefix}/v1/videos/text2video/{task_id}`. */
export const retrieveVendorVideo: Handler = (call) =>
  Response.json(vendorBody(call, findTask(call, call.parameters['task_id'])));

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The bytes that a `Range` header asks for; nothing when there is none that can be given. */
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
  const video = tasks.get(call.parameters['task_id'] ?? '');
  if (video === undefined) throw contentRefusal(404, 'Task not found');
  if (video.state !== 'completed') {
    const status = video.state === 'unknown' ? 'NOT_START' : video.state.toUpperCase();
    throw contentRefusal(400, `Task is not completed yet, current status: ${status}`);
  }
  if (video.expired || call.fault?.type === 'expired-content') {
    throw contentRefusal(410, 'video result has expired');
  }
  if (quirks.contentDelivery === 'redirect') {
    const location = fileURL(call, video.filePath, 'other');
    return new Response(null, { status: 302, headers: { location, 'cache-control': 'no-store' } });
  }
  const whole = await tasks.content(video.id);
  const headers = new Headers({
    'content-type': quirks.contentType,
    'cache-control': 'public, max-age=86400',
    'accept-ranges': 'bytes',
    etag: `"${video.id}"`,
  });
  const wanted = call.request.headers.get('range');
  const range = quirks.contentRange === 'honoured' ? readRange(wanted, whole.length) : undefined;
  if (range !== undefined && range.start >= range.end) {
    return new Response(null, {
      status: 416,
      headers: { 'content-range': `bytes */${whole.length}` },
    });
  }
  const bytes = range === undefined ? whole : whole.slice(range.start, range.end);
  if (range !== undefined) {
    headers.set('content-range', `bytes ${range.start}-${range.end - 1}/${whole.length}`);
  }
  if (quirks.contentLength) headers.set('content-length', String(bytes.length));
  return new Response(bytes, { status: range === undefined ? 200 : 206, headers });
};
