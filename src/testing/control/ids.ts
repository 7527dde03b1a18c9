import { letters } from '../media/hash.ts';

/** Generates ids that are the same in every run, so that tests can compare whole responses. */
export class Ids {
  readonly #seed: string;
  #counts = new Map<string, number>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Returns the next id with a prefix, for example `task_` and 32 characters. */
  next(prefix: string, length = 32): string {
    return prefix + this.#random(prefix, length);
  }

  /** Returns a request id in the gateway's format: the time in UTC as digits, then 16 characters. */
  nextRequestId(now: number): string {
    return new Date(now).toISOString().replaceAll(/\D/g, '') + this.#random('request', 16);
  }

  reset(): void {
    this.#counts = new Map();
  }

  #random(kind: string, length: number): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return letters(`${this.#seed} ${kind} ${count}`, length);
  }
}
