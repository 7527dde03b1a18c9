import { onAbort } from './abort.ts';

/** How long a waiting item has to wait, in milliseconds; `Infinity` until `update()` is called again. */
interface Wait {
  /** Keeps all later items waiting too. */
  readonly all: number;
  /** Keeps only later items of the same lane waiting. */
  readonly lane: number;
}

interface Waiting<Item> {
  readonly item: Item;
  /** The position among all items. */
  readonly order: number;
  readonly start: () => void;
}

/** Lets items start in order, as soon as they may. */
export class FairQueue<Item extends { readonly lane?: unknown }> {
  /** The waiting items of each lane, in order. */
  readonly #lanes = new Map<unknown, Set<Waiting<Item>>>();
  readonly #waitFor: (item: Item) => Wait;
  readonly #onStart: (item: Item) => void;
  #count = 0;
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
        order: this.#count,
        start: () => {
          stop();
          resolve();
        },
      };
      this.#count += 1;
      const lane = this.#lanes.get(item.lane) ?? new Set();
      this.#lanes.set(item.lane, lane.add(waiting));
      const stop = onAbort(signal, () => {
        this.#remove(waiting);
        reject(signal.reason);
        this.update();
      });
      this.update();
    });
  }

  #remove(waiting: Waiting<Item>): void {
    const { lane } = waiting.item;
    const others = this.#lanes.get(lane);
    others?.delete(waiting);
    if (others?.size === 0) this.#lanes.delete(lane);
  }

  /** Returns the first waiting item outside of these lanes. */
  #findFirst(held: ReadonlySet<unknown>): Waiting<Item> | undefined {
    let first: Waiting<Item> | undefined;
    for (const [lane, [waiting]] of this.#lanes) {
      if (waiting === undefined || held.has(lane)) continue;
      if (first === undefined || waiting.order < first.order) first = waiting;
    }
    return first;
  }

  /** Starts the items that may start, and schedules the next update. */
  update(): void {
    clearTimeout(this.#timer);
    const held = new Set<unknown>();
    let next = Infinity;
    for (;;) {
      const waiting = this.#findFirst(held);
      if (waiting === undefined) break;
      const { item } = waiting;
      const { all, lane } = this.#waitFor(item);
      // Once the wait for all is over, items of other lanes may start.
      if (all > 0) {
        next = Math.min(next, all);
        break;
      }
      if (lane > 0) {
        next = Math.min(next, lane);
        held.add(item.lane);
        continue;
      }
      this.#remove(waiting);
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
