import { APIError } from '../errors/api-error.ts';
import { retryAfterFrom } from '../http/backoff.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type { PollResult } from '../tasks/observe.ts';
import { checkBaseURL, makeRef, nameTask } from '../tasks/task-ref.ts';
import { callbackError, summarize } from '../tasks/wait-errors.ts';
import type { VideoCreateAndWaitOptions, VideoWaitOptions } from '../tasks/wait-options.ts';
import { resolveWait } from '../tasks/wait-settings.ts';
import { waitForTask, type PollLimits, type WaitInput } from '../tasks/wait.ts';
import type { VideoTask, VideoTaskLike, VideoTaskRef } from '../types/videos.ts';
import { readTask } from './videos-read.ts';

/** The options of a wait that belong to each of its requests. */
function requestOptionsOf(options: VideoWaitOptions): RequestOptions {
  const { headers, query, fetchOptions, maxRetries, validation } = options;
  return { headers, query, fetchOptions, maxRetries, validation };
}

/** Reads the status of a task once. Never rejects. */
async function poll(
  transport: Transport,
  ref: VideoTaskRef,
  options: RequestOptions,
): Promise<PollResult> {
  try {
    const { id, route } = ref;
    const read = readTask(transport, () => ({ id, route, ref }), options);
    const { data, response } = await read.withResponse();
    return {
      task: data,
      retryAfter: retryAfterFrom(response.headers, response.status, Date.now()),
    };
  } catch (error) {
    if (!APIError.isInstance(error) || error.headers === undefined) return { error };
    return { error, retryAfter: retryAfterFrom(error.headers, error.status, Date.now()) };
  }
}

function waitForRef(
  transport: Transport,
  wait: Pick<WaitInput, 'ref' | 'isDated' | 'settings'>,
  options: VideoWaitOptions,
): Promise<VideoTask> {
  const { signal, onUpdate } = options;
  const request = requestOptionsOf(options);
  return waitForTask({
    ...wait,
    poll: (limits: PollLimits) => poll(transport, wait.ref, { ...request, ...limits }),
    signal,
    onUpdate,
  });
}

/** Waits for a task that exists. */
export async function waitFor(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoWaitOptions,
): Promise<VideoTask> {
  const settings = resolveWait(options);
  const { id, route, ref } = nameTask(task);
  const { baseURL } = transport;
  if (options.allowOtherBaseURL !== true) {
    checkBaseURL(ref, baseURL, 'Or set allowOtherBaseURL: true.');
  }
  const wanted = ref ?? makeRef({ id, route, baseURL, createdAt: Date.now() });
  return waitForRef(transport, { ref: wanted, isDated: ref !== undefined, settings }, options);
}

/** Submits a task once, hands its handle over, and waits for it. */
export async function submitAndWait(
  transport: Transport,
  submit: (options: RequestOptions) => Promise<VideoTask>,
  options: VideoCreateAndWaitOptions,
): Promise<VideoTask> {
  // Checked before anything is paid for.
  const settings = resolveWait(options);
  const { signal, extraBody } = options;
  const submitted = await submit({ ...requestOptionsOf(options), signal, extraBody });
  const { ref, status, raw_status: rawStatus } = submitted;
  try {
    await options.onSubmitted?.(ref);
  } catch (error) {
    const state = { polls: 0, errors: 0, missing: 0, status, rawStatus };
    throw callbackError('onSubmitted', summarize(ref, state, 0), error);
  }
  // A task that is said to have ended is looked at without the first pause.
  const isPending = status === 'queued' || status === 'in_progress';
  return waitForRef(transport, { ref, isDated: isPending, settings }, options);
}
