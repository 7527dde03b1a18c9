import { keepAlive } from '../http/keep-alive.ts';
import { monotonicNow } from '../http/now.ts';
import type { StreamLimits } from './protocol.ts';

/**
 * The limit that was passed. `unread`: nobody began to read within `idleTimeout`. `ending`: the
 * connection stayed open after the terminator.
 */
export interface Expiry {
  readonly limit: keyof StreamLimits | 'unread' | 'ending';
  readonly timeout: number;
}

/** How long a connection may stay open after the terminator: late errors come within. */
const endingTimeout = 2_000;

/**
 * Watches the time limits of one stream with a single timer.
 *
 * Activity only notes the time; when the timer fires it is compared and the timer set again, so a
 * chunk costs no timer. Silence counts only while the stream is being read: a slow reader is not a
 * silent gateway.
 */
export class Watchdog {
  readonly #limits: StreamLimits;
  readonly #startedAt: number;
  readonly #openedAt = monotonicNow();
  readonly #onExpiry: (expiry: Expiry) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasBytes = false;
  /** When the read began that is waiting now; `undefined` while nobody reads. */
  #waitingSince: number | undefined;
  /** When the first read began that has not given an event yet; heartbeats leave it. */
  #hungrySince: number | undefined;
  #terminatedAt: number | undefined;
  #isUnread = true;
  #isStopped = false;

  /**
   * @param startedAt - When the call began; `totalTimeout` counts from there.
   * @param onExpiry - Called once, when a limit is passed.
   */
  constructor(limits: StreamLimits, startedAt: number, onExpiry: (expiry: Expiry) => void) {
    this.#limits = limits;
    this.#startedAt = startedAt;
    this.#onExpiry = onExpiry;
  }

  /** The caller has begun to read. */
  noteReader(): void {
    if (!this.#isUnread) return;
    this.#isUnread = false;
    this.#keepAlive();
  }

  /** A read of the network begins. */
  beginRead(): void {
    this.#waitingSince = monotonicNow();
    this.#hungrySince ??= this.#waitingSince;
    if (this.#timer === undefined && !this.#isStopped) this.#check();
    else this.#keepAlive();
  }

  /** A read of the network has given bytes, and maybe events. */
  endRead(hasEvents: boolean): void {
    this.#waitingSince = undefined;
    // No clock is asked: silence counts from the read that waits, which begins after this.
    this.#hasBytes = true;
    if (hasEvents) this.#hungrySince = undefined;
    this.#keepAlive();
  }

  /** The terminator has come, so the connection should end soon. */
  expectEnd(): void {
    if (this.#terminatedAt !== undefined) return;
    this.#terminatedAt = monotonicNow();
    clearTimeout(this.#timer);
    this.#check();
  }

  /** Ends the watch. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #check = (): void => {
    this.#timer = undefined;
    const now = monotonicNow();
    let wait = Number.POSITIVE_INFINITY;
    for (const [limit, timeout, since] of this.#clocks()) {
      if (timeout === null) continue;
      const left = since + timeout - now;
      if (left <= 0) {
        this.stop();
        this.#onExpiry({ limit, timeout });
        return;
      }
      wait = Math.min(wait, left);
    }
    if (wait === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(this.#check, Math.ceil(wait));
    this.#keepAlive();
  };

  /** The timer keeps a process alive only while a reader waits for bytes. */
  #keepAlive(): void {
    keepAlive(this.#timer, this.#waitingSince !== undefined && !this.#isUnread);
  }

  /** The limits that count now, and since when. */
  *#clocks(): Generator<readonly [Expiry['limit'], number | null, number]> {
    const { firstByteTimeout, idleTimeout, chunkTimeout, totalTimeout } = this.#limits;
    yield ['totalTimeout', totalTimeout, this.#startedAt];
    if (this.#terminatedAt !== undefined) yield ['ending', endingTimeout, this.#terminatedAt];
    if (this.#isUnread) yield ['unread', idleTimeout, this.#openedAt];
    const waiting = this.#waitingSince;
    if (waiting === undefined) return;
    yield ['chunkTimeout', chunkTimeout, this.#hungrySince ?? waiting];
    if (this.#hasBytes) yield ['idleTimeout', idleTimeout, waiting];
    else yield ['firstByteTimeout', firstByteTimeout, this.#openedAt];
  }
}
