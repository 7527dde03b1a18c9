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
 *
 * @param startedAt - When the call started.
 * @param onPassed - Called once, when a limit is exceeded.
 */
export function watchTimeouts(
  { firstByteTimeout, idleTimeout, chunkTimeout, totalTimeout }: StreamLimits,
  startedAt: number,
  onPassed: (limit: StreamLimit, timeout: number) => void,
) {
  const openedAt = performance.now();
  let unreadSince = openedAt;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isUnread = true;
  let hasBytes = false;
  /** Start of the current read; `undefined` if there is none. */
  let readingSince: number | undefined;
  /** Start of the first read since the last event; heartbeats don't reset it. */
  let waitingSince: number | undefined;
  let terminatedAt: number | undefined;

  /** The limits that apply now, with their start. */
  function* running(): Generator<[StreamLimit, number | null | undefined, since: number]> {
    yield ['totalTimeout', totalTimeout, startedAt];
    if (terminatedAt !== undefined) yield ['ending', endingTimeout, terminatedAt];
    if (isUnread) yield ['unread', idleTimeout, unreadSince];
    if (readingSince === undefined) return;
    yield ['chunkTimeout', chunkTimeout, waitingSince ?? readingSince];
    if (hasBytes) yield ['idleTimeout', idleTimeout, readingSince];
    else yield ['firstByteTimeout', firstByteTimeout, openedAt];
  }

  function check(): void {
    const now = performance.now();
    // Silence can start at any time, so the timer must fire within the limit of each.
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
    /** Called when the caller reads, and around a time in which the stream is read for it. */
    setRead(isRead: boolean): void {
      if (isUnread !== isRead) return;
      isUnread = !isRead;
      unreadSince = performance.now();
      keepProcess();
    },
    /** Called when a network read starts. */
    beginRead(): void {
      readingSince = performance.now();
      waitingSince ??= readingSince;
      if (timer === undefined) check();
      else keepProcess();
    },
    /** Called when a network read returned bytes. */
    endRead(hasEvents: boolean): void {
      readingSince = undefined;
      hasBytes = true;
      if (hasEvents) waitingSince = undefined;
      keepProcess();
    },
    /** Called after the terminator, when the connection should end soon. */
    expectEnd(): void {
      if (terminatedAt !== undefined) return;
      terminatedAt = performance.now();
      clearTimeout(timer);
      check();
    },
    stop: (): void => clearTimeout(timer),
  };
}
