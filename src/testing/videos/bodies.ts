import type { JsonObject } from '../../types.ts';
import { costField, fileURL, type Call } from '../server/call.ts';
import { present } from '../control/json.ts';
import { failureInside, fieldsBeside } from '../control/task-ends.ts';
import type { Quirks } from '../faults/quirks.ts';
import type { EmulatorVideo } from './tasks.ts';
import { quirksFor } from './vendors.ts';

/** Formats a time in the unit of the quirk. */
function timeField(milliseconds: number, { videoTimes }: Quirks, isLater: boolean): number {
  const isFine = videoTimes === 'milliseconds' || (videoTimes !== 'seconds' && isLater);
  return Math.floor(isFine ? milliseconds : milliseconds / 1000);
}

/** Returns the fields with the task id. */
function idFields(video: EmulatorVideo, quirks: Quirks, isLater: boolean): JsonObject {
  const { id } = video;
  if (isLater && submissionIds.has(quirks.videoId)) return { id };
  if (isLater && quirks.videoForeignId) return { id, task_id: video.innerId };
  switch (quirks.videoId) {
    case 'both':
      return isLater ? { id } : { id, task_id: id };
    case 'both-always':
      return { id, task_id: id };
    case 'data.task_id':
      return { data: { task_id: id } };
    case 'data.id':
      return { data: { id } };
    case 'name':
      return { name: `operations/${id}` };
    case 'Resp.video_id':
      return { ErrCode: 0, ErrMsg: 'success', Resp: { video_id: id } };
    case 'Response.JobId':
      return { Response: { JobId: id, RequestId: 'r-1' } };
    default:
      return { [quirks.videoId]: id };
  }
}

/** Ids of submissions alone. Later responses have `id`. */
const submissionIds: ReadonlySet<Quirks['videoId']> = new Set([
  'requestId',
  'generation_id',
  'jobId',
  'queue_id',
  'name',
  'Resp.video_id',
  'Response.JobId',
]);

function progressField(progress: number, { videoProgress }: Quirks): number | string | undefined {
  if (videoProgress === 'missing') return undefined;
  return videoProgress === 'percent' ? `${progress}%` : progress;
}

function urlFields(call: Call, video: EmulatorVideo, quirks: Quirks): JsonObject {
  const { videoUrl, videoUrlBefore } = quirks;
  const isCompleted = video.state === 'completed';
  if (videoUrl === 'missing' || (!isCompleted && videoUrlBefore === 'missing')) return {};
  const reason = videoUrlBefore === 'reason' ? video.failure?.message : undefined;
  const before = videoUrlBefore === 'sentence' ? 'The result is not there.' : (reason ?? '');
  const url = isCompleted ? fileURL(call, video.filePath) : before;
  if (videoUrl === 'data-url') return { url: 'data:video/mp4;base64,AAAAIGZ0eXA=' };
  switch (videoUrl) {
    case 'metadata.url':
      return { metadata: { url } };
    case 'result.videos':
      return { result: { videos: [{ url: [url] }] } };
    case 'results.videos':
      return { results: { videos: [{ url }] } };
    case 'video_result':
      return { video_result: [{ cover_image_url: '', url }] };
    case 'assets.video':
      return { assets: { video: url } };
    case 'output.works':
      return { output: { works: [{ video: { resource: url } }] } };
    case 'content.result_url':
      return { content: { result_url: url } };
    default:
      return { [videoUrl]: url };
  }
}

function failureFields({ failure, state }: EmulatorVideo, { videoError }: Quirks): JsonObject {
  if (videoError === 'always' && failure === undefined && state !== 'completed') {
    return { error: { message: 'The vendor has not answered yet.', code: 10_001 } };
  }
  if (state !== 'failed' || failure === undefined) return {};
  const { message, code } = failure;
  switch (videoError) {
    case 'object':
    case 'always':
      return { error: { message, code } };
    case 'numeric-code':
      return { error: { message, code: 1301 } };
    case 'string':
      return { error: message };
    case 'fail_reason':
      return { fail_reason: message };
    case 'null':
      return { error: null };
    case 'missing':
      return {};
  }
}

