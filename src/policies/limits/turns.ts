import { onAbort } from '../../http/abort.ts';

/** How long a waiting item has to wait, in milliseconds; `Infinity` until `update()` is called again. */
interface Wait {
  /** Keeps all later items waiting too. */
  readonly all: number;
  /** Keeps only later items of the same lane waiting. */
  readonly lane: number;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly start: () => void;
}

/** Lets items start in order, as soon as they may. */
export class Turns<Item extends { readonly lane?: unknown }> {
  readonly #waiting = new Set<Waiting<Item>>();
  readonly #waitFor: (item: Item) => Wait;
  readonly #onStart: (item: Item) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param onStart - Called when an item starts, before the wait of the next one is computed. */
  constructor(waitFor: (item: Item) => Wait, onStart: (item: Item) => void) {
    this.#waitFor = waitFor;
    this.#onStart = onStart;
  }

  /** Waits for the turn of an item, or rejects with the reason of `signal` as soon as it is aborted. */
  take(item: Item, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        item,
        start: () => {
          stop();
          resolve();
        },
      };
      this.#waiting.add(waiting);
      const stop = onAbort(signal, () => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
        this.update();
      });
      this.update();
    });
  }

  /** Starts the items that may start, and schedules the next update. */
  update(): void {
    clearTimeout(this.#timer);
    const lanes = new Set<unknown>();
    let next = Infinity;
    for (const waiting of this.#waiting) {
      const { item } = waiting;
      if (lanes.has(item.lane)) continue;
      const { all, lane } = this.#waitFor(item);
      if (all > 0 || lane > 0) {
        // Once the wait for all is over, items of other lanes may start.
        next = Math.min(next, all > 0 ? all : lane);
        if (all > 0) break;
        lanes.add(item.lane);
        continue;
      }
      this.#waiting.delete(waiting);
      this.#onStart(item);
      waiting.start();
    }
    if (next < Infinity) this.#timer = setTimeout(() => this.update(), Math.ceil(next));
  }
}

/** The pause between starts after a rate limit, until one succeeds: ten a minute. */
const slowInterval = 6_000;

/**
 * The pace of requests after a rate limit: none for a while, then one per interval until one of them succeeds.
 */
export class Pace {
  /** The number of limits so far. The success of a request that started before the latest one is ignored. */
  limits = 0;
  isLimited = false;
  #next = 0;

  /** Milliseconds until the next request may start. */
  get pause(): number {
    return Math.max(0, this.#next - performance.now());
  }

  /** Holds requests back, for at least `duration` milliseconds. */
  hold(duration: number): void {
    this.#next = Math.max(this.#next, performance.now() + duration);
  }

  /** Holds requests back, and slows down those after that. */
  limit(duration: number): void {
    this.limits += 1;
    this.isLimited = true;
    this.hold(duration);
  }

  started(): void {
    if (this.isLimited) this.hold(slowInterval);
  }

  /** @param limits - The value of `limits` when the request started. */
  succeeded(limits: number): void {
    if (!this.isLimited || limits !== this.limits) return;
    this.isLimited = false;
    this.#next = 0;
  }
}
