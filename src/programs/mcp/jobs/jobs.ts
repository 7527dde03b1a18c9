import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../../../answers/objects.ts';
import {
  APIError,
  ContentUnavailableError,
  ImageFailedError,
  ImageWaitError,
  VideoFailedError,
  type Gateway,
  type VideoTask,
  type VideoTaskRef,
} from '../../../index.ts';
import { isAlive, thisProcess } from '../../../adapters/node/durable.ts';
import { downloadVideo } from '../../../adapters/node/index.ts';
import { describeRemark } from '../../advice.ts';
import { ReportedCosts } from '../../reported-costs.ts';
import {
  busyCode,
  downloading,
  isOver,
  type Job,
  type JobRecord,
  type JobUpdate,
  type OutputFile,
  undelivered,
} from './job.ts';
import { toAgentMessage, withoutAdvice } from './messages.ts';
import {
  findResult,
  isCompleted,
  isFileProblem,
  mimeType,
  prepareFolder,
  saveImages,
  checkFiles,
  saveUnread,
} from './outputs.ts';
import { findFreePath } from '../../free-names.ts';
import type { JobStore } from './store.ts';

/** The message to a worker on its standard input. */
export interface WorkerMessage {
  readonly job: Job;
}

/** How jobs are run. */
export interface JobsOptions {
  readonly store: JobStore;
  /** The folder for results whose own folder cannot be written. */
  readonly spareFolder: string;
  /** Makes the call of a message, which has the settings too. Returns the exit code. */
  readonly runWorker: (message: WorkerMessage) => Promise<number | null>;
  /** Added to the message to a worker. */
  readonly settings: object;
  /** The maximum number of workers at the same time. */
  readonly concurrency: number;
  readonly openClient: (costs: ReportedCosts) => Promise<Gateway>;
}

/** Limits of a wait for a job. */
export interface JobWait {
  /** In milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** `true` to return once the gateway has accepted a task. */
  readonly untilSubmitted?: boolean | undefined;
  /** Called about every two seconds. */
  readonly onProgress?: ((record: JobRecord, seconds: number) => Promise<void>) | undefined;
}

/** Time between two reads of the record of a job, in milliseconds. */
const pollInterval = 200;

const progressInterval = 2_000;

/** The number of failed downloads of a completed video that end its job, each with the retries of the client. */
const maxFailedDownloads = 3;

/** The download of a completed video failed. `cause` is the reason. */
class DownloadError extends Error {
  override readonly name = 'DownloadError';

  constructor(cause: unknown) {
    super(errorMessage(cause), { cause });
  }
}

/**
 * Returns the change of the record after a failed wait or download. A failed task is over, and so is a video that the
 * gateway will not return. Anything else is tried again by the next wait.
 */
function describeFailure(error: unknown, { failedDownloads = 0 }: JobRecord): JobUpdate {
  if (!(error instanceof DownloadError)) {
    const message = toAgentMessage(error);
    const isFailed = VideoFailedError.isInstance(error) || ImageFailedError.isInstance(error);
    return isFailed ? { state: 'failed', message } : { message };
  }
  const { cause } = error;
  const url = ContentUnavailableError.isInstance(cause) ? cause.url : undefined;
  const place = url === undefined ? '' : ` Download it from ${url}`;
  const message = `The video is completed, but could not be downloaded: ${withoutAdvice(cause)}${place}`;
  // A full disk or a lost connection says nothing about the gateway.
  const isRefused =
    APIError.isInstance(cause) && cause.status !== undefined && cause.status !== 429;
  const failures = failedDownloads + (isRefused ? 1 : 0);
  const isLost = ContentUnavailableError.isInstance(cause) || failures >= maxFailedDownloads;
  const end = isLost ? ({ state: 'failed', status: undelivered } as const) : {};
  return { message, failedDownloads: failures, ...end };
}

/**
 * Runs paid calls, each in a process of its own that continues if this one is killed. So a host that kills
 * the server during a call loses neither the result nor the money.
 */