function lengthFields(
  { seconds, size, state }: EmulatorVideo,
  { videoLength }: Quirks,
): JsonObject {
  if (videoLength === 'always') return { seconds, size };
  if (videoLength === 'missing' || state !== 'completed') return {};
  return { seconds: Number(seconds).toFixed(1) };
}

const generation = 'gen_';

/** The id of the content of a task, if it is another one. */
const generationId = (id: string): string => `${generation}${id}`;

/** Returns the task whose content has an id. */
export const taskOfContent = (id: string, { videoContentId }: Quirks): string => {
  if (videoContentId === 'task') return id;
  return id.startsWith(generation) ? id.slice(generation.length) : '';
};

/** Returns the fields that only responses after the submission have. */
function laterFields(call: Call, video: EmulatorVideo, quirks: Quirks): JsonObject {
  const isCompleted = video.state === 'completed';
  const ended = quirks.videoEarlyEnd ? (video.endedAt ?? call.world.clock.now()) : video.endedAt;
  const end = ended === undefined ? undefined : timeField(ended, quirks, true);
  const { ledger } = call.world;
  const charged = ledger.charges.find(({ taskId }) => taskId === video.id)?.amount ?? 0;
  const tokens = quirks.videoUsage ? { completion_tokens: 1, total_tokens: 1 } : {};
  const usage = { ...tokens, ...costField(charged, quirks) };
  const fields = {
    completed_at: end,
    ...urlFields(call, video, quirks),
    ...failureFields(video, quirks),
    ...(isCompleted ? fieldsBeside(quirks) : {}),
    ...(isCompleted && quirks.videoContentId === 'generation'
      ? { generations: [{ id: generationId(video.id), job_id: video.id }] }
      : {}),
    ...(Object.keys(usage).length > 0 && isCompleted ? { usage } : {}),
  };
  if (quirks.videoKeys === 'present') return fields;
  const known = isCompleted ? end : undefined;
  return {
    error: null,
    prompt: video.prompt,
    remixed_from_video_id: null,
    ...fields,
    completed_at: known ?? null,
    expires_at: known === undefined ? null : known + 3600,
  };
}

/** Returns the body of a task on the `/v1/videos` routes. */
export function videoBody(call: Call, video: EmulatorVideo, isLater: boolean): unknown {
  const quirks = quirksFor(call.world, video.model);
  const { failure } = video;
  if (failure?.shownAs === 'no-status') {
    const { message, code, type = 'server_error' } = failure;
    return { error: { code, message, param: null, type }, id: video.id };
  }
  const isUnknown = failure?.shownAs === 'unknown';
  // The response to a submission is the gateway's own, before it has a status from the vendor.
  const words = isLater ? quirks.videoStatuses : call.world.quirks.videoStatuses;
  const word = isUnknown ? 'unknown' : (words[video.state] ?? video.state);
  const status = call.fault?.type === 'status-word' ? call.fault.word : word;
  const isFailed = isLater && video.state === 'failed' && failure !== undefined;
  const inside = isFailed ? failureInside(quirks.videoFailure, failure, 'video') : undefined;
  if (inside !== undefined) {
    return { ...idFields(video, quirks, true), object: 'video', model: video.model, ...inside };
  }
  const isNested = quirks.videoNesting === 'data' && isLater;
  const isOwn = !isLater && submissionIds.has(quirks.videoId);
  const body = present({
    ...idFields(video, quirks, isLater),
    object: isOwn ? undefined : 'video',
    model: isLater && quirks.videoModel === 'empty' ? '' : video.model,
    status: isNested ? undefined : status,
    progress: progressField(isUnknown ? 0 : video.progress, quirks),
    created_at: timeField(video.createdAt, quirks, isLater),
    remixed_from_video_id: video.remixedFrom,
    ...lengthFields(video, quirks),
    ...(isLater
      ? laterFields(call, isUnknown ? { ...video, state: 'unknown' } : video, quirks)
      : {}),
  });
  return isNested ? { ...body, data: { task_id: video.id, status } } : body;
}
