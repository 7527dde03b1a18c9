import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4OperationStatusResult as StatusResult,
  Experimental_VideoModelV4VideoData as VideoData,
  JSONObject,
  JSONValue,
} from '@ai-sdk/provider';
import {
  APIError,
  ContentUnavailableError,
  InvalidInputError,
  parseVideoTaskRef,
  usageOf,
  VideoFailedError,
  type Gateway,
  type RequestOptions,
  type VideoTask,
  type VideoTaskRef,
  type VideoWaitState,
} from '../../index.ts';
import { isAbort, errorMessage, toAISDKError } from './errors.ts';
import { providerName, toHeaders } from './options.ts';
import type { VideoSettings } from './video-start.ts';

/** Maximum number of tasks to remember. Polling a forgotten task starts a new wait. */
const maxWaits = 1000;

/** Number of polls in which the download of a completed task may fail. Each poll has the retries of the client. */
const maxFailedDownloads = 3;

/** Time after which a completed task without content is given up, in seconds. */
const maxContentDelay = 300;

/** State of tasks between polls. */
export class VideoWaits {
  readonly #states = new Map<string, VideoWaitState>();
  readonly #failedDownloads = new Map<string, number>();

  get(id: string): VideoWaitState | undefined {
    return this.#states.get(id);
  }

