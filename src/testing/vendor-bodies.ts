import { fileURL, type Call } from './call.ts';
import { present } from './json.ts';
import type { VideoState } from './quirks.ts';
import { videoBody } from './video-bodies.ts';
import type { EmulatorVideo } from './video-tasks.ts';

type Words = Readonly<Record<VideoState, string>>;

const recordWords: Words = {
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
  return world.quirks.videoWords[state] ?? words[state];
}

function nativeBody(call: Call, video: EmulatorVideo): unknown {
  const url = fileURL(call, video.filePath);
  const videos = [{ id: '1', url, duration: Number(video.seconds).toFixed(1) }];
  return {
    code: 0,
    message: 'SUCCEED',
    request_id: call.requestId,
    data: present({
      task_id: video.innerId,
      task_status: wordFrom(nativeWords, call, video),
      task_status_msg: video.failure?.message ?? '',
      task_result: video.state === 'completed' ? { videos } : undefined,
      created_at: Math.floor(video.createdAt),
      updated_at: Math.floor(video.endedAt ?? video.createdAt),
    }),
  };
}

const inSeconds = (time: number | undefined): number => Math.floor((time ?? 0) / 1000);

/** The gateway's own record of a task. */
function recordBody(call: Call, video: EmulatorVideo) {
  const failReason = video.failure?.message ?? '';
  const isCompleted = video.state === 'completed';
  return {
    id: 41,
    task_id: video.id,
    platform: '50',
    user_id: 7,
    group: 'default',
    channel_id: 3,
    quota: 120_000,
    action: 'textGenerate',
    status: wordFrom(recordWords, call, video),
    fail_reason: failReason,
    // Without an address the gateway puts the failure's reason here.
    result_url: isCompleted ? fileURL(call, video.filePath) : failReason,
    submit_time: inSeconds(video.createdAt),
    start_time: video.state === 'unknown' ? 0 : inSeconds(video.createdAt),
    finish_time: inSeconds(video.endedAt),
    progress: `${video.progress}%`,
    properties: { input: '', origin_model_name: video.model },
    data: video.state === 'unknown' ? null : nativeBody(call, video),
  };
}

function simpleBody(call: Call, video: EmulatorVideo): object {
  const failure = video.failure;
  return {
    task_id: video.id,
    status: wordFrom(simpleWords, call, video),
    url: video.state === 'completed' ? fileURL(call, video.filePath) : '',
    format: 'mp4',
    metadata: null,
    error: failure === undefined ? null : { code: 1301, message: failure.message },
  };
}

const wrapped = (data: unknown): unknown => ({ code: 'success', message: '', data });

/** A record of an old build, which kept the address where failures have their reason. */
function oldRecordBody(call: Call, video: EmulatorVideo): unknown {
  const body = recordBody(call, video);
  const isCompleted = video.state === 'completed';
  const address = isCompleted ? fileURL(call, video.filePath) : body.fail_reason;
  return { ...body, fail_reason: address, result_url: undefined };
}

/** The body of a task on the vendor's status route. */
export function vendorBody(call: Call, video: EmulatorVideo): unknown {
  switch (call.world.quirks.vendorBody) {
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
