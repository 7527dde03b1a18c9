import { keepAlive } from '../http/keep-alive.ts';
import { monotonicNow } from '../http/now.ts';

/** How long a stream may take, in milliseconds; `null` for no limit. */
export interface StreamLimits {
  readonly firstByteTimeout: number | null;
  readonly idleTimeout: number | null;
  readonly chunkTimeout: number | null;
  /** Counted from `StreamContext.startedAt`, so over every attempt. */
  readonly totalTimeout: number | null;
}

/**
 * A limit of a stream. `unread`: nobody began to read within `idleTimeout`. `ending`: the connection
 * stayed open after the terminator.
 */
export type StreamLimit = keyof StreamLimits | 'unread' | 'ending';

/** How long a connection may stay open after the terminator: late errors come within. */
const endingTimeout = 2_000;

/**
 * Watches the time limits of one stream with a single timer.
 *
 * Activity only notes the time; when the timer fires it is compared and the timer set again, so a
 * chunk costs no timer. Silence counts only while the stream is being read: a slow reader is not a
 * silent gateway.
 */
export class StreamTimeouts {
  readonly #limits: StreamLimits;
  readonly #startedAt: number;
  readonly #openedAt = monotonicNow();
  readonly #onPassed: (limit: StreamLimit, timeout: number) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasBytes = false;
  /** When the read began that is under way; `undefined` while there is none. */
  #readingSince: number | undefined;
  /** When the first read began that has not given an event yet; heartbeats leave it. */
  #waitingSince: number | undefined;
  #terminatedAt: number | undefined;
  #isUnread = true;
  #isStopped = false;

  /**
   * @param startedAt - When the call began; `totalTimeout` counts from there.
   * @param onPassed - Called once, when a limit is passed.
   */
  constructor(
    limits: StreamLimits,
    startedAt: number,
    onPassed: (limit: StreamLimit, timeout: number) => void,
  ) {
    this.#limits = limits;
    this.#startedAt = startedAt;
    this.#onPassed = onPassed;
  }

  /** The caller has begun to read. */
  noteReader(): void {
    if (!this.#isUnread) return;
    this.#isUnread = false;
    this.#keepAlive();
  }

  /** A read of the network begins. */
  beginRead(): void {
    this.#readingSince = monotonicNow();
    this.#waitingSince ??= this.#readingSince;
    if (this.#timer === undefined && !this.#isStopped) this.#check();
    else this.#keepAlive();
  }

  /** A read of the network has given bytes, and maybe events. */
  endRead(hasEvents: boolean): void {
    this.#readingSince = undefined;
    this.#hasBytes = true;
    if (hasEvents) this.#waitingSince = undefined;
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
  }

  readonly #check = (): void => {
    const now = monotonicNow();
    const { idleTimeout, chunkTimeout } = this.#limits;
    // A silence can begin at any time, and is noticed only if the timer fires within its limit.
    let wait = Math.min(idleTimeout ?? Infinity, chunkTimeout ?? Infinity);
    for (const [limit, timeout, since] of this.#running()) {
      if (timeout === null) continue;
      const left = since + timeout - now;
      if (left <= 0) {
        this.stop();
        this.#onPassed(limit, timeout);
        return;
      }
      wait = Math.min(wait, left);
    }
    if (wait === Infinity) return;
    this.#timer = setTimeout(this.#check, Math.ceil(wait));
    this.#keepAlive();
  };

  /** The timer keeps a process alive only while a reader waits for bytes. */
  #keepAlive(): void {
    keepAlive(this.#timer, this.#readingSince !== undefined && !this.#isUnread);
  }

  /** The limits that count now, and since when. */
  *#running(): Generator<readonly [StreamLimit, timeout: number | null, since: number]> {
    const { firstByteTimeout, idleTimeout, chunkTimeout, totalTimeout } = this.#limits;
    yield ['totalTimeout', totalTimeout, this.#startedAt];
    if (this.#terminatedAt !== undefined) yield ['ending', endingTimeout, this.#terminatedAt];
    if (this.#isUnread) yield ['unread', idleTimeout, this.#openedAt];
    const reading = this.#readingSince;
    if (reading === undefined) return;
    yield ['chunkTimeout', chunkTimeout, this.#waitingSince ?? reading];
    if (this.#hasBytes) yield ['idleTimeout', idleTimeout, reading];
    else yield ['firstByteTimeout', firstByteTimeout, this.#openedAt];
  }
}
