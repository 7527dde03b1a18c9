/** An abort by the caller. */
export interface Aborted {
  /** The error that an incomplete loop throws; `undefined` if it ends quietly. */
  readonly failure: unknown;
}

/** The result of `next()` when nothing follows. */
export const finished: IteratorResult<never, undefined> = { done: true, value: undefined };

/** Prevents an unhandled rejection if the promise is never awaited. */
export function ignoreRejection<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

/** Queues pushed items for a loop that pulls them. */
export class ChunkQueue<Item> implements AsyncIterableIterator<Item, undefined> {
  /** Pushed items that were not read yet. */
  #unread: IteratorResult<Item, undefined>[] = [];
  /** The error that the loop throws after the unread items. */
  #failure: unknown;
  /** The error for a loop that would end normally, although an abort dropped items. */
  #abortFailure: unknown;
  readonly #waiting: ((result: IteratorResult<Item, undefined> | Promise<never>) => void)[] = [];
  #longestWaiting: Promise<unknown> | undefined;
  readonly #onLeave: (() => void) | undefined;
  readonly #readAborted: (() => Aborted | undefined) | undefined;
  #isEnded = false;

  /**
   * @param onLeave - Called if the loop ends early.
   * @param readAborted - Returns the abort by the caller, which drops unread items also after the end.
   */
  constructor(onLeave?: () => void, readAborted?: () => Aborted | undefined) {
    this.#onLeave = onLeave;
    this.#readAborted = readAborted;
  }

  /** `true` while a read waits for an item. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** `true` if pushed items are unread. */
  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  push(value: Item): void {
    if (this.#isEnded) return;
    const deliver = this.#waiting.shift();
    if (deliver === undefined) this.#unread.push({ done: false, value });
    else deliver({ done: false, value });
  }

  /** Ends the loop after the unread items, with an error if there is one. */
  end(reason: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const failure = reason ?? this.#abortFailure;
    const deliver = failure === undefined ? undefined : this.#waiting.shift();
    if (deliver === undefined) this.#failure = failure;
    else {
      if (this.#longestWaiting !== undefined) void ignoreRejection(this.#longestWaiting);
      deliver(ignoreRejection(Promise.reject(failure)));
    }
    for (const rest of this.#waiting.splice(0)) rest(finished);
  }

  /** Ends the loop without the unread items. */
  drop(failure?: unknown): void {
    this.#unread = [];
    this.#failure = undefined;
    this.end(failure);
  }

  /** Drops the unread items after an abort. A loop that has not ended yet waits for the end. */
  #dropAborted(): void {
    const aborted = this.hasUnread ? this.#readAborted?.() : undefined;
    if (aborted === undefined) return;
    const { failure } = aborted;
    this.#unread = [];
    if (!this.#isEnded) this.#abortFailure = failure;
    else this.#failure = failure === undefined ? undefined : (this.#failure ?? failure);
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    this.#dropAborted();
    const result = this.#unread.shift();
    if (result !== undefined) return Promise.resolve(result);
    const failure = this.#failure;
    if (failure !== undefined) {
      // An iterator fails once and is done from then on.
      this.#failure = undefined;
      return ignoreRejection(Promise.reject(failure));
    }
    if (this.#isEnded) return Promise.resolve(finished);
    const promise = new Promise<IteratorResult<Item, undefined>>((resolve) =>
      this.#waiting.push(resolve),
    );
    // Usually one promise waits at a time. Its rejection is ignored only if it fails, because doing so for
    // every item costs as much as reading a short one.
    if (this.#waiting.length > 1) return ignoreRejection(promise);
    this.#longestWaiting = promise;
    return promise;
  }

  return(): Promise<IteratorResult<Item, undefined>> {
    const isLeft = !this.#isEnded;
    this.drop();
    if (isLeft) this.#onLeave?.();
    return Promise.resolve(finished);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
