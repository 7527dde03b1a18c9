import { checkObject, checkText } from '../check.ts';
import { APIError } from '../errors/api-errors.ts';
import {
  ContentExpiredError,
  ContentNotReadyError,
  explained,
} from '../errors/operation-errors.ts';
import { delay, untilAborted } from '../http/abort.ts';
import type { GatewayPromise } from '../http/promise.ts';
import type { SendingRules } from '../http/request.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { fileAnswer } from '../uploads/file-answer.ts';
import { failedError } from './errors.ts';
import { isCompleted, ownTask } from './ref.ts';
import { readStatusWord } from './schema.ts';
import type { VideoTaskLike, VideoTaskRef } from './types.ts';
import type { VideoDownloadOptions } from './wait-options.ts';

/** How long a limit of downloads lasts, in milliseconds. Gateways allow so many in a minute. */
const limitLasts = 60_000;

/** How far apart downloads begin after that, until one passes: ten a minute. */
const pauseBetween = 6_000;

/** How long content that is surely there is waited for, in milliseconds, and the first pause. */
const contentPatience = 30_000;
const firstContentPause = 2_000;

/**
 * The line in which the downloads of a client stand when its gateway limits them.
 *
 * Without a limit nobody stands in it. After one the first begins when the limit should be over, and
 * the next after a pause, or as soon as one has passed.
 */
class DownloadLine {
  /** How many downloads have passed. */
  passes = 0;
  /** How many limits were met; a download that began before the latest says nothing about it. */
  #limits = 0;
  #isLimited = false;
  #next = 0;
  #waiting = 0;
  /** Settles when whoever stands last in the line has begun, or has left it. */
  #last = Promise.resolve();
  #wakeFirst: (() => void) | undefined;

  /** How long at least a download has to wait now, in milliseconds, unless another one passes. */
  get pause(): number {
    return this.#isLimited ? Math.max(0, this.#next - performance.now()) : 0;
  }

  /** Waits for the turn of one download. Gives what it says of the limits when it has passed or was refused. */
  async enter(signal: AbortSignal): Promise<number> {
    if (!this.#isLimited && this.#waiting === 0) return this.#limits;
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#begin(signal));
    this.#last = turn;
    try {
      await untilAborted(turn, signal);
      return this.#limits;
    } finally {
      this.#waiting -= 1;
      this.#wakeFirst?.();
    }
  }

  /** Waits until the first in the line may begin. */
  async #begin(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const now = performance.now();
      const rest = Math.ceil(this.#next - now);
      if (rest <= 0) {
        this.#next = now + pauseBetween;
        return;
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, rest);
        this.#wakeFirst = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** A download was answered with its content. */
  passed(limits: number): void {
    this.passes += 1;
    if (limits !== this.#limits) return;
    this.#isLimited = false;
    this.#next = 0;
    this.#wakeFirst?.();
  }

  /** A download was refused as one too many. */
  refused(limits: number): void {
    if (limits !== this.#limits || this.#isLimited) return;
    this.#isLimited = true;
    this.#limits += 1;
    this.#next = performance.now() + limitLasts;
  }
}

/**
 * The turns of one download, and after which failures it gets another.
 *
 * @param isThere - Whether the task is known to be completed, so that its content is there.
 */
function rulesOf(line: DownloadLine, isThere: boolean): SendingRules {
  let limits = 0;
  let passes = 0;
  let refusals = 0;
  let missingSince: number | undefined;
  let nextPause = firstContentPause;
  let ownPause = 0;
  return {
    async begin(signal) {
      if (ownPause > 0) await delay(ownPause, signal);
      ownPause = 0;
      limits = await line.enter(signal);
    },
    passed: () => line.passed(limits),
    pauseAfter({ kind, status }, maxRetries) {
      if (kind === 'bare_rate_limited') {
        line.refused(limits);
        // As long as others pass, it is only a question of time.
        refusals = line.passes > passes ? 1 : refusals + 1;
        passes = line.passes;
        return refusals <= maxRetries ? line.pause : Number.POSITIVE_INFINITY;
      }
      if (!isThere || (status !== 404 && status !== 502)) return undefined;
      const now = performance.now();
      missingSince ??= now;
      const left = missingSince + contentPatience - now;
      if (left <= 0) return Number.POSITIVE_INFINITY;
      ownPause = Math.min(left, nextPause);
      nextPause *= 2;
      return ownPause;
    },
  };
}

/** Why there is no content: it is gone, or not there yet, or the task has failed. */
function explainDownload(error: Error, ref: VideoTaskRef): Error | undefined {
  const { status } = APIError.isInstance(error) ? error : {};
  const gone = 'The content is gone; nothing can bring it back.';
  if (status === 410) return explained(error, /^/, gone, ContentExpiredError);
  if (status !== 400) return undefined;
  const wait = 'Wait for the task with videos.wait() and download it then.';
  const early = explained(error, /not completed/i, wait, ContentNotReadyError);
  const [, word] = /current status: *(\w+)/i.exec(early?.message ?? '') ?? [];
  if (readStatusWord(word).status !== 'failed') return early;
  const message = 'The download does not say why; videos.retrieve() may.';
  return failedError(ref, { message }, early?.error, early);
}

/** The line of each client's downloads, or of several clients, by what they have in common. */
const lines = new WeakMap<object, DownloadLine>();

export function download(
  transport: Transport,
  task: VideoTaskLike,
  options: VideoDownloadOptions | null | undefined,
  more: RequestOptions | undefined,
): GatewayPromise<Response> {
  for (const given of [options, more]) {
    checkObject('options', given);
    transport.checkOptions(given ?? {});
  }
  const { variant, ...own } = options ?? {};
  if (variant !== undefined && variant !== null) {
    checkText('variant', variant, 'the name of an asset such as "thumbnail", or leave it out');
  }
  const { ref } = ownTask(transport, task);
  const line = lines.get(transport.shared) ?? new DownloadLine();
  lines.set(transport.shared, line);
  const rules = rulesOf(line, isCompleted(task));
  const explain = (error: Error): Error | undefined => explainDownload(error, ref);
  return transport.call(
    'videos.downloadContent',
    { params: { task_id: ref.id }, trace: ref.trace, download: rules, explain },
    fileAnswer(),
    { ...own, ...more, query: { ...own.query, ...more?.query, variant } },
  );
}
