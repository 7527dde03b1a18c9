import { finished, type StreamSource } from './stream-source.ts';

/** One of two streams that give the same items. */
class Branch<Item> implements StreamSource<Item> {
  readonly #shared: Shared<Item>;
  /** Results that the other branch has asked for and this one has not. */
  #waiting: Promise<IteratorResult<Item, undefined>>[] = [];
  #isClosed = false;

  constructor(shared: Shared<Item>) {
    this.#shared = shared;
    shared.branches.push(this);
  }

  get controller() {
    return this.#shared.source.controller;
  }

  get verdict() {
    return this.#shared.source.verdict;
  }

  get partial() {
    return this.#shared.source.partial;
  }

  get usage() {
    return this.#shared.source.usage;
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#isClosed) return Promise.resolve(finished);
    if (this.#waiting.length === 0) this.#pull();
    return this.#waiting.shift() ?? Promise.resolve(finished);
  }

  #pull(): void {
    const result = this.#shared.source.next();
    for (const branch of this.#shared.branches) branch.#offer(result);
  }

  #offer(result: Promise<IteratorResult<Item, undefined>>): void {
    if (!this.#isClosed) this.#waiting.push(result);
  }

  close(): void {
    this.#leave('close');
  }

  abandon(): void {
    this.#leave('abandon');
  }

  #leave(how: 'close' | 'abandon'): void {
    this.#isClosed = true;
    this.#waiting = [];
    if (this.#shared.branches.every((branch) => branch.#isClosed)) this.#shared.source[how]();
  }
}

interface Shared<Item> {
  readonly source: StreamSource<Item>;
  readonly branches: Branch<Item>[];
}

/** Splits a source in two. What one of them has read and the other has not is kept in memory. */
export function teeSource<Item>(
  source: StreamSource<Item>,
): [StreamSource<Item>, StreamSource<Item>] {
  const shared: Shared<Item> = { source, branches: [] };
  return [new Branch(shared), new Branch(shared)];
}
