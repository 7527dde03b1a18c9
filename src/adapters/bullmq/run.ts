import {
  GatewayError,
  InvalidInputError,
  LedgerError,
  parseVideoTaskRef,
  VideoFailedError,
  VideoSubmitUnknownError,
  type Gateway,
  type SubmitEnd,
  type VideoTaskRef,
  type VideoUpdate,
} from '../../index.ts';
import { processContent } from './content.ts';
import { isFinal } from './failures.ts';
import {
  check,
  DelayedError,
  delayJob,
  errorRef,
  UnrecoverableError,
  type VideoJob,
  type VideoJobData,
  type VideoJobResult,
} from './job.ts';
import { toSubmitOptions, toWaitOptions, type VideoProcessorOptions } from './options.ts';

/** Delay before checking again on a submission by another worker, in milliseconds. */
const recheckMs = 5_000;

/** Time limit for ledger updates that may be repeated, in milliseconds. */
const ledgerTimeoutMs = 5_000;

/** One run of a job, which submits the video or polls its task once. */
export class VideoJobRun<Job extends VideoJob> {
  readonly #client: Gateway;
  readonly #options: VideoProcessorOptions<Job>;
  readonly #job: Job;
  /** Identifies this run's lock on the job. */
  readonly #token: string;
  readonly #signal: AbortSignal | undefined;
  readonly #callId: string;

