import { GatewayError } from '../errors/gateway-error.ts';
import { abortOwn, keepAlive } from '../http/abort.ts';
import { toBytes } from '../http/responses/chunks.ts';
import {
  describeEnding,
  readingFailure,
  type StreamVerdict,
  type timedOut,
  truncated,
  userAborted,
} from './errors.ts';
import { unwatchDropped } from './dropped.ts';
import { type Aborted, ChunkQueue } from './chunk-queue.ts';
import type {
  StreamContext,
  StreamOutcome,
  StreamProgress,
  StreamProtocol,
  UsageOf,
  WholeOf,
} from './protocol.ts';
import { type EventFormat, tooLarge } from './events.ts';
import type { StreamLimit, watchTimeouts } from './timeouts.ts';
import { followAnswer } from './follow.ts';

/** The source of the items of a stream. */
export interface ItemSource<Item> {
  /**
   * Returns the next item. Calls may overlap and resolve in order. A rejection that is never awaited is not
   * reported as unhandled.
   */
  next(): Promise<IteratorResult<Item, undefined>>;
  /**
   * Drops the unread items and closes the connection. Never throws.
   *
   * @param isDropped - `true` if the stream was garbage collected, which logs a warning.
   */
  close(isDropped?: boolean): void;
  /** The abort by the caller, after which no item is yielded; `undefined` until then. */
  readonly aborted: Aborted | undefined;
}

/** A stream that is being read. */
export interface StreamReading<Item> extends ItemSource<Item> {
  /** Aborts the request behind the stream. */
  readonly controller: AbortController;
  /**
   * Settles once a stream with `holds` has content or has ended. Rejects with the error of a stream that ended
   * before.
   */
  readonly begun: Promise<void> | undefined;
  /** The verdict once the stream has ended; `undefined` until then. */
  readonly verdict: StreamVerdict | undefined;
  readonly partial: WholeOf<Item> | undefined;
  readonly usage: UsageOf<Item> | undefined;
}

/** The format of a stream's bytes, and its time limits. */
export interface StreamForm {
  readonly format: EventFormat;
  readonly limits?: { readonly watch: typeof watchTimeouts; readonly failure: typeof timedOut };
}

/** Time limit for the rest of a body after a complete response, in milliseconds. */
const drainTimeout = 1_000;

/** What a stream does with its body. */
interface BodyUse {
  /** Called when a read begins. */
  beginRead(): void;
  /** Takes bytes, or `undefined` at a clean end. Must not throw. */
  take(chunk: unknown): void;
  /** Takes the failure of a read. Must not throw. */
  lose(cause: unknown): void;
  /** Returns whether to read on. */
  isWanted(): boolean;
  /** Returns whether the stream has ended. What is read then is dropped. */
  isOver(): boolean;
}

/** Reads a body from the network, one read at a time. */
function openBody(body: ReadableStreamDefaultReader<Uint8Array> | undefined, use: BodyUse) {
  let isReading = false;

  /** Reads until nothing more is wanted. Never rejects. */
  async function read(): Promise<void> {
    if (body === undefined || isReading) return;
    isReading = true;
    do {
      use.beginRead();
      try {
        const { value } = await body.read();
        if (!use.isOver()) use.take(value);
      } catch (cause) {
        if (!use.isOver()) use.lose(cause);
      }
    } while (use.isWanted());
    isReading = false;
  }

  // Rejects if the body has already failed; then there is nothing to close.
  const cancel = (): void => void body?.cancel().catch(() => {});

  /** Reads the rest of the body, so that its connection can be used again. */
  async function drain(): Promise<void> {
    const timer = setTimeout(cancel, drainTimeout);
    keepAlive(timer, false);
    try {
      while ((await body?.read())?.done === false);
    } catch {
      // The response is complete, so a failing connection doesn't matter.
    } finally {
      clearTimeout(timer);
    }
  }

  return { read, cancel, drain };
}

/** Tells an abort by the caller from that of a stream that gave up its request. */
function followAborts(
  { controller, signal, error }: StreamContext,
  progress: StreamProgress<unknown>,
  onCaller: (aborted: Aborted) => void,
) {
  let abortedBy: 'caller' | 'stream' | undefined;

  /** Returns the abort by the caller, also if it came after the end; `undefined` if there was none. */
  function find(): Aborted | undefined {
    if (signal?.aborted === true) return { failure: userAborted(error, progress, signal.reason) };
    if (abortedBy === 'stream' || !controller.signal.aborted) return undefined;
    const { reason }: { reason: unknown } = controller.signal;
    return { failure: reason instanceof GatewayError ? reason : undefined };
  }

  function onAbort(): void {
    abortedBy = 'caller';
    onCaller(find() ?? { failure: undefined });
  }

  const signals = signal ? [controller.signal, signal] : [controller.signal];
  return {
    find,
    /** Returns whether the caller has aborted already. */
    listen(): boolean {
      for (const each of signals) each.addEventListener('abort', onAbort, { once: true });
      const isAborted = signals.some(({ aborted }) => aborted);
      if (isAborted) onAbort();
      return isAborted;
    },
    stop(): void {
      for (const each of signals) each.removeEventListener('abort', onAbort);
    },
    /** Aborts the request. */
    giveUp(): void {
      if (controller.signal.aborted) return;
      abortedBy ??= 'stream';
      abortOwn(controller);
    },
  };
}

/**
 * Reads a body, or a list of events, as a stream of items.
 *
 * At most one network read is pending. The next one starts when all items of the last have been consumed. The
 * first starts immediately: that locks the body, so that it is not closed when the response is garbage
 * collected, and starts the time limit of a silent gateway.
 */
