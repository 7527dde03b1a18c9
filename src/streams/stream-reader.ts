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
import type { StreamContext, StreamOutcome, StreamProtocol, UsageOf, WholeOf } from './protocol.ts';
import { type EventFormat, tooLarge } from './events.ts';
import type { StreamLimit, watchTimeouts } from './timeouts.ts';
import { followAnswer } from './verdict.ts';

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

/** An abort by the caller. */
export interface Aborted {
  /** The error that an incomplete loop throws; `undefined` if it ends quietly. */
  readonly failure: unknown;
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

/** The result of `next()` when nothing follows. */
export const finished: IteratorResult<never, undefined> = { done: true, value: undefined };

/** Prevents an unhandled rejection if the promise is never awaited. */
export function ignoreRejection<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

/** Queues pushed items for a loop that pulls them. */
export class ChunkQueue<Item> implements AsyncIterableIterator<Item, undefined> {
  /** Pushed items that were not read yet. */
  #unread: IteratorResult<Item, undefined>[] = [];
  /** The error that the loop throws after the unread items. */
  #failure: unknown;
  /** The error for a loop that would end normally, although an abort dropped items. */
  #abortFailure: unknown;
  readonly #waiting: ((result: IteratorResult<Item, undefined> | Promise<never>) => void)[] = [];
  #longestWaiting: Promise<unknown> | undefined;
  readonly #onLeave: (() => void) | undefined;
  readonly #readAborted: (() => Aborted | undefined) | undefined;
  #isEnded = false;

  /**
   * @param onLeave - Called if the loop ends early.
   * @param readAborted - Returns the abort by the caller, which drops unread items also after the end.
   */
  constructor(onLeave?: () => void, readAborted?: () => Aborted | undefined) {
    this.#onLeave = onLeave;
    this.#readAborted = readAborted;
  }

