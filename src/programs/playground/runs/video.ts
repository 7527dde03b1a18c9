import { setTimeout } from 'node:timers/promises';
import type {
  Gateway,
  VideoCreateParams,
  VideoTask,
  VideoTaskRef,
  VideoWaitState,
} from '../../../index.ts';
import type { LiveCall } from '../live-call.ts';

/** The input of a video call besides its parameters. */
export interface VideoContext {
  /** The task to remix. */
  readonly original: VideoTaskRef | undefined;
  /** Called with a task before its first poll. */
  readonly onSubmitted: (ref: VideoTaskRef) => Promise<void>;
  /** Time between polls, in milliseconds; `undefined` for the client's default. */
  readonly interval: number | undefined;
}

/** Time until the first poll of a new task, in milliseconds. */
const firstPause = 5_000;

const roundProgress = (value: number | null | undefined): { progress?: number } =>
  value == null ? {} : { progress: Math.round(value) };

async function submit(
  call: LiveCall,
  gateway: Gateway,
  { original }: VideoContext,
): Promise<VideoTask> {
  const { signal, id: callId } = call;
  const params: VideoCreateParams = call.params;
  if (original !== undefined) {
    return gateway.videos.remix(original, { prompt: params.prompt }, { signal, callId });
  }
  const [reference] = call.files.get('input_reference') ?? [];
  return gateway.videos.create(
    { ...params, ...(reference === undefined ? {} : { input_reference: reference }) },
    { signal, callId },
  );
}

/** Submits a video once, and waits for it. */
export async function runVideo(
  call: LiveCall,
  gateway: Gateway,
  context: VideoContext,
): Promise<void> {
  const { ref, status, progress, _request_id: requestId } = await submit(call, gateway, context);
  if (requestId != null) call.set({ requestId });
  call.set({ video: { ref, status, ...roundProgress(progress), polls: 0 } });
  // The task is paid for, so store it first.
  await call.trySave();
  await context.onSubmitted(ref);
  await waitForVideo(call, gateway, context, true);
}

/** Waits for a submitted task. Free. */
export async function waitForVideo(
  call: LiveCall,
  gateway: Gateway,
  { interval }: Pick<VideoContext, 'interval'>,
  isNew: boolean,
): Promise<void> {
  const { signal } = call;
  const { video } = call.view;
  if (video === undefined) throw new Error('The call has no task');
  const { ref } = video;
  let current = video;
  let pause = isNew ? (interval ?? firstPause) : 0;
  for (let state: VideoWaitState | undefined; ;) {
    current = { ...current, nextPoll: Date.now() + pause };
    call.set({ video: current });
    // step() throws after an abort.
    await setTimeout(pause, undefined, { signal }).catch(() => {});
    const options = { signal, ...(interval === undefined ? {} : { interval }) };
    const step = await gateway.videos.step(ref, state, options);
    state = step.state;
    const { status = current.status, progress, polls } = state;
    const { pollError } = step;
    const failure = pollError instanceof Error ? { pollError: pollError.message } : {};
    current = { ref, status, polls, ...roundProgress(progress), ...failure };
    call.set({ video: current });
    if ('error' in step.next) throw step.next.error;
    if ('video' in step.next) break;
    pause = step.next.delayMs;
  }
  await fetchVideo(call, gateway);
}

async function fetchVideo(call: LiveCall, gateway: Gateway): Promise<void> {
  const { video, files } = call.view;
  if (video === undefined || files.length > 0) return;
  const answer = await gateway.videos.downloadContent(video.ref, { signal: call.signal });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const contentType = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
  await call.keep('video.mp4', contentType.startsWith('video/') ? contentType : 'video/mp4', bytes);
}
