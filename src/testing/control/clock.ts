/**
 * The time of the emulator, on which video tasks move.
 *
 * It follows the real time (and so also fake timers that replace `Date`) until it is held. Delays
 * between the bytes of an answer do not follow it; they use timers.
 */
export class EmulatorClock {
  #origin = Date.now();
  #base = this.#origin;
  #speed = 1;
  #held = false;

  /** The time of the emulator, in milliseconds since 1970. */
  now(): number {
    return this.#held ? this.#base : this.#base + (Date.now() - this.#origin) * this.#speed;
  }

  /** Stops the time until `release()`. `advance()` still moves it. */
  hold(): void {
    this.#rebase();
    this.#held = true;
  }

  /** Lets the time run again, from where it was held. */
  release(): void {
    this.#rebase();
    this.#held = false;
  }

  /** Whether the time is held. */
  get held(): boolean {
    return this.#held;
  }

  /** Moves the time forward by some milliseconds, held or not. */
  advance(milliseconds: number): void {
    this.#rebase();
    this.#base += milliseconds;
  }

  /** How many times faster than the real time it runs. */
  get speed(): number {
    return this.#speed;
  }

  set speed(factor: number) {
    this.#rebase();
    this.#speed = factor;
  }

  /** Back to the real time, running at speed 1. */
  reset(): void {
    this.#held = false;
    this.#speed = 1;
    this.#origin = Date.now();
    this.#base = this.#origin;
  }

  #rebase(): void {
    this.#base = this.now();
    this.#origin = Date.now();
  }
}