  set(id: string, state: VideoWaitState): void {
    remember(this.#states, id, state);
  }

  delete(id: string): void {
    this.#states.delete(id);
  }

  /** Counts a failed download. Returns `true` if the content of the task is given up. */
  endsAfterFailure({ id, completed_at: completedAt }: VideoTask): boolean {
    const count = (this.#failedDownloads.get(id) ?? 0) + 1;
    remember(this.#failedDownloads, id, count);
    // Another process may have counted the failures before.
    const age = completedAt == null ? 0 : Date.now() / 1_000 - completedAt;
    return count >= maxFailedDownloads || age > maxContentDelay;
  }
}

/** Sets the newest entry of a map, and removes the oldest one if there are too many. */
function remember<Value>(map: Map<string, Value>, id: string, value: Value): void {
  map.delete(id);
  map.set(id, value);
  const [oldest] = map.keys();
  if (map.size > maxWaits && oldest !== undefined) map.delete(oldest);
}

type StatusOptions = Parameters<NonNullable<VideoModelV4['doStatus']>>[0];

/** The status of a task. */
type TaskStatus =
  | { readonly status: 'pending'; readonly details: JSONObject }
  | { readonly status: 'completed'; readonly task: VideoTask }
  | { readonly status: 'failed'; readonly error: VideoFailedError };

/** Polls tasks, each once. */
class Poller {
  readonly #client: Gateway;
  readonly #settings: VideoSettings;
  readonly #waits: VideoWaits;
  readonly #request: Pick<RequestOptions, 'signal' | 'headers'>;

  constructor(client: Gateway, settings: VideoSettings, waits: VideoWaits, options: StatusOptions) {
    const { headers = {}, abortSignal: signal } = options;
    const kept = Object.entries(headers).filter(([name]) => !/^idempotency-key$/i.test(name));
    this.#client = client;
    this.#settings = settings;
    this.#waits = waits;
    this.#request = { signal, headers: Object.fromEntries(kept) };
  }

  /**
   * Polls a task. Throws only permanent errors, because any error ends `generateVideo`; after a transient
   * one the task is still pending.
   */
  async ask(ref: VideoTaskRef): Promise<TaskStatus> {
    const { state, next, task, pollError } = await this.#step(ref);
    if ('video' in next) {
      await this.#end(ref, 'completed');
      return { status: 'completed', task: next.video };
    }
    if ('error' in next) {
      if (!VideoFailedError.isInstance(next.error)) throw next.error;
      await this.#end(ref, 'failed');
      return { status: 'failed', error: next.error };
    }
    this.#waits.set(ref.id, state);
    const { status = 'queued', progress } = task ?? state;
    const problem = pollError === undefined ? {} : { problem: errorMessage(pollError) };
    return { status: 'pending', details: { id: ref.id, status, progress, ...problem } };
  }

  /** Polls once, and again if the task seems to have failed, because a single poll may be wrong. */
  async #step(ref: VideoTaskRef) {
    // The AI SDK limits the time to wait, and with it the number of failed polls.
    const options = { ...this.#request, timeout: null, maxConsecutiveErrors: 1000 };
    const first = await this.#client.videos.step(ref, this.#waits.get(ref.id), options);
    if (first.state.status !== 'failed' || !('delayMs' in first.next)) return first;
    await pause(first.next.earliestMs, this.#request.signal ?? undefined);
    return this.#client.videos.step(ref, first.state, options);
  }

  async #end(ref: VideoTaskRef, end: 'completed' | 'failed'): Promise<void> {
    this.#waits.delete(ref.id);
    try {
      if (ref.callId !== undefined) await this.#settings.ledger?.finish(ref.callId, end);
    } catch {
      // If recording fails, the call is only polled again, and never resubmitted.
    }
  }

  /**
   * Downloads a video.
   *
   * @throws `ContentUnavailableError` if later polls will fail too
   */
  async download(task: VideoTask): Promise<{ video: VideoData; response: Response }> {
    try {
      return await this.#download(task);
    } catch (error) {
      if (!isMissing(error) || !this.#waits.endsAfterFailure(task)) throw error;
      throw withoutContent(this.#client, task, error);
    }
  }

  /** Downloads a video, retrying if the body is cut off: it is paid for, and reading it is free. */
  async #download(task: VideoTask): Promise<{ video: VideoData; response: Response }> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#client.videos.downloadContent(task, this.#request);
      try {
        const data = new Uint8Array(await response.arrayBuffer());
        const type = response.headers.get('content-type') ?? '';
        const mediaType = /^video\/[\w-]+/.exec(type)?.[0] ?? 'video/mp4';
        return { video: { type: 'binary', data, mediaType }, response };
      } catch (error) {
        if (attempt === 3 || !passes(error)) throw error;
      }
    }
  }
}

/** Returns whether the content route answered that it has no content, or failed. */
const isMissing = (error: unknown): error is APIError =>
  APIError.isInstance(error) &&
  !ContentUnavailableError.isInstance(error) &&
  error.status !== undefined &&
  (error.status === 404 || error.status >= 500 || error.status < 300);

/** Creates the error for a completed task whose content no route returns. */
function withoutContent(
  { apiKey }: Gateway,
  { id, url }: VideoTask,
  error: APIError,
): ContentUnavailableError {
  const isShown = typeof apiKey !== 'string' || !id.includes(apiKey);
  const place = url === undefined ? 'no URL' : 'a URL that could not be fetched';
  const message = `${error.summary} Video task ${isShown ? id : '[key]'} is completed and paid for, and has ${place}.`;
  const advice = 'The handle in error.ref can be used to download it later.';
  return new ContentUnavailableError(
    message,
    Object.assign({}, error, { advice, url, cause: error }),
  );
}

/** Describes a video that could not be downloaded, with its whole URL. */
const describeLost = ({ message, url }: ContentUnavailableError): string =>
  url === undefined ? message : `${message} ${url}`;

/** Returns whether a later poll may succeed. */
function passes(error: unknown): boolean {
  if (!APIError.isInstance(error) || isAbort(error)) return false;
  if (ContentUnavailableError.isInstance(error)) return false;
  const { status } = error;
  if (status === 405 || status === 501) return false;
  return (
    status === undefined || status < 400 || [404, 408, 425, 429].includes(status) || status >= 500
  );
}

/** Waits until the time is over or the signal is aborted, which the next poll reports. */
function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
  });
}

