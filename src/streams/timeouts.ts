import { keepAlive } from '../http/abort.ts';

/** How long a stream may take, in milliseconds; no limit when it is `null` or left out. */
export interface StreamLimits {
  readonly firstByteTimeout?: number | null | undefined;
  readonly idleTimeout?: number | null | undefined;
  readonly chunkTimeout?: number | null | undefined;
  /** Counted from the beginning of the call, so over every attempt. */
  readonly totalTimeout?: number | null | undefined;
}

/**
 * A limit that a stream can pass. `unread`: nobody began to read within `idleTimeout`. `ending`: the
 * connection stayed open after the terminator.
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
 *
 * @param startedAt - When the call began.
 * @param onPassed - Called once, when a limit is passed.
 */
export function watchTimeouts(
  { firstByteTimeout, idleTimeout, chunkTimeout, totalTimeout }: StreamLimits,
  startedAt: number,
  onPassed: (limit: StreamLimit, timeout: number) => void,
) {
  const openedAt = performance.now();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isUnread = true;
  let hasBytes = false;
  /** When the read began that is under way; `undefined` while there is none. */
  let readingSince: number | undefined;
  /** When the first read began that has not given an event yet; heartbeats leave it. */
  let waitingSince: number | undefined;
  let terminatedAt: number | undefined;

  /** The limits that count now, and since when. */
  function* running(): Generator<[StreamLimit, number | null | undefined, since: number]> {
    yield ['totalTimeout', totalTimeout, startedAt];
    if (terminatedAt !== undefined) yield ['ending', endingTimeout, terminatedAt];
    if (isUnread) yield ['unread', idleTimeout, openedAt];
    if (readingSince === undefined) return;
    yield ['chunkTimeout', chunkTimeout, waitingSince ?? readingSince];
    if (hasBytes) yield ['idleTimeout', idleTimeout, readingSince];
    else yield ['firstByteTimeout', firstByteTimeout, openedAt];
  }

  function check(): void {
    const now = performance.now();
    // A silence can begin at any time, and is noticed only if the timer fires within its limit.
    let wait = Math.min(idleTimeout ?? Infinity, chunkTimeout ?? Infinity);
    for (const [limit, timeout, since] of running()) {
      if (timeout === null || timeout === undefined) continue;
      const left = since + timeout - now;
      if (left <= 0) {
        onPassed(limit, timeout);
        return;
      }
      wait = Math.min(wait, left);
    }
    if (wait === Infinity) return;
    timer = setTimeout(check, Math.ceil(wait));
    keepProcess();
  }

  /** The timer keeps a process alive only while a reader waits for bytes. */
  const keepProcess = (): void => keepAlive(timer, readingSince !== undefined && !isUnread);

  return {
    /** The caller reads. */
    noteReader(): void {
      if (!isUnread) return;
      isUnread = false;
      keepProcess();
    },
    /** A read of the network begins. */
    beginRead(): void {
      readingSince = performance.now();
      waitingSince ??= readingSince;
      if (timer === undefined) check();
      else keepProcess();
    },
    /** A read of the network has given bytes, and maybe events. */
    endRead(hasEvents: boolean): void {
      readingSince = undefined;
      hasBytes = true;
      if (hasEvents) waitingSince = undefined;
      keepProcess();
    },
    /** The terminator has come, so the connection should end soon. */
    expectEnd(): void {
      if (terminatedAt !== undefined) return;
      terminatedAt = performance.now();
      clearTimeout(timer);
      check();
    },
    stop: (): void => clearTimeout(timer),
  };
}
