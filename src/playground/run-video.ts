import { setTimeout } from 'node:timers/promises';
import type {
  Gateway,
  VideoCreateParams,
  VideoTask,
  VideoTaskRef,
  VideoWaitState,
} from '../index.ts';
import type { LiveCall } from './live-call.ts';

/** How a video call reaches what others know. */
export interface VideoContext {
  /** The task of the call that is remixed. */
  readonly original: VideoTaskRef | undefined;
  /** Told of a task before it is first asked about. */
  readonly onSubmitted: (ref: VideoTaskRef) => Promise<void>;
  /** The pause between looks at a task, in milliseconds; the client's own rule when there is none. */
  readonly interval: number | undefined;
}

/** A new task is not looked at sooner, in milliseconds. */
const firstPause = 5_000;

const progressOf = (value: number | null | undefined): { progress?: number } =>
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
  call.set({ video: { ref, status, ...progressOf(progress), polls: 0 } });
  // The task is paid for: it is written down before anything else can go wrong.
  await call.trySave();
  await context.onSubmitted(ref);
  await waitForVideo(call, gateway, context, true);
}

/** Goes on with a task that was submitted. Free. */
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
  let known = video;
  let pause = isNew ? (interval ?? firstPause) : 0;
  for (let state: VideoWaitState | undefined; ;) {
    known = { ...known, nextPoll: Date.now() + pause };
    call.set({ video: known });
    // An abort is told by the step.
    await setTimeout(pause, undefined, { signal }).catch(() => {});
    const options = { signal, ...(interval === undefined ? {} : { interval }) };
    const step = await gateway.videos.step(ref, state, options);
    state = step.state;
    const { status = known.status, progress, polls } = state;
    const { pollError } = step;
    const stumble = pollError instanceof Error ? { stumble: pollError.message } : {};
    known = { ref, status, polls, ...progressOf(progress), ...stumble };
    call.set({ video: known });
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
  const stated = (answer.headers.get('content-type') ?? '').split(';')[0] ?? '';
  await call.keep('video.mp4', stated.startsWith('video/') ? stated : 'video/mp4', bytes);
}