  /** @throws `InvalidInputError` if the job's data is incomplete */
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
   * Runs the next step of the job.
   *
   * @throws `DelayedError` if the job continues later, or the error that ends it
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
      check(typeof id === 'string' && id !== '', 'job.id', 'is missing; set an id for the job.');
      return `${queueName}:${id}`;
    }
    const jobCallId: unknown = callId(this.#job);
    const isText = typeof jobCallId === 'string' && jobCallId.trim() !== '';
    check(isText, 'callId', 'did not return a string; return the same id in every run of the job.');
    return jobCallId;
  }

  /** Submits the video, or finds its existing task. */
  async #submit(): Promise<never> {
    const { ledger } = this.#options;
    // Without the signal: the outcome of an aborted submission would be unknown.
    const ids = { callId: this.#callId };
    const { params, remixOf } = this.#job.data;
    const { videos } = this.#client;
    const found = await (
      remixOf === undefined
        ? videos.create(
            { model: '', prompt: '', ...params },
            { ...toSubmitOptions(this.#options, 'videos.create'), ...ids },
          )
        : videos.remix(
            remixOf,
            { prompt: '', ...params },
            { ...toSubmitOptions(this.#options, 'videos.remix'), ...ids },
          )
    ).then(
      ({ ref, _ledger_error: failure }) => ({ ref, isRecorded: failure === undefined }),
      async (error: unknown) => {
        const ref = errorRef(error);
        if (ref !== undefined) return { ref, isRecorded: false };
        return { ref: await this.#lookUp(error), isRecorded: true };
      },
    );
    const { ref } = found;
    // The response was invalid, or the ledger failed to record the task: it is paid for regardless.
    const isRecorded =
      found.isRecorded || (await this.#updateLedger(() => ledger.accept(this.#callId, ref)));
    return this.#delayFirstPoll(ref, isRecorded);
  }

  /**
   * Looks for the task of a failed submission.
   *
   * @throws `error` if no task is found
   */
  async #lookUp(error: unknown): Promise<VideoTaskRef> {
    // For invalid input the entry may belong to another call, and a failing ledger would fail again.
    if (InvalidInputError.isInstance(error) || LedgerError.isInstance(error)) throw error;
    const entry = await this.#options.ledger.entry(this.#callId);
    const [ref] = entry?.refs ?? [];
    if (ref !== undefined) return parseVideoTaskRef(ref);
    const isUnknown = !GatewayError.isInstance(error) || error.outcome === 'unknown';
    if (!isUnknown) throw error;
    const isInProgress = VideoSubmitUnknownError.isInstance(error) && error.isInProgress;
    // A missing entry means that the claim was released because nothing was sent.
    if (isInProgress || entry === undefined) throw await this.#delay(recheckMs);
    const { unknownGrace = 120_000 } = this.#options;
    const { unknownSince = Date.now() } = this.#job.data;
    const waited = Date.now() - unknownSince;
    if (entry.status === 'submitting' && waited < unknownGrace) {
      await this.#checkLock();
      await this.#write({ unknownSince });
      throw await this.#delay(Math.min(recheckMs, unknownGrace - waited));
    }
    const problem = error instanceof Error ? error.message : String(error);
    const message = `${problem} If the ledger receives the task of call ${this.#callId}, job.retry() continues it.`;
    throw new UnrecoverableError(message, { cause: error });
  }

  /**
   * Delays the job until the first poll of its task.
   *
   * @param isRecorded - `true` if the ledger has recorded the task.
   */
  async #delayFirstPoll(ref: VideoTaskRef, isRecorded: boolean): Promise<never> {
    const hasLock = await this.#hasLock();
    // If the ledger has not recorded the task, the job is the only place to store it.
    if (hasLock || !isRecorded) await this.#write({ ref, unknownSince: undefined });
    if (!hasLock) {
      // Another worker may have failed the job while this worker was suspended.
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
    const options = { ...toWaitOptions(this.#options), signal: this.#signal, onUpdate };
    const { state, next } = await this.#client.videos.step(ref, this.#job.data.state, options);
    await this.#checkLock();
    if (seen !== undefined) await this.#report(seen);
    if ('delayMs' in next) {
      await this.#write({ ref, state });
      throw await this.#delay(next.delayMs);
    }
    if ('error' in next) {
      if (VideoFailedError.isInstance(next.error)) await this.#recordEnd(ref, 'failed');
      // If the job is retried manually, the wait starts over.
      else if (isFinal(next.error)) await this.#write({ ref, state: undefined });
      throw next.error;
    }
    await this.#recordEnd(ref, 'completed');
    const run = { client: this.#client, job: this.#job, token: this.#token, signal: this.#signal };
    return processContent(run, next.video, ref, this.#options);
  }

  /** Reports the status of the task. */
  async #report(update: VideoUpdate): Promise<void> {
    const { status, rawStatus, progress, polls, elapsed } = update;
    await this.#job.updateProgress({ status, rawStatus, progress, polls, elapsed });
    await this.#options.onUpdate?.(update, this.#job);
  }

  /** Records the end of the task in the ledger, and the task itself in case the ledger lacks it. */
  async #recordEnd(ref: VideoTaskRef, end: SubmitEnd): Promise<void> {
    const { ledger } = this.#options;
    await this.#updateLedger(async () => {
      await ledger.accept(this.#callId, ref);
      await ledger.finish(this.#callId, end);
    });
  }

  /** Updates the ledger, which may be repeated. Returns whether it succeeded in time. */
  async #updateLedger(update: () => Promise<void>): Promise<boolean> {
    const updated = (async () => update())().then(
      () => true,
      () => false,
    );
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ledgerTimeoutMs);
    });
    const isUpdated = await Promise.race([updated, timeout]);
    clearTimeout(timer);
    return isUpdated;
  }

  /**
   * Called before the job's data is written: BullMQ lets any worker write, and this one may have been
   * suspended while another took over the job. A suspension between the check and the write may still store
   * an older state. This only loses the polls in between, because the handle comes from the ledger.
   *
   * @throws `DelayedError` if another worker has the job
   */
  async #checkLock(): Promise<void> {
    if (!(await this.#hasLock())) throw lockLost();
  }

  /** Returns whether this run still holds the job. Queries BullMQ only if that is uncertain. */
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

  /** Delays the job. Write its data first: the next worker reads it. */
  #delay(milliseconds: number): Promise<DelayedError> {
    return delayJob(this.#job, this.#token, milliseconds);
  }
}

function lockLost(): DelayedError {
  return new DelayedError('Another worker has taken over the job.');
}