export function readStream<Item>(
  source: ReadableStream<Uint8Array> | readonly unknown[],
  context: StreamContext,
  protocol: StreamProtocol<Item>,
  { format, limits }: StreamForm,
): StreamReading<Item> {
  const { controller, error: base, maxBytes = Infinity, onTruncated } = context;
  let hasNewItems = false;
  let bytesRead = 0;
  let outcome: StreamOutcome | undefined;
  /** `true` if the request is to be aborted once its items are read. */
  let isGivenUp = false;
  /** Ends the hold; `undefined` unless the stream is held. */
  let letGo: ((error?: unknown) => void) | undefined;

  const items = new ChunkQueue<Item>(undefined, () => aborts.find());
  const answer = followAnswer(
    protocol,
    context,
    (item) => items.push(item),
    () => {
      hasNewItems = true;
    },
  );
  const { progress } = answer;
  const aborts = followAborts(context, progress, ({ failure }) => {
    items.drop(failure);
    leave(failure);
  });
  const events = format(answer, context.maxEventBytes);
  const timeouts = limits?.watch(context, context.startedAt, onPassed);
  const body = openBody('getReader' in source ? source.getReader() : undefined, {
    beginRead() {
      timeouts?.beginRead();
      hasNewItems = false;
    },
    take: (chunk) => attempt(() => (chunk === undefined ? finish() : takeChunk(chunk))),
    lose(cause) {
      if (GatewayError.isInstance(cause) && !answer.hasFailed()) leave(cause, 'truncated');
      else attempt(() => finish({ cause }));
    },
    isWanted: () =>
      outcome === undefined && (items.isAwaited || letGo !== undefined || answer.hasFailed()),
    isOver: () => outcome !== undefined,
  });
  const begun = context.holds === true ? new Promise<void>(hold) : undefined;

  function hold(resolve: () => void, reject: (error: unknown) => void): void {
    timeouts?.setRead(true);
    letGo = (error) => {
      letGo = undefined;
      if (error !== undefined) reject(error);
      else resolve();
      timeouts?.setRead(false);
    };
  }

  function takeChunk(chunk: unknown): void {
    const bytes = toBytes(chunk, events);
    bytesRead += bytes.byteLength;
    if (bytesRead > maxBytes) throw tooLarge(maxBytes, 'it', 'maxResponseBytes');
    events.push(bytes);
    timeouts?.endRead(hasNewItems);
    if (hasNewItems) context.chunk?.();
    if (answer.hasContent()) letGo?.();
    if (answer.isOver()) settle({ verdict: 'complete' }, 'drain');
    else if (answer.isEnding()) timeouts?.expectEnd();
  }

  /** Runs `work`, and ends the stream if it throws. */
  function attempt(work: () => void): void {
    try {
      work();
    } catch (cause) {
      leave(readingFailure(base, progress, cause), 'truncated');
    }
  }

  function onPassed(limit: StreamLimit, timeout: number): void {
    if (limit === 'ending' || answer.hasFailed()) attempt(() => finish(undefined, 'cancel'));
    else if (answer.isFinished()) leave();
    else {
      if (limit === 'unread') context.warn?.('A stream was not read and is closed now');
      leave(limits?.failure(base, progress, limit, timeout));
    }
  }

  /** Ends the stream with its body, which ended, failed or was given up. */
  function finish(broken?: { readonly cause: unknown }, rest: 'drain' | 'cancel' = 'drain'): void {
    events.end();
    answer.takeEnd();
    const verdict = answer.verdict(broken !== undefined);
    let error: unknown;
    if (verdict !== 'complete' && onTruncated === 'warn') {
      context.warn?.(`The stream ${describeEnding(verdict, progress)}`);
    } else if (verdict !== 'complete' && onTruncated !== 'allow') {
      error = truncated(base, progress, verdict, broken?.cause, answer.unread());
    }
    settle({ verdict, error }, rest);
  }

  /** Ends the stream before its body. */
  function leave(error?: unknown, verdict: StreamVerdict = answer.verdict(true)): void {
    settle({ verdict, error }, 'cancel');
  }

  /**
   * Ends the stream. The rest of the body is cancelled with its connection, or read to its end, so that the
   * connection can be reused.
   */
  function settle(end: StreamOutcome, rest: 'drain' | 'cancel'): void {
    outcome = end;
    isGivenUp = rest === 'cancel';
    timeouts?.stop();
    unwatchDropped(reading);
    aborts.stop();
    answer.flush(end.verdict === 'complete');
    items.end(end.error);
    if (isGivenUp) body.cancel();
    else void body.drain();
    abortRequest();
    context.release?.(end, progress);
    // Content may have arrived together with the error.
    letGo?.(answer.hasContent() ? undefined : end.error);
  }

  /** Aborts a request that was given up, once its items are read: until then, the caller may abort it. */
  function abortRequest(): void {
    if (isGivenUp && !items.hasUnread) aborts.giveUp();
  }

  const reading: StreamReading<Item> = {
    controller,
    begun,
    get verdict() {
      return outcome?.verdict;
    },
    get partial() {
      return progress.partial;
    },
    get usage() {
      return progress.usage;
    },
    get aborted() {
      return aborts.find();
    },
    next() {
      timeouts?.setRead(true);
      const result = items.next();
      if (items.isAwaited) void body.read();
      abortRequest();
      return result;
    },
    close(isDropped) {
      items.drop();
      abortRequest();
      if (outcome !== undefined) return;
      if (isDropped === true)
        context.warn?.('A stream was dropped before its end; it is closed now');
      leave();
    },
  };

  if (aborts.listen()) return reading;
  if ('getReader' in source) void body.read();
  else {
    attempt(() => {
      for (const value of source) answer.takeValue(value);
      finish();
    });
  }
  return reading;
}