  /** `true` while a read waits for an item. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** `true` if pushed items are unread. */
  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  push(value: Item): void {
    if (this.#isEnded) return;
    const answer = this.#waiting.shift();
    if (answer === undefined) this.#unread.push({ done: false, value });
    else answer({ done: false, value });
  }

  /** Ends the loop after the unread items, with an error if there is one. */
  end(reason: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const failure = reason ?? this.#abortFailure;
    const answer = failure === undefined ? undefined : this.#waiting.shift();
    if (answer === undefined) this.#failure = failure;
    else {
      if (this.#longestWaiting !== undefined) void ignoreRejection(this.#longestWaiting);
      answer(ignoreRejection(Promise.reject(failure)));
    }
    for (const rest of this.#waiting.splice(0)) rest(finished);
  }

  /** Ends the loop without the unread items. */
  drop(failure?: unknown): void {
    this.#unread = [];
    this.#failure = undefined;
    this.end(failure);
  }

  /** Drops the unread items after an abort. A loop that has not ended yet waits for the end. */
  #dropAborted(): void {
    const aborted = this.hasUnread ? this.#readAborted?.() : undefined;
    if (aborted === undefined) return;
    const { failure } = aborted;
    this.#unread = [];
    if (!this.#isEnded) this.#abortFailure = failure;
    else this.#failure = failure === undefined ? undefined : (this.#failure ?? failure);
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    this.#dropAborted();
    const result = this.#unread.shift();
    if (result !== undefined) return Promise.resolve(result);
    const failure = this.#failure;
    if (failure !== undefined) {
      // An iterator fails once and is done from then on.
      this.#failure = undefined;
      return ignoreRejection(Promise.reject(failure));
    }
    if (this.#isEnded) return Promise.resolve(finished);
    const promise = new Promise<IteratorResult<Item, undefined>>((resolve) =>
      this.#waiting.push(resolve),
    );
    // Usually one promise waits at a time. Its rejection is ignored only if it fails, because doing so for
    // every item costs as much as reading a short one.
    if (this.#waiting.length > 1) return ignoreRejection(promise);
    this.#longestWaiting = promise;
    return promise;
  }

  return(): Promise<IteratorResult<Item, undefined>> {
    const isLeft = !this.#isEnded;
    this.drop();
    if (isLeft) this.#onLeave?.();
    return Promise.resolve(finished);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** The format of a stream's bytes, and its time limits. */
export interface StreamForm {
  readonly format: EventFormat;
  readonly limits?: { readonly watch: typeof watchTimeouts; readonly failure: typeof timedOut };
}

/** Time limit for the rest of a body after a complete response, in milliseconds. */
const drainTimeout = 1_000;

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
  const { controller, signal, error: base, maxBytes = Infinity, onTruncated } = context;
  const items = new ChunkQueue<Item>(undefined, readAborted);
  let hasNewItems = false;
  let isGivenUp = false;
  /** `true` if the caller's abort ended the stream. */
  let wasAborted = false;
  /** `true` if the end of the stream aborted the request. */
  let isAbortedByEnd = false;
  let isReading = false;
  let bytesRead = 0;
  let outcome: StreamOutcome | undefined;
  /** Ends the hold; `undefined` unless the stream is held. */
  let letGo: ((error?: unknown) => void) | undefined;
  const answer = followAnswer(
    protocol,
    context,
    (item) => items.push(item),
    () => {
      hasNewItems = true;
    },
  );
  const { progress } = answer;
  const events = format(answer, context.maxEventBytes);
  const timeouts = limits?.watch(context, context.startedAt, onPassed);
  const body = 'getReader' in source ? source.getReader() : undefined;
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

  function isHeld(): boolean {
    return letGo !== undefined && outcome === undefined;
  }

  /** Returns whether the usage of a failed stream may still arrive. */
  function isFailing(): boolean {
    return answer.hasFailed() && outcome === undefined;
  }

  /** Reads from the network until every waiting read has its item. Never rejects. */
  async function read(): Promise<void> {
    if (body === undefined || isReading) return;
    isReading = true;
    do {
      timeouts?.beginRead();
      hasNewItems = false;
      try {
        const { value } = await body.read();
        if (outcome !== undefined) break;
        attempt(() => (value === undefined ? finish() : takeBytes(toBytes(value, body))));
      } catch (cause) {
        if (outcome !== undefined) break;
        if (GatewayError.isInstance(cause) && !answer.hasFailed())
          settle({ verdict: 'truncated', error: cause });
        else attempt(() => finish({ cause }));
      }
    } while (items.isAwaited || isHeld() || isFailing());
    isReading = false;
  }

  function takeBytes(bytes: Uint8Array): void {
    bytesRead += bytes.byteLength;
    if (bytesRead > maxBytes) throw tooLarge(maxBytes, 'it', 'maxResponseBytes');
    events.push(bytes);
    timeouts?.endRead(hasNewItems);
    if (hasNewItems) context.chunk?.();
    if (answer.hasContent()) letGo?.();
    if (answer.isOver()) settle({ verdict: 'complete' }, false);
    else if (answer.isEnding()) timeouts?.expectEnd();
  }

  /** Runs `work`, and ends the stream if it throws. */
  function attempt(work: () => void): void {
    try {
      work();
    } catch (cause) {
      settle({ verdict: 'truncated', error: readingFailure(base, progress, cause) });
    }
  }

  /** Ends the stream with its body, which ended, failed or was given up. */
  function finish(broken?: { readonly cause: unknown }, givesUp = false): void {
    events.end();
    answer.takeEnd();
    const verdict = answer.verdict(broken !== undefined);
    let error: unknown;
    if (verdict !== 'complete' && onTruncated === 'warn') {
      context.warn?.(`The stream ${describeEnding(verdict, progress, context.error.operation)}`);
    } else if (verdict !== 'complete' && onTruncated !== 'allow') {
      error = truncated(base, progress, verdict, broken?.cause, answer.unread());
    }
    settle({ verdict, error }, givesUp);
  }

  /** Ends the stream before its body. */
  function leave(error?: unknown): void {
    settle({ verdict: answer.verdict(true), error });
  }

  function readAborted(): Aborted | undefined {
    if (signal?.aborted === true) return { failure: userAborted(base, progress, signal.reason) };
    if (!wasAborted && (isAbortedByEnd || !controller.signal.aborted)) return undefined;
    const { reason }: { reason: unknown } = controller.signal;
    return { failure: reason instanceof GatewayError ? reason : undefined };
  }

  function onAbort(): void {
    if (outcome !== undefined) return;
    wasAborted = true;
    const failure = readAborted()?.failure;
    items.drop(failure);
    leave(failure);
  }

  /** Aborts a request that was given up, once its items are read: until then, the caller may abort it. */
  function abortRequest(): void {
    if (!isGivenUp || items.hasUnread || controller.signal.aborted) return;
    isAbortedByEnd = true;
    abortOwn(controller);
  }

  function onPassed(limit: StreamLimit, timeout: number): void {
    if (limit === 'ending' || answer.hasFailed()) attempt(() => finish(undefined, true));
    else if (answer.isFinished()) leave();
    else {
      if (limit === 'unread') context.warn?.('A stream was not read and is closed now');
      leave(limits?.failure(base, progress, limit, timeout));
    }
  }

  /**
   * Ends the stream. The rest of the body is cancelled with its connection, or read to its end after a
   * complete response, so that the connection can be reused.
   */
  function settle(end: StreamOutcome, givesUp = true): void {
    outcome = end;
    isGivenUp = givesUp;
    timeouts?.stop();
    unwatchDropped(reading);
    controller.signal.removeEventListener('abort', onAbort);
    signal?.removeEventListener('abort', onAbort);
    answer.flush(end.verdict === 'complete');
    items.end(end.error);
    if (isGivenUp) cancel();
    else void drain();
    abortRequest();
    context.release?.(end, progress);
    // Content may have arrived together with the error.
    letGo?.(answer.hasContent() ? undefined : end.error);
  }

  // Rejects if the body has already failed; then there is nothing to close.
  const cancel = (): void => void body?.cancel().catch(() => {});

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
      return readAborted();
    },
    next() {
      timeouts?.setRead(true);
      const result = items.next();
      if (items.isAwaited) void read();
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

  controller.signal.addEventListener('abort', onAbort, { once: true });
  signal?.addEventListener('abort', onAbort, { once: true });
  if (controller.signal.aborted || signal?.aborted === true) onAbort();
  else if ('getReader' in source) void read();
  else {
    attempt(() => {
      for (const value of source) answer.takeValue(value);
      finish();
    });
  }

  return reading;
}
