import type { Bytes } from './bytes.ts';
import type { EmulatorClock } from './clock.ts';
import type { Ids } from './ids.ts';
import type { Ledger } from './ledger.ts';
import { markers } from './markers.ts';
import { makeVideo } from './mp4.ts';
import type { VideoState } from './quirks.ts';

/** Why a task of the emulator failed. */
export interface TaskFailure {
  readonly message: string;
  readonly code: string;
}

/** What a video task is made from. */
export interface VideoOrder {
  readonly model: string;
  readonly prompt: string;
  /** The duration in seconds, as it was asked for. */
  readonly seconds: string;
  readonly size: string;
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
  content: Promise<Bytes> | undefined;
}

interface Parts {
  readonly clock: EmulatorClock;
  readonly ids: Ids;
  readonly ledger: Ledger;
}

const reviewFailure: TaskFailure = {
  message: 'The content was rejected by the safety review.',
  code: 'content_policy_violation',
};

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
  fail(id: string, reason: string | TaskFailure = reviewFailure): void {
    const task = this.#find(id);
    task.failure = typeof reason === 'string' ? { message: reason, code: 'task_failed' } : reason;
    task.endsAt = this.#parts.clock.now();
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
      failure: order.prompt.includes(markers.fail) ? reviewFailure : undefined,
      expired: false,
      content: undefined,
    };
    this.#tasks.set(id, task);
    return this.#seen(task);
  }

  /** @internal The bytes of the finished video. */
  content(id: string): Promise<Bytes> {
    const task = this.#find(id);
    const { prompt, seconds, size } = task.order;
    task.content ??= makeVideo({ prompt, seconds: Number(seconds), ...parseSize(size) });
    return task.content;
  }

  /** @internal Gives back what failed tasks cost. */
  settle(): void {
    const now = this.#parts.clock.now();
    for (const { id, endsAt, failure } of this.#tasks.values()) {
      if (failure !== undefined && now >= endsAt) this.#parts.ledger.refund(id, endsAt);
    }
  }

  /** @internal */
  clear(): void {
    this.#tasks = new Map();
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
