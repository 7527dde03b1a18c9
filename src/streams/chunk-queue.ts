import { finished, quiet } from './stream-source.ts';

type Result<Item> = IteratorResult<Item, undefined>;

/** A result, or a promise that fails. */
type Given<Item> = Result<Item> | Promise<never>;

/** Hands items that are pushed to a loop that pulls. */
export class ChunkQueue<Item> implements AsyncIterableIterator<Item, undefined> {
  /** What nobody has asked for yet. */
  readonly #results: Given<Item>[] = [];
  readonly #waiting: ((result: Given<Item>) => void)[] = [];
  readonly #onLeave: () => void;
  #isEnded = false;

  /** @param onLeave - Called when the loop is left before the end. */
  constructor(onLeave: () => void) {
    this.#onLeave = onLeave;
  }

  push(value: Item): void {
    if (!this.#isEnded) this.#give({ done: false, value });
  }

  /** Ends the loop when it has taken what is there, with `failure` when there is one. */
  end(failure: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    // An iterator fails once and is done from then on.
    if (failure !== undefined) this.#give(quiet(Promise.reject(failure)));
    for (const answer of this.#waiting.splice(0)) answer(finished);
  }

  #give(result: Given<Item>): void {
    const answer = this.#waiting.shift();
    if (answer === undefined) this.#results.push(result);
    else answer(result);
  }

  next(): Promise<Result<Item>> {
    const result = this.#results.shift();
    if (result !== undefined) return Promise.resolve(result);
    if (this.#isEnded) return Promise.resolve(finished);
    return quiet(new Promise((resolve) => this.#waiting.push(resolve)));
  }

  return(): Promise<Result<Item>> {
    const isLeft = !this.#isEnded;
    this.#results.length = 0;
    this.end(undefined);
    if (isLeft) this.#onLeave();
    return Promise.resolve(finished);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
