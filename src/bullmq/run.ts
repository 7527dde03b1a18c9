import {
  GatewayError,
  InvalidInputError,
  LedgerError,
  parseVideoTaskRef,
  VideoFailedError,
  VideoSubmitUnknownError,
  type Gateway,
  type SubmitEnd,
  type VideoTask,
  type VideoTaskRef,
  type VideoUpdate,
} from '../index.ts';
import { takeContent } from './content.ts';
import { isFinal } from './failures.ts';
import {
  check,
  DelayedError,
  putOff,
  refOf,
  UnrecoverableError,
  type VideoJob,
  type VideoJobData,
  type VideoJobResult,
} from './job.ts';
import type { VideoProcessorOptions } from './options.ts';

/** How soon to look again for what another worker is doing, in milliseconds. */
const lookAgainMs = 5_000;

/** How long the ledger is given for what can be told again, in milliseconds. */
const tellMs = 5_000;

/** One run of a job: it submits the video, or polls its task once. */
export class VideoJobRun<Job extends VideoJob> {
  readonly #client: Gateway;
  readonly #options: VideoProcessorOptions<Job>;
  readonly #job: Job;
  /** By what BullMQ knows that this run has the job. */
  readonly #token: string;
  readonly #signal: AbortSignal | undefined;
  readonly #callId: string;

  /** @throws `InvalidInputError` when the job does not hold what it needs */
  constructor(
    client: Gateway,
    options: VideoProcessorOptions<Job>,
    job: Job,
    token: string,
    signal: AbortSignal | undefined,
  ) {
    this.#client = client;
    this.#options = options;
    this.#job = job;
    this.#token = token;
    this.#signal = signal;
    const { data } = job;
    const advice =
      'add the job with videoJob(), or with { params: { model, prompt } } as its data.';
    check(typeof data === 'object' && data !== null, 'job.data', `must be an object; ${advice}`);
    const { params, ref } = data;
    const hasWork = typeof params === 'object' ? params !== null : ref !== undefined;
    check(hasWork, 'job.data.params', `is missing; ${advice}`);
    this.#callId = this.#readCallId();
  }

  /**
   * Takes the job one step further.
   *
   * @throws `DelayedError` when it goes on later, and whatever ends it
   */
  async run(): Promise<VideoJobResult> {
    if (this.#signal?.aborted === true) {
      throw new Error('The job was cancelled before anything was sent.', {
        cause: this.#signal.reason,
      });
    }
    const { ref } = this.#job.data;
    return ref === undefined ? this.#submit() : this.#poll(parseVideoTaskRef(ref));
  }

  #readCallId(): string {
    const { callId } = this.#options;
    const { id, queueName } = this.#job;
    if (callId === undefined) {
      check(typeof id === 'string' && id !== '', 'job.id', 'is missing; give the job an id.');
      return `${queueName}:${id}`;
    }
    const given: unknown = callId(this.#job);
    const isText = typeof given === 'string' && given.trim() !== '';
    check(isText, 'callId', 'gave no text; give an id that is the same at every run of the job.');
    return given;
  }

  /** Submits the video, or finds the task that was made of it before. */
  async #submit(): Promise<never> {
    const { ledger, onUnknown, bodyFormat, extraBody } = this.#options;
    const { headers, query, fetchOptions, maxRetries, validation } = this.#options;
    const own = { ledger, callId: this.#callId, onUnknown, bodyFormat, extraBody };
    // Without the signal: of a submission that is broken off nobody knows the outcome.
    const options = { ...own, headers, query, fetchOptions, maxRetries, validation };
    const { params, remixOf } = this.#job.data;
    const { videos } = this.#client;
    let task: VideoTask;
    try {
      task = await (remixOf === undefined
        ? videos.create({ model: '', prompt: '', ...params }, options)
        : videos.remix(remixOf, { prompt: '', ...params }, options));
    } catch (error) {
      const ref = refOf(error);
      if (ref === undefined) return this.#begin(await this.#lookUp(error), true);
      // The answer was refused, or the ledger failed to note the task: it is paid for all the same.
      const isNoted = await this.#tell(() => ledger.accept(this.#callId, ref));
      return this.#begin(ref, isNoted);
    }
    return this.#begin(task.ref, true);
  }