/** Returns the status of the videos of a call; downloads them once all have ended. */
export async function pollStatus(
  client: Gateway,
  modelId: string,
  settings: VideoSettings,
  waits: VideoWaits,
  options: StatusOptions,
): Promise<StatusResult> {
  const refs = readRefs(options.operation);
  const [first] = refs;
  const response = { timestamp: new Date(), modelId: first?.model ?? modelId, headers: undefined };
  const poller = new Poller(client, settings, waits, options);
  const detach = attachRefOnAbort(options.abortSignal, first);
  let current = first;
  let completed: VideoTask | undefined;
  try {
    const statuses: TaskStatus[] = [];
    for (const ref of refs) {
      current = ref;
      statuses.push(await poller.ask(ref));
    }
    const pending = statuses.flatMap((one) => (one.status === 'pending' ? [one.details] : []));
    if (pending.length > 0) return { status: 'pending', ...withMetadata({ pending }), response };
    const failures = statuses.flatMap((one) => (one.status === 'failed' ? [one.error] : []));
    const tasks = statuses.flatMap((one) => (one.status === 'completed' ? [one.task] : []));
    if (tasks.length === 0) {
      const [failure] = failures;
      const error = failure?.message ?? 'The video failed.';
      const details = { failures: failures.map(failureDetails) };
      return { status: 'error', error, ...withMetadata(details), response };
    }
    const videos: VideoData[] = [];
    const lost: ContentUnavailableError[] = [];
    let headers: Record<string, string> | undefined;
    for (const task of tasks) {
      current = task.ref;
      completed = task;
      try {
        const downloaded = await poller.download(task);
        videos.push(downloaded.video);
        headers ??= toHeaders(downloaded.response);
      } catch (error) {
        if (ContentUnavailableError.isInstance(error) && tasks.length > 1) {
          lost.push(error);
          continue;
        }
        if (!passes(error)) throw error;
        const problem = { id: task.id, status: 'completed', problem: errorMessage(error) };
        return { status: 'pending', ...withMetadata({ pending: [problem] }), response };
      }
    }
    const [unavailable] = lost;
    if (videos.length === 0 && unavailable !== undefined) throw unavailable;
    const remarks = tasks.flatMap(({ error }) => error?.message ?? []);
    const failed = failures.map(({ message }) => message);
    const messages = [...failed, ...lost.map(describeLost), ...remarks];
    const warnings = messages.map((message) => ({ type: 'other' as const, message }));
    return {
      status: 'completed',
      videos,
      warnings,
      ...withMetadata({ videos: tasks.map(taskDetails) }),
      response: { ...response, headers },
    };
  } catch (error) {
    const failed = { client, operation: 'videos.retrieve', signal: options.abortSignal } as const;
    const { url } = ContentUnavailableError.isInstance(error) ? error : { url: undefined };
    const known = completed && { ...taskDetails(completed), status: 'completed', url };
    throw toAISDKError(error, { ...failed, ref: current }, known);
  } finally {
    detach();
  }
}

/**
 * Reads the handles of an operation.
 *
 * @throws `InvalidInputError` if it is empty or contains an invalid handle
 */
function readRefs(operation: JSONValue): VideoTaskRef[] {
  const handles: readonly unknown[] = Array.isArray(operation) ? operation : [operation];
  if (handles.length === 0) throw new InvalidInputError('operation', 'contains no video.');
  return handles.map((value) => parseVideoTaskRef(value));
}

/** Adds the handle to the abort reason, which the AI SDK throws when its time limit expires. */
function attachRefOnAbort(
  signal: AbortSignal | undefined,
  ref: VideoTaskRef | undefined,
): () => void {
  const tell = (): void => {
    const reason: unknown = signal?.reason;
    if (!(reason instanceof Error) || 'ref' in reason || !Object.isExtensible(reason)) return;
    Object.defineProperty(reason, 'ref', { value: ref, configurable: true, writable: true });
  };
  signal?.addEventListener('abort', tell, { once: true });
  return () => signal?.removeEventListener('abort', tell);
}

function withMetadata(details: JSONObject) {
  return { providerMetadata: { [providerName]: details } };
}

function failureDetails({ ref, reason, code, moderated }: VideoFailedError): JSONObject {
  return { ref: { ...ref }, reason, code, moderated };
}

function taskDetails(task: VideoTask): JSONObject {
  const { id, model, seconds, size, ref } = task;
  const { cost } = usageOf(task);
  return { id, model, seconds, size, ...(cost !== undefined && { cost }), ref: { ...ref } };
}
