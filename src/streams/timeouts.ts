import { keepAlive } from '../http/abort.ts';

/** Time limits of a stream, in milliseconds; `null` or `undefined` for no limit. */
export interface StreamLimits {
  readonly firstByteTimeout?: number | null | undefined;
  readonly idleTimeout?: number | null | undefined;
  readonly chunkTimeout?: number | null | undefined;
  /** Counted from the start of the call, over all attempts. */
  readonly totalTimeout?: number | null | undefined;
}

/**
 * A limit that a stream can exceed. `unread`: the stream was not read within `idleTimeout`. `ending`: the
 * connection stayed open after the terminator.
 */
export type StreamLimit = keyof StreamLimits | 'unread' | 'ending';

/**
 * Time that a connection may stay open after the terminator, in milliseconds. Late errors arrive within it.
 */
const endingTimeout = 2_000;

/**
 * Watches the time limits of one stream with a single timer.
 *
 * Activity only stores the time, so a chunk sets no timer: the timer compares when it fires, and is set
 * again. Silence counts only while the stream is being read, because a slow reader is not a silent gateway.
 */
export class StreamTimeouts {
  readonly #limits: StreamLimits;
  readonly #startedAt: number;
  readonly #onPassed: (limit: StreamLimit, timeout: number) => void;
  readonly #openedAt = performance.now();
  #unreadSince = this.#openedAt;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isUnread = true;
  #hasBytes = false;
  /** Start of the current read; `undefined` if there is none. */
  #readingSince: number | undefined;
  /** Start of the first read since the last event; heartbeats don't reset it. */
  #waitingSince: number | undefined;
  #terminatedAt: number | undefined;

  /**
   * @param startedAt - When the call started.
   * @param onPassed - Called once, when a limit is exceeded.
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

  /** Called when the caller reads, and around a time in which the stream is read for it. */
  setRead(isRead: boolean): void {
    if (this.#isUnread !== isRead) return;
    this.#isUnread = !isRead;
    this.#unreadSince = performance.now();
    this.#keepProcess();
  }

  /** Called when a network read starts. */
  beginRead(): void {
    this.#readingSince = performance.now();
    this.#waitingSince ??= this.#readingSince;
    if (this.#timer === undefined) this.#check();
    else this.#keepProcess();
  }

  /** Called when a network read returned bytes. */
  endRead(hasEvents: boolean): void {
    this.#readingSince = undefined;
    this.#hasBytes = true;
    if (hasEvents) this.#waitingSince = undefined;
    this.#keepProcess();
  }

  /** Called after the terminator, when the connection should end soon. */
  expectEnd(): void {
    if (this.#terminatedAt !== undefined) return;
    this.#terminatedAt = performance.now();
    this.stop();
    this.#check();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** The limits that apply now, with their start. */
  *#running(): Generator<[StreamLimit, number | null | undefined, since: number]> {
    const { firstByteTimeout, idleTimeout, chunkTimeout, totalTimeout } = this.#limits;
    const since = this.#readingSince;
    yield ['totalTimeout', totalTimeout, this.#startedAt];
    if (this.#terminatedAt !== undefined) yield ['ending', endingTimeout, this.#terminatedAt];
    if (this.#isUnread) yield ['unread', idleTimeout, this.#unreadSince];
    if (since === undefined) return;
    yield ['chunkTimeout', chunkTimeout, this.#waitingSince ?? since];
    if (this.#hasBytes) yield ['idleTimeout', idleTimeout, since];
    else yield ['firstByteTimeout', firstByteTimeout, this.#openedAt];
  }

  #check(): void {
    const { idleTimeout, chunkTimeout } = this.#limits;
    const now = performance.now();
    // Silence can start at any time, so the timer must fire within the limit of each.
    let wait = Math.min(idleTimeout ?? Infinity, chunkTimeout ?? Infinity);
    for (const [limit, timeout, since] of this.#running()) {
      if (timeout === null || timeout === undefined) continue;
      const left = since + timeout - now;
      if (left <= 0) {
        this.#onPassed(limit, timeout);
        return;
      }
      wait = Math.min(wait, left);
    }
    if (wait === Infinity) return;
    this.#timer = setTimeout(() => this.#check(), Math.ceil(wait));
    this.#keepProcess();
  }

  /** The timer keeps a process alive only while a reader waits for bytes. */
  #keepProcess(): void {
    keepAlive(this.#timer, this.#readingSince !== undefined && !this.#isUnread);
  }
}
