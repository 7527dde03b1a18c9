/**
 * The clock of the emulator, which drives video tasks.
 *
 * It follows the real time (and fake timers that replace `Date`) unless it is held. Delays between the
 * bytes of a response use timers instead.
 */
export class EmulatorClock {
  #origin = Date.now();
  #base = this.#origin;
  #speed = 1;
  #held = false;

  /** The current time, in milliseconds since 1970. */
  now(): number {
    return this.#held ? this.#base : this.#base + (Date.now() - this.#origin) * this.#speed;
  }

  /** Stops the clock until `release()`. `advance()` still moves it. */
  hold(): void {
    this.#rebase();
    this.#held = true;
  }

  /** Restarts the clock from the time at which it was held. */
  release(): void {
    this.#rebase();
    this.#held = false;
  }

  /** `true` while the clock is held. */
  get held(): boolean {
    return this.#held;
  }

  /** Moves the clock forward by a number of milliseconds, even if it is held. */
  advance(milliseconds: number): void {
    this.#rebase();
    this.#base += milliseconds;
  }

  /** Speed relative to the real time. */
  get speed(): number {
    return this.#speed;
  }

  set speed(factor: number) {
    this.#rebase();
    this.#speed = factor;
  }

  /** Resets the clock to the real time, at speed 1. */
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
