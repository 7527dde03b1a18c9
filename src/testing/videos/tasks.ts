import type { Bytes } from '../media/bytes.ts';
import type { EmulatorClock } from '../control/clock.ts';
import type { Ids } from '../control/ids.ts';
import type { Ledger } from '../control/ledger.ts';
import { markers } from '../routes/prompts.ts';
import { makeVideo } from '../media/mp4.ts';
import type { VideoState } from '../faults/quirks.ts';
import { findChannel, quirksFor, type TaskFailure, type VideoWorld } from './vendors.ts';

/** Parameters of a video task. */
export interface VideoOrder {
  readonly model: string;
  readonly prompt: string;
  /** Requested duration in seconds, or the vendor's default. */
  readonly seconds: string;
  readonly size: string;
  /** Fields whose reference images reached the vendor; the others were dropped. */
  readonly references: readonly string[];
  readonly remixedFrom?: string | undefined;
}

/** A video task of the emulator. */
export interface EmulatorVideo extends VideoOrder {
  /** The id in the response to the submission. */
  readonly id: string;
  /** The id at the provider behind the gateway. */
  readonly innerId: string;
  /** Path of the finished video, which is served without a key. */
  readonly filePath: string;
  /** In milliseconds since 1970 on the emulator's clock, like all times. */
  readonly createdAt: number;
  readonly state: VideoState;
  /** 0 to 100; also 100 for a failed task. */
  readonly progress: number;
  /** End time, once ended. */
  readonly endedAt?: number | undefined;
  /** Set if the state is `failed`. */
  readonly failure?: TaskFailure | undefined;
  /** `true` if the content has expired. */
  readonly expired: boolean;
}

interface TaskRecord {
  readonly id: string;
  readonly innerId: string;
  readonly order: VideoOrder;
  readonly filePath: string;
  readonly createdAt: number;
  endsAt: number;
  failure: TaskFailure | undefined;
  expired: boolean;
  /** The next poll reports `failed` although the task continues. */
  failsNextPoll: boolean;
  /** A client has seen the failure. */
  failureSeen: boolean;
  content: Promise<Bytes> | undefined;
}

interface Parts extends VideoWorld {
  readonly clock: EmulatorClock;
  readonly ids: Ids;
  readonly ledger: Ledger;
}

/** Vendor errors by status. */
const pollErrors = {
  401: {
    message: 'Incorrect API key provided',
    code: 'invalid_api_key',
    type: 'invalid_request_error',
  },
  429: { message: 'Rate limit reached', code: 'rate_limit_exceeded', type: 'requests' },
  500: { message: 'The server had an error', code: null, type: 'server_error' },
} as const;

function parseSize(size: string): { width: number; height: number } {
  const [width = 1280, height = 720] = (size.match(/\d+/g) ?? []).map(Number);
  const lines = /^(\d+)p$/i.exec(size)?.[1];
  if (lines === undefined) return { width, height };
  return { width: Math.round((Number(lines) * 16) / 9), height: Number(lines) };
}

/** The video tasks of an emulator. They progress with its clock, without timers. */
export class VideoTasks {
  /** Duration of new tasks, in milliseconds. */
  duration: number;
  readonly #parts: Parts;
  #tasks = new Map<string, TaskRecord>();
  #downloads: number[] = [];

  /** @internal */
  constructor(parts: Parts, duration: number) {
    this.#parts = parts;
    this.duration = duration;
  }

