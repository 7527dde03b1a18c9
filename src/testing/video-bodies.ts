import type { JsonObject } from '../types/common.ts';
import { fileURL, type Call } from './call.ts';
import { present } from './json.ts';
import type { Quirks } from './quirks.ts';
import type { EmulatorVideo } from './video-tasks.ts';

/** A time in the unit of the quirk. */
function timeField(milliseconds: number, { videoTimes }: Quirks): number {
  return videoTimes === 'milliseconds' ? Math.floor(milliseconds) : Math.floor(milliseconds / 1000);
}

/** The fields that carry the task id. */
function idFields(video: EmulatorVideo, quirks: Quirks, isLater: boolean): JsonObject {
  const { id } = video;
  if (isLater && quirks.videoForeignId) return { id, task_id: video.innerId };
  switch (quirks.videoId) {
    case 'both':
      return { id, task_id: id };
    case 'data.task_id':
      return { data: { task_id: id } };
    case 'data.id':
      return { data: { id } };
    default:
      return { [quirks.videoId]: id };
  }
}

function progressField(progress: number, { videoProgress }: Quirks): number | string | undefined {
  if (videoProgress === 'missing') return undefined;
  return videoProgress === 'percent' ? `${progress}%` : progress;
}

function urlFields(call: Call, video: EmulatorVideo): JsonObject {
  const { videoUrl, videoUrlBefore } = call.world.quirks;
  const isCompleted = video.state === 'completed';
  if (videoUrl === 'missing' || (!isCompleted && videoUrlBefore === 'missing')) return {};
  const before = videoUrlBefore === 'empty' ? '' : 'The result is not there.';
  const url = isCompleted ? fileURL(call, video.filePath) : before;
  if (videoUrl === 'data-url') return { url: 'data:video/mp4;base64,AAAAIGZ0eXA=' };
  return videoUrl === 'metadata.url' ? { metadata: { url } } : { [videoUrl]: url };
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

/** The status word of a task, with the quirk and the fault of the call. */
function statusWord({ fault, world }: Call, { state }: EmulatorVideo): string {
  if (fault?.type === 'status-word') return fault.word;
  return world.quirks.videoWords[state] ?? state;
}

/** The body of a task on the `/v1/videos` routes. */
export function videoBody(call: Call, video: EmulatorVideo, isLater: boolean): unknown {
  const { quirks } = call.world;
  const status = statusWord(call, video);
  const ids = idFields(video, quirks, isLater);
  const ended = video.endedAt ?? (quirks.videoEarlyEnd ? call.world.clock.now() : undefined);
  const nested = quirks.videoNesting === 'data' && isLater;
  const body = present({
    ...ids,
    object: 'video',
    model: video.model,
    status: nested ? undefined : status,
    progress: progressField(video.progress, quirks),
    created_at: timeField(video.createdAt, quirks),
    completed_at: ended === undefined ? undefined : timeField(ended, quirks),
    seconds: video.seconds,
    size: video.size,
    remixed_from_video_id: video.remixedFrom,
    ...urlFields(call, video),
    ...failureFields(video, quirks),
  });
  return nested ? { ...body, data: { task_id: video.id, status } } : body;
}
