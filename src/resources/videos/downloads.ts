import { findFailure } from '../../answers/failure.ts';
import { checkBoolean, checkObject, checkText } from '../../options/check.ts';
import {
  ContentExpiredError,
  ContentNotReadyError,
  type DescribedFailure,
  explained,
} from '../../errors/operation-errors.ts';
import { delay } from '../../http/abort.ts';
import { GatewayPromise } from '../../calls/promise.ts';
import type { SendingRules } from '../../http/request.ts';
import type { Transport } from '../../calls/transport.ts';
import { Pace, FairQueue } from '../../http/fair-queue.ts';
import type { RequestOptions } from '../../options/options.ts';
import { fileFormat } from '../../uploads/file-format.ts';
import type { Waited } from '../../tasks/errors.ts';
import { readStatusWord } from '../../tasks/reading.ts';
import { gatewayFor } from '../../tasks/ref.ts';
import { readTask, videoErrors } from './kind.ts';
import { findCompleted, type ResolvedTask, resolveOwnTask } from './ref.ts';
import { ResultURL, withoutRange } from './result-url.ts';
import type { VideoTaskLike, VideoTaskRef } from './types.ts';
import type { VideoDownloadOptions } from './wait-options.ts';

/** The duration of a download limit in milliseconds. Gateways limit downloads per minute. */
const limitDuration = 60_000;

/** The maximum wait for the content of a completed task in milliseconds, and the first pause. */
const contentTimeout = 30_000;
const firstContentPause = 2_000;

/**
 * Queues the downloads of a client while its gateway limits them.
 *
 * Without a limit the queue is empty. After a limit, the first download starts when the limit should have
 * expired, and the next one after a pause, or as soon as one succeeds.
 */