  /** All tasks, oldest first. */
  get list(): readonly EmulatorVideo[] {
    return [...this.#tasks.values()].map((task) => this.#seen(task));
  }

  /** Returns the task with an id. */
  get(id: string): EmulatorVideo | undefined {
    const task = this.#tasks.get(id);
    return task === undefined ? undefined : this.#seen(task);
  }

  /** Ends a task as failed, now. */
  fail(id: string, reason?: string | TaskFailure): void {
    const task = this.#find(id);
    reason ??= findChannel(this.#parts, task.order.model).failure;
    task.failure = typeof reason === 'string' ? { message: reason, code: 'task_failed' } : reason;
    task.endsAt = this.#parts.clock.now();
  }

  /**
   * Simulates a vendor error on the gateway's own poll, now; the quirk `videoPollError` determines the result.
   */
  failPoll(id: string, status: keyof typeof pollErrors = 429): void {
    const task = this.#find(id);
    const { videoPollError } = quirksFor(this.#parts, task.order.model);
    const message = 'upstream returned unrecognized message';
    if (videoPollError === 'failed-first') task.failsNextPoll = true;
    else if (videoPollError === 'unknown') this.fail(id, { message, code: '', shownAs: 'unknown' });
    else if (videoPollError !== 'none')
      this.fail(id, { ...pollErrors[status], shownAs: videoPollError });
  }

  /** Ends a task as completed, now. */
  complete(id: string): void {
    const task = this.#find(id);
    task.failure = undefined;
    task.endsAt = this.#parts.clock.now();
  }

  /** Expires the content of a task; the content route then responds with 410. */
  expire(id: string): void {
    this.#find(id).expired = true;
  }

  /** Removes a task, like a gateway that lost it from its database. */
  forget(id: string): void {
    this.#tasks.delete(id);
  }

  /** @internal */
  add(order: VideoOrder, id: string, filePath: string): EmulatorVideo {
    const createdAt = this.#parts.clock.now();
    const task: TaskRecord = {
      id,
      innerId: this.#parts.ids.next('', 19),
      order,
      filePath,
      createdAt,
      endsAt: createdAt + this.duration,
      failure: order.prompt.includes(markers.fail)
        ? findChannel(this.#parts, order.model).failure
        : undefined,
      expired: false,
      failsNextPoll: false,
      failureSeen: false,
      content: undefined,
    };
    this.#tasks.set(id, task);
    if (order.prompt.includes(markers.pollError)) {
      this.failPoll(id);
      task.endsAt = createdAt + this.duration;
    }
    return this.#seen(task);
  }

  /** @internal Returns the bytes of the finished video. */
  content(id: string): Promise<Bytes> {
    const task = this.#find(id);
    const { prompt, seconds, size } = task.order;
    task.content ??= makeVideo({ prompt, seconds: Number(seconds), ...parseSize(size) });
    return task.content;
  }

  /** @internal Handles a status request of a client. */
  poll(id: string): EmulatorVideo | undefined {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    const seen = this.#seen(task);
    task.failureSeen ||= seen.state === 'failed';
    if (!task.failsNextPoll) return seen;
    task.failsNextPoll = false;
    return { ...seen, state: 'failed', progress: 100, failure: pollErrors[429] };
  }

  /** @internal Counts a download. Returns whether it is within the limit. */
  mayDownload(): boolean {
    const { contentLimit } = this.#parts.quirks;
    const now = this.#parts.clock.now();
    const counted = this.#downloads.filter((at) => now - at < 60_000);
    const isWithin = contentLimit === 0 || counted.length < contentLimit;
    this.#downloads = isWithin ? [...counted, now] : counted;
    return isWithin;
  }

  /** @internal Refunds failed tasks. */
  settle(): void {
    const now = this.#parts.clock.now();
    for (const { id, endsAt, failure, order, failureSeen } of this.#tasks.values()) {
      if (failure === undefined || now < endsAt) continue;
      const { videoRefund } = quirksFor(this.#parts, order.model);
      const isRefunded = videoRefund === 'unless-polled' ? !failureSeen : videoRefund;
      if (isRefunded) this.#parts.ledger.refund(id, endsAt, failure.message);
    }
  }

  /** @internal */
  clear(): void {
    this.#tasks = new Map();
    this.#downloads = [];
  }

  #find(id: string): TaskRecord {
    const task = this.#tasks.get(id);
    if (task === undefined) throw new RangeError(`The emulator has no video task "${id}"`);
    return task;
  }

  #seen({ order, endsAt, failure, ...task }: TaskRecord): EmulatorVideo {
    const now = this.#parts.clock.now();
    const { id, innerId, filePath, createdAt, expired } = task;
    const seen = { ...order, id, innerId, filePath, createdAt, expired };
    if (now >= endsAt) {
      const state = failure === undefined ? 'completed' : 'failed';
      return { ...seen, state, progress: 100, endedAt: endsAt, failure };
    }
    const part = (now - createdAt) / (endsAt - createdAt);
    // A task is `unknown` until the gateway's own poller has checked it for the first time.
    if (part < 0.1) return { ...seen, state: 'unknown', progress: 0 };
    if (part < 0.3) return { ...seen, state: 'queued', progress: 10 };
    return { ...seen, state: 'in_progress', progress: part < 0.6 ? 30 : 50 };
  }
}
