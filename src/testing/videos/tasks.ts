import type { Bytes } from '../media/bytes.ts';
import type { EmulatorClock } from '../control/clock.ts';
import type { Ids } from '../control/ids.ts';
import type { Ledger } from '../control/ledger.ts';
import { markers } from '../routes/prompts.ts';
import { makeVideo } from '../media/mp4.ts';
import type { VideoState } from '../faults/quirks.ts';
import { channelOf, quirksFor, type TaskFailure, type VideoWorld } from './vendors.ts';

/** What a video task is made from. */
export interface VideoOrder {
  readonly model: string;
  readonly prompt: string;
  /** The duration in seconds that the vendor was asked for, or makes when it was not asked. */
  readonly seconds: string;
  readonly size: string;
  /** The fields whose reference pictures reached the vendor; the others were dropped. */
  readonly references: readonly string[];
  readonly remixedFrom?: string | undefined;
}

/** A video task of the emulator. */
export interface EmulatorVideo extends VideoOrder {
  /** The id that the submission answered. */
  readonly id: string;
  /** The id that the provider behind the gateway uses. */
  readonly innerId: string;
  /** Where the finished video is served without a key. */
  readonly filePath: string;
  /** Times are in milliseconds since 1970 on the emulator's clock. */
  readonly createdAt: number;
  readonly state: VideoState;
  /** 0 to 100; 100 on a failed task too. */
  readonly progress: number;
  /** When it ended. */
  readonly endedAt?: number | undefined;
  /** Set when the state is `failed`. */
  readonly failure?: TaskFailure | undefined;
  /** Whether its content is gone. */
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
  /** Whether the next poll says `failed` of a task that goes on. */
  stumbles: boolean;
  /** Whether a client saw the failure. */
  failureSeen: boolean;
  content: Promise<Bytes> | undefined;
}

interface Parts extends VideoWorld {
  readonly clock: EmulatorClock;
  readonly ids: Ids;
  readonly ledger: Ledger;
}

/** What a vendor says that stumbles with a status. */
const stumbles = {
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

/** The video tasks of an emulator. They move by its clock, without timers. */
export class VideoTasks {
  /** How long a new task takes, in milliseconds. */
  duration: number;
  readonly #parts: Parts;
  #tasks = new Map<string, TaskRecord>();
  #downloads: number[] = [];

  /** @internal */
  constructor(parts: Parts, duration: number) {
    this.#parts = parts;
    this.duration = duration;
  }

  /** Every task, oldest first. */
  get list(): readonly EmulatorVideo[] {
    return [...this.#tasks.values()].map((task) => this.#seen(task));
  }

  /** The task with an id, or nothing. */
  get(id: string): EmulatorVideo | undefined {
    const task = this.#tasks.get(id);
    return task === undefined ? undefined : this.#seen(task);
  }

  /** Ends a task as failed, now. */
  fail(id: string, reason?: string | TaskFailure): void {
    const task = this.#find(id);
    reason ??= channelOf(this.#parts, task.order.model).failure;
    task.failure = typeof reason === 'string' ? { message: reason, code: 'task_failed' } : reason;
    task.endsAt = this.#parts.clock.now();
  }

  /**
   * The vendor answers the gateway's own poll with an error status, now; the quirk `videoStumble` says
   * what follows.
   */
  stumble(id: string, status: keyof typeof stumbles = 429): void {
    const task = this.#find(id);
    const { videoStumble } = quirksFor(this.#parts, task.order.model);
    const message = 'upstream returned unrecognized message';
    if (videoStumble === 'failed-first') task.stumbles = true;
    else if (videoStumble === 'unknown') this.fail(id, { message, code: '', shownAs: 'unknown' });
    else if (videoStumble !== 'none') this.fail(id, { ...stumbles[status], shownAs: videoStumble });
  }

  /** Ends a task as completed, now. */
  complete(id: string): void {
    const task = this.#find(id);
    task.failure = undefined;
    task.endsAt = this.#parts.clock.now();
  }

  /** Takes the content of a task away; the content route answers 410. */
  expire(id: string): void {
    this.#find(id).expired = true;
  }

  /** Forgets a task, as a gateway whose database lost it. */
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
        ? channelOf(this.#parts, order.model).failure
        : undefined,
      expired: false,
      stumbles: false,
      failureSeen: false,
      content: undefined,
    };
    this.#tasks.set(id, task);
    if (order.prompt.includes(markers.stumble)) {
      this.stumble(id);
      task.endsAt = createdAt + this.duration;
    }
    return this.#seen(task);
  }

  /** @internal The bytes of the finished video. */
  content(id: string): Promise<Bytes> {
    const task = this.#find(id);
    const { prompt, seconds, size } = task.order;
    task.content ??= makeVideo({ prompt, seconds: Number(seconds), ...parseSize(size) });
    return task.content;
  }

  /** @internal A client asks for the status. */
  poll(id: string): EmulatorVideo | undefined {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    const seen = this.#seen(task);
    task.failureSeen ||= seen.state === 'failed';
    if (!task.stumbles) return seen;
    task.stumbles = false;
    return { ...seen, state: 'failed', progress: 100, failure: stumbles[429] };
  }

  /** @internal Counts a download. @returns whether it is within the limit */
  mayDownload(): boolean {
    const { contentLimit } = this.#parts.quirks;
    const now = this.#parts.clock.now();
    const counted = this.#downloads.filter((at) => now - at < 60_000);
    const isWithin = contentLimit === 0 || counted.length < contentLimit;
    this.#downloads = isWithin ? [...counted, now] : counted;
    return isWithin;
  }

  /** @internal Gives back what failed tasks cost. */
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
    // A task is `unknown` until the gateway's own poller has looked at it for the first time.
    if (part < 0.1) return { ...seen, state: 'unknown', progress: 0 };
    if (part < 0.3) return { ...seen, state: 'queued', progress: 10 };
    return { ...seen, state: 'in_progress', progress: part < 0.6 ? 30 : 50 };
  }
}
