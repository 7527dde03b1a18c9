/** The length of a step in milliseconds. */
const stepLength = 500;

/** The step after which requests are no longer held back: the last one lets 1,024 of them start. */
const lastStep = 10;

/** Successes do not lead further than to this step, with 64 starts. */
const lastEarlyStep = 6;

/**
 * When requests may start after a rate limit: none for a while, then 1, 2, 4, … in each half second, so that those
 * that have waited do not all start at once.
 */
export class Ramp {
  /** The number of limits and steps so far. A limit counts twice. */
  changes = 0;
  #step = lastStep + 1;
  /** The number of starts in this step. */
  #starts = 0;
  /** The times before which no request starts, on the clock of `performance.now()`. */
  #next = 0;
  #heldUntil = 0;

  /** Milliseconds until the next request may start. */
  get pause(): number {
    return Math.max(0, Math.max(this.#next, this.#heldUntil) - performance.now());
  }

  /** Holds requests back, for at least `duration` milliseconds. */
  hold(duration: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, performance.now() + duration);
  }

  /** Holds requests back, and slows down those after that. */
  limit(duration: number): void {
    this.changes += 1;
    this.#enter(0);
    this.hold(duration);
  }

  started(): void {
    if (this.#step > lastStep) return;
    this.#next = performance.now() + this.#gap();
    this.#starts += 1;
    if (this.#starts >= 2 ** this.#step) this.#enter(this.#step + 1);
  }

  /**
   * Takes the next step at once and lets a request start, because the gateway accepts requests again.
   *
   * @param changes - The value of `changes` when the request started. If a limit or two steps came after that, its
   * success proves nothing.
   */
  succeeded(changes: number): void {
    if (this.#step >= lastEarlyStep || this.changes - changes > 1) return;
    this.#enter(this.#step + 1);
    this.#next = 0;
  }

  #enter(step: number): void {
    this.changes += 1;
    this.#step = step;
    this.#starts = 0;
  }

  /** Milliseconds between two starts of this step. */
  #gap(): number {
    return stepLength / 2 ** this.#step;
  }
}