export class Jobs {
  readonly #options: JobsOptions;
  readonly #workers = new Map<string, Promise<void>>();
  readonly #tasks = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();
  #free: number;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#free = options.concurrency;
  }

  /** Makes the call of a queued job. */
  start(job: Job): void {
    const { callId } = job;
    // A worker that has recorded the end of an earlier attempt may still have to exit.
    const earlier = this.#workers.get(callId) ?? Promise.resolve();
    const work = earlier
      .then(() => this.#work(job))
      // The record tells what became of the job.
      .catch(() => {})
      .finally(() => {
        if (this.#workers.get(callId) === work) this.#workers.delete(callId);
      });
    this.#workers.set(callId, work);
  }

  async #work(job: Job): Promise<void> {
    const { store, concurrency, runWorker, settings } = this.#options;
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      if (this.#closing.signal.aborted) return;
      const code = await runWorker({ job, ...settings });
      const record = await store.read(job.callId);
      if (code !== 0 && code !== busyCode && record?.state === 'queued') {
        await this.#giveUp(record, `The process for the call ended with the code ${code}.`);
      }
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free = Math.min(concurrency, this.#free + 1);
      else next();
    }
  }

  /**
   * Waits until a job is over, or the time is. The result of a task is saved meanwhile.
   *
   * @returns The last state; `undefined` if there is no such job
   */
  async wait(
    callId: string,
    { timeout, signal, untilSubmitted = false, onProgress }: JobWait,
  ): Promise<JobRecord | undefined> {
    const started = performance.now();
    let nextProgress = progressInterval;
    let isSaving = false;
    for (;;) {
      const record = await this.#options.store.read(callId);
      if (record === undefined || isOver(record)) return record;
      const isSubmitted = record.state === 'submitted' && record.ref !== undefined;
      if (isSubmitted && !isSaving && !this.isRunning(record)) {
        this.#finishTask(callId);
        isSaving = true;
      }
      if (!this.isRunning(record)) return this.#abandon(record);
      const elapsed = performance.now() - started;
      const isClosing = signal.aborted || this.#closing.signal.aborted;
      if ((isSubmitted && untilSubmitted) || isClosing || elapsed >= timeout) return record;
      if (elapsed >= nextProgress) {
        nextProgress += progressInterval;
        await onProgress?.(record, Math.round(elapsed / 1_000));
      }
      await delay(Math.min(pollInterval, Math.max(1, timeout - elapsed)));
    }
  }

  /** Records that no process works on a job any more. */
  async #abandon({ callId, updatedAt }: JobRecord): Promise<JobRecord | undefined> {
    const { store } = this.#options;
    const record = await store.read(callId);
    // Its process may have recorded the end just before it exited. A task is awaited again by the next call.
    if (record?.updatedAt !== updatedAt || record.state === 'submitted') return record;
    return record.state === 'queued'
      ? this.#giveUp(record, 'The server ended before the request was sent.')
      : this.#giveUp(record, 'The process of this call ended before it recorded a result.');
  }

  /** Records the end of a job whose process has ended. Its result may be saved nevertheless. */
  async #giveUp(record: JobRecord, message: string): Promise<JobRecord> {
    const { store, spareFolder } = this.#options;
    const { callId, state, charged = 'unknown' } = record;
    // A queued job may have been sent by an earlier process.
    const isFree = state === 'queued' && record.charged === undefined;
    const end: JobUpdate = isFree
      ? { state: 'failed', charged: 'no', message }
      : ((await findResult(record, spareFolder)) ?? { state: 'unknown', charged, message });
    const recorded = await store.update(callId, end).catch(() => undefined);
    return recorded ?? { ...record, ...end };
  }

  /** Returns whether a process works on a job. */
  isRunning({ callId, state, owner, updatedAt }: JobRecord): boolean {
    if (this.#workers.has(callId) || this.#tasks.has(callId)) return true;
    // This process has lost a job that it neither makes nor awaits.
    const isOwn = owner.pid === process.pid && owner.start === thisProcess().start;
    return state !== 'done' && !isOwn && isAlive(owner, updatedAt) === true;
  }

  /** Waits for a task and saves its result, in this process: both are free and can be repeated. */
  #finishTask(callId: string): void {
    if (this.#tasks.has(callId)) return;
    const work = this.#waitAndSave(callId)
      // The next wait tries again.
      .catch(() => {})
      .finally(() => this.#tasks.delete(callId));
    this.#tasks.set(callId, work);
  }

  async #waitAndSave(callId: string): Promise<void> {
    const { store, openClient, spareFolder } = this.#options;
    // Another wait may have recorded the end since the caller has read the record.
    const record = await store.read(callId);
    if (record?.state !== 'submitted' || record.ref === undefined) return;
    const { folder, name, ref } = record;
    const { signal } = this.#closing;
    const costs = new ReportedCosts();
    try {
      const client = await openClient(costs);
      const result =
        ref.kind === 'video'
          ? await this.#makeVideo(client, ref, record)
          : await saveImages(
              await client.images.wait(ref, { signal }),
              [folder, spareFolder],
              name,
              record.count,
            );
      const cost = costs.total ?? record.cost;
      await store.update(callId, {
        state: 'done',
        status: undefined,
        message: undefined,
        cost,
        ...result,
      });
    } catch (error) {
      if (signal.aborted) return;
      if (ImageWaitError.isInstance(error) && isCompleted(error)) {
        const unread = await saveUnread(error, [folder, spareFolder], name);
        const message = withoutAdvice(error);
        await store.update(callId, { state: 'failed', message, ...unread });
        return;
      }
      await store.update(callId, describeFailure(error, record));
    }
  }

  async #makeVideo(client: Gateway, ref: VideoTaskRef, record: JobRecord): Promise<JobUpdate> {
    const { store } = this.#options;
    const { signal } = this.#closing;
    const video = await client.videos.wait(ref, {
      signal,
      async onUpdate({ status, progress }) {
        const percent = progress === undefined ? '' : ` ${Math.round(progress)} %`;
        await store.update(record.callId, { status: `${status}${percent}`, message: undefined });
      },
    });
    try {
      const file = await this.#download(client, video, record, signal);
      const message = describeRemark(video.error);
      return { files: [file], message, ...(await checkFiles([file], 'video')) };
    } catch (error) {
      throw signal.aborted ? error : new DownloadError(error);
    }
  }

  async #download(
    client: Gateway,
    video: VideoTask,
    record: JobRecord,
    signal: AbortSignal,
  ): Promise<OutputFile> {
    const { store, spareFolder } = this.#options;
    const { callId, folder, name } = record;
    const save = async (to: string): Promise<OutputFile> => {
      await prepareFolder(dirname(to));
      // Recorded first, so that another process resumes the same file.
      await store.update(callId, { target: to, status: downloading });
      const { path, bytes } = await downloadVideo(client, video, { to, resume: true, signal });
      return { path, bytes, mimeType: mimeType(path) };
    };
    try {
      return await save(record.target ?? (await findFreePath(folder, name, 'mp4')));
    } catch (error) {
      if (!isFileProblem(error)) throw error;
      return save(await findFreePath(spareFolder, name, 'mp4'));
    }
  }

  /**
   * Starts no further calls, and waits for those that run: each is finished, saved and recorded. Videos that
   * the gateway is still creating can be awaited by another process.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const resume of this.#waiting.splice(0)) resume();
    await Promise.all([...this.#workers.values(), ...this.#tasks.values()]);
  }
}