  /**
   * Looks for the task of a submission that did not go well.
   *
   * @throws the error, when there is none
   */
  async #lookUp(error: unknown): Promise<VideoTaskRef> {
    // Of bad input there may be the task of another call, and a ledger that fails fails again.
    if (InvalidInputError.isInstance(error) || LedgerError.isInstance(error)) throw error;
    const entry = await this.#options.ledger.entry(this.#callId);
    const [ref] = entry?.refs ?? [];
    if (ref !== undefined) return parseVideoTaskRef(ref);
    const isUnknown = !GatewayError.isInstance(error) || error.outcome === 'unknown';
    if (!isUnknown) throw error;
    const isUnderWay = VideoSubmitUnknownError.isInstance(error) && error.isUnderWay;
    // Given back meanwhile, as nothing was sent.
    if (isUnderWay || entry === undefined) throw await this.#delay(lookAgainMs);
    const { unknownGrace = 120_000 } = this.#options;
    const { unknownSince = Date.now() } = this.#job.data;
    const waited = Date.now() - unknownSince;
    if (entry.status === 'submitting' && waited < unknownGrace) {
      await this.#checkLock();
      await this.#write({ unknownSince });
      throw await this.#delay(Math.min(lookAgainMs, unknownGrace - waited));
    }
    const said = error instanceof Error ? error.message : String(error);
    const message = `${said} Should the task become known to the ledger as call ${this.#callId}, job.retry() goes on with it.`;
    throw new UnrecoverableError(message, { cause: error });
  }

  /**
   * Puts off the first poll of a task.
   *
   * @param isNoted - Whether the ledger knows it.
   */
  async #begin(ref: VideoTaskRef, isNoted: boolean): Promise<never> {
    const hasLock = await this.#hasLock();
    // Of a task that the ledger does not know, the job is the only place to be found in.
    if (hasLock || !isNoted) await this.#write({ ref, unknownSince: undefined });
    if (!hasLock) {
      // While this worker slept, another one may have given the job up.
      await this.#job.retry?.('failed').catch(() => {});
      throw lockLost();
    }
    const { interval } = this.#options;
    if (typeof interval === 'number') throw await this.#delay(interval);
    const { min = 5_000, max = Infinity } = interval ?? {};
    throw await this.#delay(interval?.first ?? Math.max(Math.min(5_000, max), min));
  }

  async #poll(ref: VideoTaskRef): Promise<VideoJobResult> {
    let seen: VideoUpdate | undefined;
    const onUpdate = (update: VideoUpdate): void => {
      seen = update;
    };
    const options = { ...this.#options, signal: this.#signal, onUpdate };
    const { state, next } = await this.#client.videos.step(ref, this.#job.data.state, options);
    await this.#checkLock();
    if (seen !== undefined) await this.#report(seen);
    if ('delayMs' in next) {
      await this.#write({ ref, state });
      throw await this.#delay(next.delayMs);
    }
    if ('error' in next) {
      if (VideoFailedError.isInstance(next.error)) await this.#note(ref, 'failed');
      // Tried again by hand, the wait begins anew.
      else if (isFinal(next.error)) await this.#write({ ref, state: undefined });
      throw next.error;
    }
    await this.#note(ref, 'completed');
    const run = { client: this.#client, job: this.#job, token: this.#token, signal: this.#signal };
    return takeContent(run, next.video, ref, this.#options);
  }

  /** Shows how the task stands. */
  async #report(update: VideoUpdate): Promise<void> {
    const { status, rawStatus, progress, polls, elapsed } = update;
    await this.#job.updateProgress({ status, rawStatus, progress, polls, elapsed });
    await this.#options.onUpdate?.(update, this.#job);
  }

  /** Tells the ledger how the task ended, and which it was, should it have missed that. */
  async #note(ref: VideoTaskRef, end: SubmitEnd): Promise<void> {
    const { ledger } = this.#options;
    await this.#tell(async () => {
      await ledger.accept(this.#callId, ref);
      await ledger.finish(this.#callId, end);
    });
  }

  /** Tells the ledger something that can be told again. Gives whether it was heard in time. */
  async #tell(tell: () => Promise<void>): Promise<boolean> {
    const told = (async () => tell())().then(
      () => true,
      () => false,
    );
    let timer: ReturnType<typeof setTimeout> | undefined;
    const patience = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), tellMs);
    });
    const isHeard = await Promise.race([told, patience]);
    clearTimeout(timer);
    return isHeard;
  }

  /**
   * Called before something is written into the job: BullMQ lets everybody write, and this worker may
   * have slept while another one got the job. A sleep between the look and the word may still put an
   * older state into it. That loses nothing but the polls between, as the handle is that of the ledger.
   *
   * @throws `DelayedError` when another worker has the job
   */
  async #checkLock(): Promise<void> {
    if (!(await this.#hasLock())) throw lockLost();
  }

  /** Whether this run still has the job. BullMQ is asked only when that is not certain. */
  async #hasLock(): Promise<boolean> {
    const { lockDuration = 30_000 } = this.#options;
    const { processedOn = 0 } = this.#job;
    const age = Date.now() - processedOn;
    if (age >= 0 && age < lockDuration / 2) return true;
    return (await this.#job.extendLock?.(this.#token, lockDuration)) !== 0;
  }

  async #write(change: VideoJobData): Promise<void> {
    await this.#job.updateData({ ...this.#job.data, ...change });
  }

  /** Puts the job off, after its data were written: the next worker reads what is there then. */
  #delay(milliseconds: number): Promise<DelayedError> {
    return putOff(this.#job, this.#token, milliseconds);
  }
}

function lockLost(): DelayedError {
  return new DelayedError('Another worker has the job by now.');
}