class DownloadQueue {
  /** The number of successful downloads. */
  successes = 0;
  readonly #pace = new Pace();
  readonly #turns = new FairQueue<object>(
    () => ({ all: this.#pace.pause, lane: 0 }),
    () => this.#pace.started(),
  );

  /** The minimum wait of a download in milliseconds, unless another one succeeds. */
  get pause(): number {
    return this.#pace.pause;
  }

  /** Waits for the turn of a download. Returns the value to pass to `endLimit` or `startLimit`. */
  async enter(signal: AbortSignal): Promise<number> {
    await this.#turns.take({}, signal);
    return this.#pace.limits;
  }

  /** Ends the limit after a successful download. */
  endLimit(limits: number): void {
    this.successes += 1;
    this.#pace.succeeded(limits);
    this.#turns.update();
  }

  /** Starts a limit after a rate-limited download. */
  startLimit(limits: number): void {
    const { limits: current, isLimited } = this.#pace;
    if (limits === current && !isLimited) this.#pace.limit(limitDuration);
  }
}

/**
 * Creates the rules for when a download is sent, and after which failures it is retried.
 *
 * @param waitsForContent - `true` if the task is known to be completed, so that its content exists, and nothing but
 *   this route is known to have it.
 */
function createRules(queue: DownloadQueue, waitsForContent: boolean): SendingRules {
  let limits = 0;
  let successes = 0;
  let rejections = 0;
  let missingSince: number | undefined;
  let nextPause = firstContentPause;
  let ownPause = 0;
  return {
    async begin(signal) {
      if (ownPause > 0) await delay(ownPause, signal);
      ownPause = 0;
      limits = await queue.enter(signal);
    },
    succeeded: () => queue.endLimit(limits),
    pauseAfter({ kind, status }, maxRetries) {
      if (kind === 'bare_rate_limited') {
        queue.startLimit(limits);
        // While other downloads succeed, this one only needs its turn, so the count restarts.
        rejections = queue.successes > successes ? 1 : rejections + 1;
        successes = queue.successes;
        return rejections <= maxRetries ? queue.pause : Number.POSITIVE_INFINITY;
      }
      if (!waitsForContent || (status !== 404 && status !== 502)) return undefined;
      const now = performance.now();
      missingSince ??= now;
      const remaining = missingSince + contentTimeout - now;
      if (remaining <= 0) return Number.POSITIVE_INFINITY;
      ownPause = Math.min(remaining, nextPause);
      nextPause *= 2;
      return ownPause;
    },
  };
}

const waitAdvice = 'Wait for the task with videos.wait() and download it then.';

/** Builds the error for missing content: it is gone or not ready yet, or the task has failed. */
function explainDownload(
  failure: DescribedFailure,
  waited: Waited<VideoTaskRef>,
): Error | undefined {
  const { status } = failure.init;
  const gone = 'The content no longer exists and cannot be restored.';
  if (status === 410) return explained(failure, /^/, gone, ContentExpiredError);
  if (status !== 400) return undefined;
  const early = explained(failure, /not completed/i, waitAdvice, ContentNotReadyError);
  const [, word] = /current status: *(\w+)/i.exec(failure.summary) ?? [];
  if (early === undefined || readStatusWord(word).status !== 'failed') return early;
  const message = 'The response gives no reason; videos.retrieve() may.';
  return videoErrors.failed(waited, { message }, early.error, early);
}

/**
 * Reads the id for the content route from the status of a task.
 *
 * @throws `ContentNotReadyError` if the task is not completed, or `VideoFailedError` if it failed
 */
async function readContentId(
  transport: Transport,
  resolved: ResolvedTask,
  options: RequestOptions,
): Promise<string> {
  const { signal, headers, fetchOptions, timeout, totalTimeout } = options;
  const reading = { signal, headers: withoutRange(headers), fetchOptions, timeout, totalTimeout };
  const task = await readTask(transport, resolved, reading);
  const { id, content_id: contentId, status, error, raw } = task;
  const { ref } = resolved;
  const { hide } = transport.client.credential;
  if (status === 'failed') throw videoErrors.failed({ ref, hide }, error ?? findFailure({}), raw);
  if (status === 'completed') return contentId ?? id;
  const message = `Video task ${hide(id)} is not completed; its status is "${status}".`;
  throw new ContentNotReadyError(message, { outcome: 'not_sent', advice: waitAdvice });
}

/** The download queue of each client, or of the clients that share state. */
const queues = new WeakMap<object, DownloadQueue>();

export function download(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoDownloadOptions | null | undefined,
  more: RequestOptions | undefined,
): GatewayPromise<Response> {
  for (const level of [options, more]) {
    checkObject('options', level);
    transport.checkOptions('videos.downloadContent', level);
  }
  const { variant, resultURL = true, ...request } = options ?? {};
  if (variant !== undefined && variant !== null) {
    checkText('variant', variant, 'the name of an asset such as "thumbnail", or omitted');
  }
  checkBoolean('resultURL', resultURL);
  const resolved = resolveOwnTask(transport, task);
  const { ref } = resolved;
  const { hide } = transport.client.credential;
  const queue = queues.get(transport.client.shared) ?? new DownloadQueue();
  queues.set(transport.client.shared, queue);
  const merged = { ...request, ...more };
  const isVideo = (variant ?? 'video') === 'video';
  const completed = findCompleted(task);
  const result =
    isVideo && resultURL ? new ResultURL(transport, resolved, completed?.url, merged) : undefined;
  const explain = (failure: DescribedFailure): Error | undefined =>
    explainDownload(failure, { ref, hide });
  const gateway = gatewayFor(transport, ref);
  const caller = transport.snapshot();
  const sent = { ...merged, query: { ...request.query, ...more?.query, variant } };
  const ask = (id: string, isDone: boolean) => {
    const rules = createRules(queue, isDone && result?.known === undefined);
    const write = (params: { readonly task_id: string }) => {
      return { params, trace: ref.trace, download: rules, explain };
    };
    const parts = { kind: 'binary', write, format: () => fileFormat() } as const;
    return caller.operate('videos.downloadContent', { task_id: id }, parts, sent, gateway);
  };
  const hasOwnId = gateway?.profile.video?.contentId !== undefined;
  const id = hasOwnId ? completed?.contentId : ref.id;
  const content =
    id === undefined
      ? new GatewayPromise(
          readContentId(caller, resolved, merged).then((found) => ask(found, true).state().opened),
        )
      : ask(id, completed !== undefined);
  return result === undefined ? content : result.orElse(content);
}
