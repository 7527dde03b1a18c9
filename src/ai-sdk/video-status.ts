import type {
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4OperationStatusResult as StatusResult,
  Experimental_VideoModelV4VideoData as VideoData,
  JSONObject,
  JSONValue,
} from '@ai-sdk/provider';
import {
  APIError,
  ContentExpiredError,
  InvalidInputError,
  parseVideoTaskRef,
  VideoFailedError,
  type Gateway,
  type RequestOptions,
  type VideoTask,
  type VideoTaskRef,
  type VideoWaitState,
} from '../index.ts';
import { isAbort, messageOf, toAISDKError } from './errors.ts';
import { providerName } from './options.ts';
import type { VideoSettings } from './video-start.ts';

/** What is remembered of tasks between two questions, by their ids. */
export type VideoWaits = Map<string, VideoWaitState>;

/** How many tasks are remembered; a question about a forgotten one only begins anew. */
const mostWaits = 1000;

type StatusOptions = Parameters<NonNullable<VideoModelV4['doStatus']>>[0];

/** How a task stands. */
type Standing =
  | { readonly status: 'pending'; readonly details: JSONObject }
  | { readonly status: 'completed'; readonly task: VideoTask }
  | { readonly status: 'failed'; readonly error: VideoFailedError };

/** Asks for tasks, each once. */
class Question {
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
   * How a task stands. Only what cannot pass throws: one failed question ends `generateVideo`, and what
   * passes is a task that goes on.
   */
  async ask(ref: VideoTaskRef): Promise<Standing> {
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
    this.#remember(ref, state);
    const { status = 'queued', progress } = task ?? state;
    const problem = pollError === undefined ? {} : { problem: messageOf(pollError) };
    return { status: 'pending', details: { id: ref.id, status, progress, ...problem } };
  }

  /** One poll; and another when it tells of a failure, as a single one may err. */
  async #step(ref: VideoTaskRef) {
    // The AI SDK says how long is waited, and how many failed polls that may hold.
    const options = { ...this.#request, timeout: null, maxConsecutiveErrors: 1000 };
    const first = await this.#client.videos.step(ref, this.#waits.get(ref.id), options);
    if (first.state.status !== 'failed' || !('delayMs' in first.next)) return first;
    await pause(first.next.earliestMs, this.#request.signal ?? undefined);
    return this.#client.videos.step(ref, first.state, options);
  }

  #remember(ref: VideoTaskRef, state: VideoWaitState): void {
    this.#waits.delete(ref.id);
    this.#waits.set(ref.id, state);
    const [oldest] = this.#waits.keys();
    if (this.#waits.size > mostWaits && oldest !== undefined) this.#waits.delete(oldest);
  }

  async #end(ref: VideoTaskRef, end: 'completed' | 'failed'): Promise<void> {
    this.#waits.delete(ref.id);
    try {
      if (ref.callId !== undefined) await this.#settings.ledger?.finish(ref.callId, end);
    } catch {
      // A call that stays accepted is only read again, and never submitted.
    }
  }

  /** Downloads a film, several times when it breaks off: it is paid for, and reading it is free. */
  async download(task: VideoTask): Promise<VideoData> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#client.videos.downloadContent(task, this.#request);
      try {
        const data = new Uint8Array(await response.arrayBuffer());
        const type = response.headers.get('content-type') ?? '';
        return { type: 'binary', data, mediaType: /^video\/[\w-]+/.exec(type)?.[0] ?? 'video/mp4' };
      } catch (error) {
        if (attempt === 3 || !passes(error)) throw error;
      }
    }
  }
}

/** Whether asking again later may help. */
function passes(error: unknown): boolean {
  if (!APIError.isInstance(error) || isAbort(error)) return false;
  if (ContentExpiredError.isInstance(error)) return false;
  const { status } = error;
  return (
    status === undefined || status < 400 || [404, 408, 425, 429].includes(status) || status >= 500
  );
}

/** Waits, unless it is aborted; the next poll then says so. */
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

/** How the videos of a call stand; when all of them have ended, they are downloaded. */
export async function statusOf(
  client: Gateway,
  modelId: string,
  settings: VideoSettings,
  waits: VideoWaits,
  options: StatusOptions,
): Promise<StatusResult> {
  const refs = refsIn(options.operation);
  const [first] = refs;
  const response = { timestamp: new Date(), modelId: first?.model ?? modelId, headers: undefined };
  const question = new Question(client, settings, waits, options);
  const telling = tellOnAbort(options.abortSignal, first);
  let asked = first;
  try {
    const standings: Standing[] = [];
    for (const ref of refs) {
      asked = ref;
      standings.push(await question.ask(ref));
    }
    const pending = standings.flatMap((one) => (one.status === 'pending' ? [one.details] : []));
    if (pending.length > 0) return { status: 'pending', ...detailed({ pending }), response };
    const failures = standings.flatMap((one) => (one.status === 'failed' ? [one.error] : []));
    const tasks = standings.flatMap((one) => (one.status === 'completed' ? [one.task] : []));
    if (tasks.length === 0) {
      const [failure] = failures;
      const error = failure?.message ?? 'The video failed.';
      const details = { failures: failures.map(failureDetails) };
      return { status: 'error', error, ...detailed(details), response };
    }
    const videos: VideoData[] = [];
    for (const task of tasks) {
      asked = task.ref;
      try {
        videos.push(await question.download(task));
      } catch (error) {
        if (!passes(error)) throw error;
        const problem = { id: task.id, status: 'completed', problem: messageOf(error) };
        return { status: 'pending', ...detailed({ pending: [problem] }), response };
      }
    }
    const warnings = failures.map(({ message }) => ({ type: 'other' as const, message }));
    return {
      status: 'completed',
      videos,
      warnings,
      ...detailed({ videos: tasks.map(taskDetails) }),
      response,
    };
  } catch (error) {
    const failed = { client, operation: 'videos.retrieve', signal: options.abortSignal } as const;
    throw toAISDKError(error, { ...failed, ref: asked });
  } finally {
    telling();
  }
}

/**
 * The handles of an operation.
 *
 * @throws `InvalidInputError` when it is none
 */
function refsIn(operation: JSONValue): VideoTaskRef[] {
  const given: readonly unknown[] = Array.isArray(operation) ? operation : [operation];
  if (given.length === 0) throw new InvalidInputError('operation', 'names no video.');
  return given.map((value) => parseVideoTaskRef(value));
}

/** The time limit of the AI SDK throws the reason of its signal; it then carries the handle. */
function tellOnAbort(signal: AbortSignal | undefined, ref: VideoTaskRef | undefined): () => void {
  const tell = (): void => {
    const reason: unknown = signal?.reason;
    if (!(reason instanceof Error) || 'ref' in reason || !Object.isExtensible(reason)) return;
    Object.defineProperty(reason, 'ref', { value: ref, configurable: true, writable: true });
  };
  signal?.addEventListener('abort', tell, { once: true });
  return () => signal?.removeEventListener('abort', tell);
}

function detailed(details: JSONObject) {
  return { providerMetadata: { [providerName]: details } };
}

function failureDetails({ ref, reason, code, moderated }: VideoFailedError): JSONObject {
  return { ref: { ...ref }, reason, code, moderated };
}

function taskDetails({ id, model, seconds, size, ref }: VideoTask): JSONObject {
  return { id, model, seconds, size, ref: { ...ref } };
}
