import { fileURL, type Call } from '../server/call.ts';
import { present, record } from '../control/json.ts';
import type { VideoState } from '../faults/quirks.ts';
import { videoBody } from './bodies.ts';
import type { EmulatorVideo } from './tasks.ts';
import { quirksFor } from './vendors.ts';

type Words = Readonly<Record<VideoState, string>>;

/** Status values in the gateway's own records. */
export const recordWords: Words = {
  unknown: 'NOT_START',
  queued: 'QUEUED',
  in_progress: 'IN_PROGRESS',
  completed: 'SUCCESS',
  failed: 'FAILURE',
};

const simpleWords: Words = {
  unknown: 'queued',
  queued: 'queued',
  in_progress: 'processing',
  completed: 'succeeded',
  failed: 'failed',
};

const nativeWords: Words = {
  unknown: 'submitted',
  queued: 'submitted',
  in_progress: 'processing',
  completed: 'succeed',
  failed: 'failed',
};

function wordFrom(words: Words, { fault, world }: Call, { state }: EmulatorVideo): string {
  if (fault?.type === 'status-word') return fault.word;
  return world.quirks.videoStatuses[state] ?? words[state];
}

const formatLength = ({ seconds }: EmulatorVideo): string => Number(seconds).toFixed(1);

/** Returns the URL of the result: at the vendor, or at the gateway if the vendor has none. */
function resultURL(call: Call, { id, filePath, model }: EmulatorVideo): string {
  const isBehind = quirksFor(call.world, model).videoUrl === 'missing';
  return isBehind ? `${call.url.origin}/v1/videos/${id}/content` : fileURL(call, filePath);
}

/** Returns the vendor's last response to the gateway: for Sora the task itself, for others in Kling's format. */
function lastAnswer(call: Call, video: EmulatorVideo): unknown {
  if (quirksFor(call.world, video.model).videoKeys === 'present') return nativeBody(call, video);
  const { id: _, ...body } = record(videoBody(call, video, true));
  return video.failure?.shownAs === 'no-status' ? body : { ...body, id: `video_${video.innerId}` };
}

/** Returns a response in Kling's format. */
function nativeBody(call: Call, video: EmulatorVideo) {
  const videos = [{ id: '1', url: resultURL(call, video), duration: formatLength(video) }];
  const ended = video.endedAt !== undefined;
  return {
    code: 0,
    message: 'SUCCEED',
    request_id: call.requestId,
    data: present({
      task_id: video.innerId,
      task_status: wordFrom(nativeWords, call, video),
      task_status_msg: video.failure?.message,
      task_info: {},
      task_result: ended ? (video.state === 'completed' ? { videos } : {}) : undefined,
      final_unit_deduction: video.state === 'completed' ? '1' : undefined,
      created_at: Math.floor(video.createdAt),
      updated_at: Math.floor(video.endedAt ?? video.createdAt),
    }),
  };
}

const inSeconds = (time: number | undefined): number => Math.floor((time ?? 0) / 1000);

/** Returns the gateway's own record of a task. */
function recordBody(call: Call, video: EmulatorVideo) {
  const { failure, model, state } = video;
  const shownReason =
    failure?.shownAs === 'no-status' ? 'upstream returned error' : failure?.message;
  const failReason = shownReason ?? '';
  const { videoUsage } = quirksFor(call.world, model);
  const usage = { completion_tokens: 1, total_tokens: 1 };
  return {
    id: 41,
    created_at: inSeconds(video.createdAt),
    updated_at: inSeconds(video.endedAt ?? video.createdAt),
    task_id: video.id,
    platform: '50',
    user_id: 7,
    group: 'default',
    channel_id: 3,
    quota: 120_000,
    action: 'textGenerate',
    status: wordFrom(recordWords, call, video),
    fail_reason: failReason,
    // Without a URL, the gateway stores the reason of the failure here.
    ...(video.endedAt === undefined
      ? {}
      : { result_url: state === 'completed' ? resultURL(call, video) : failReason }),
    submit_time: inSeconds(video.createdAt),
    start_time: state === 'unknown' ? 0 : inSeconds(video.createdAt),
    finish_time: inSeconds(video.endedAt),
    progress: `${video.progress}%`,
    properties: { input: '', upstream_model_name: model, origin_model_name: model },
    data: lastAnswer(call, video),
    ...(videoUsage && state === 'completed' ? { usage } : {}),
  };
}

function simpleBody(call: Call, video: EmulatorVideo): object {
  const failure = video.failure;
  return {
    task_id: video.id,
    status: wordFrom(simpleWords, call, video),
    url: video.state === 'completed' ? resultURL(call, video) : '',
    format: 'mp4',
    metadata: null,
    error: failure === undefined ? null : { code: 1301, message: failure.message },
  };
}

const wrapped = (data: unknown): unknown => ({ code: 'success', message: '', data });

/** Returns a record of an old build, which stored the URL in the field for failure reasons. */
function oldRecordBody(call: Call, video: EmulatorVideo): unknown {
  const body = recordBody(call, video);
  const isCompleted = video.state === 'completed';
  const address = isCompleted ? fileURL(call, video.filePath) : body.fail_reason;
  return { ...body, fail_reason: address, result_url: undefined };
}

/** Returns the body of a task on the vendor's status route. */
export function vendorBody(call: Call, video: EmulatorVideo): unknown {
  switch (quirksFor(call.world, video.model).vendorBody) {
    case 'task':
      return wrapped(recordBody(call, video));
    case 'old-task':
      return wrapped(oldRecordBody(call, video));
    case 'simple':
      return wrapped(simpleBody(call, video));
    case 'flat':
      return simpleBody(call, video);
    case 'native':
      return nativeBody(call, video);
    case 'null':
      return { code: 'success', data: null };
    case 'video':
      return videoBody(call, video, true);
  }
}
