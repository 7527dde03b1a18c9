import { quiet } from './quiet.ts';
import { finished } from './stream-source.ts';

interface Waiting<Item> {
  readonly resolve: (result: IteratorResult<Item, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/** Hands items that are pushed to a loop that pulls. */
export class ChunkQueue<Item> implements AsyncIterableIterator<Item, undefined> {
  readonly #items: Item[] = [];
  readonly #waiting: Waiting<Item>[] = [];
  readonly #onLeave: () => void;
  #isEnded = false;
  #error: unknown;

  /** @param onLeave - Called when the loop is left before the end. */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
  }

  push(item: Item): void {
    if (this.#isEnded) return;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#items.push(item);
    else waiting.resolve({ done: false, value: item });
  }

  /** Ends the loop when it has taken what is there, with `error` when there is one. */
  end(error: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (this.#error === undefined) resolve(finished);
      else reject(this.#takeError());
    }
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    const value = this.#items.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#error !== undefined) return quiet(Promise.reject(this.#takeError()));
    if (this.#isEnded) return Promise.resolve(finished);
    return quiet(
      new Promise((resolve, reject) => {
        this.#waiting.push({ resolve, reject });
      }),
    );
  }

  return(): Promise<IteratorResult<Item, undefined>> {
    const isLeft = !this.#isEnded;
    this.#items.length = 0;
    this.end(undefined);
    if (isLeft) this.#onLeave();
    return Promise.resolve(finished);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** An iterator fails once and is done from then on. */
  #takeError(): unknown {
    const error = this.#error;
    this.#error = undefined;
    return error;
  }
}
