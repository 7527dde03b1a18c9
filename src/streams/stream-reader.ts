import { GatewayError } from '../errors/gateway-error.ts';
import { keepAlive } from '../http/abort.ts';
import {
  describeEnding,
  readingFailure,
  type StreamVerdict,
  type timedOut,
  truncated,
  userAborted,
} from './errors.ts';
import type { StreamContext, StreamOutcome, StreamProtocol, UsageOf, WholeOf } from './protocol.ts';
import { type EventFormat, tooLarge } from './events.ts';
import type { StreamLimit, watchTimeouts } from './timeouts.ts';
import { followAnswer } from './verdict.ts';

/** Where the items of a stream come from. */
export interface ItemSource<Item> {
  /**
   * The next item. Calls may overlap; they are answered in order. What nobody looks at is no unhandled
   * rejection: a failure may be due to one that has stopped asking.
   */
  next(): Promise<IteratorResult<Item, undefined>>;
  /**
   * Leaves the stream: drops the unread items and closes the connection. Never throws.
   *
   * @param isDropped - Whether nobody can read it any more, of which the logger is told.
   */
  close(isDropped?: boolean): void;
  /** The abort by the caller, after which no item is handed out; `undefined` until then. */
  readonly aborted: Aborted | undefined;
}

/** An abort by the caller. */
export interface Aborted {
  /** The error that a loop throws which has not got every item; `undefined` when it ends quietly. */
  readonly failure: unknown;
}

/** A stream that is being read. */
export interface StreamReading<Item> extends ItemSource<Item> {
  /** Aborts the request behind the stream. */
  readonly controller: AbortController;
  /** How the stream ended; `undefined` until then. */
  readonly verdict: StreamVerdict | undefined;
  readonly partial: WholeOf<Item> | undefined;
  readonly usage: UsageOf<Item> | undefined;
}

/** The result of `next()` when nothing follows. */
export const finished: IteratorResult<never, undefined> = { done: true, value: undefined };

/** Keeps the rejection of a promise at which nobody may look from being an unhandled one. */
export function ignoreRejection<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}

/** Hands items that are pushed to a loop that pulls. */
export class ChunkQueue<Item> implements AsyncIterableIterator<Item, undefined> {
  /** Items that were pushed and not read yet. */
  #unread: IteratorResult<Item, undefined>[] = [];
  /** The failure that the loop ends with after the unread items. */
  #failure: unknown;
  /** The failure of a loop that ends without one, although an abort has dropped items. */
  #abortFailure: unknown;
  readonly #waiting: ((result: IteratorResult<Item, undefined> | Promise<never>) => void)[] = [];
  #longestWaiting: Promise<unknown> | undefined;
  readonly #onLeave: (() => void) | undefined;
  readonly #readAborted: (() => Aborted | undefined) | undefined;
  #isEnded = false;

  /**
   * @param onLeave - Called when the loop is left before the end.
   * @param readAborted - Returns the abort by the caller, which drops unread items also after the end.
   */
  constructor(onLeave?: () => void, readAborted?: () => Aborted | undefined) {
    this.#onLeave = onLeave;
    this.#readAborted = readAborted;
  }

  /** Whether a read waits for an item. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether there are items that were pushed and not read yet. */
  get hasUnread(): boolean {
    return this.#unread.length > 0;
  }

  push(value: Item): void {
    if (this.#isEnded) return;
    const answer = this.#waiting.shift();
    if (answer === undefined) this.#unread.push({ done: false, value });
    else answer({ done: false, value });
  }

  /** Ends the loop once it has read the items that are there, with `failure` when there is one. */
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

  /** Drops the unread items after an abort. A loop that has not ended yet waits for its end. */
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
    // Most often one promise waits at a time. Its rejection is ignored once it fails: to do that for
    // each item costs as much as reading a short one.
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

/** What the bytes of a stream are, and who watches its time limits, if it has any. */
export interface StreamForm {
  readonly format: EventFormat;
  readonly limits?: { readonly watch: typeof watchTimeouts; readonly failure: typeof timedOut };
}

/** The end of a body comes right behind its terminator, unless the server forgets to close. */
const drainTimeout = 1_000;

/**
 * Reads a body, or the events that came in place of one, as a stream of items.
 *
 * One read of the network is under way at most, and it is begun only when all items of the one
 * before were taken; the first begins at once, so that the body is locked (an unlocked one is closed
 * when its response is garbage collected) and a silent gateway is noticed.
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
  /** Whether the stream was ended by the caller's abort, and whether the end has aborted the request. */
  let wasAborted = false;
  let isAbortedByEnd = false;
  let isReading = false;
  let bytesRead = 0;
  let outcome: StreamOutcome | undefined;
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

  /** Reads from the network until an item has come for everybody who waits. Never rejects. */
  async function read(): Promise<void> {
    if (body === undefined || isReading) return;
    isReading = true;
    do {
      timeouts?.beginRead();
      hasNewItems = false;
      try {
        const { value } = await body.read();
        if (outcome !== undefined) break;
        attempt(() => (value === undefined ? finish() : takeBytes(value)));
      } catch (cause) {
        if (outcome !== undefined) break;
        if (GatewayError.isInstance(cause)) settle({ verdict: 'truncated', error: cause });
        else attempt(() => finish({ cause }));
      }
    } while (items.isAwaited);
    isReading = false;
  }

  function takeBytes(bytes: Uint8Array): void {
    bytesRead += bytes.byteLength;
    if (bytesRead > maxBytes) throw tooLarge(maxBytes, 'it', 'maxResponseBytes');
    events.push(bytes);
    timeouts?.endRead(hasNewItems);
    if (hasNewItems) context.firstChunk?.();
    if (answer.isOver()) settle({ verdict: 'complete' }, false);
    else if (answer.isEnding()) timeouts?.expectEnd();
  }

  /** Ends the stream when what has come is an error or cannot be read. */
  function attempt(work: () => void): void {
    try {
      work();
    } catch (cause) {
      settle({ verdict: 'truncated', error: readingFailure(base, progress, cause) });
    }
  }

  /** Nothing more of the answer will come: the body has ended or is broken, or is given up. */
  function finish(broken?: { readonly cause: unknown }, givesUp = false): void {
    events.end();
    answer.takeEnd();
    const verdict = answer.verdict(broken !== undefined);
    let error: unknown;
    if (verdict !== 'complete' && onTruncated === 'warn') {
      context.warn?.(`The stream ${describeEnding(verdict, progress)}`);
    } else if (verdict !== 'complete' && onTruncated !== 'allow') {
      error = truncated(base, progress, verdict, broken?.cause);
    }
    settle({ verdict, error }, givesUp);
  }

  /** Ends the stream before its body has ended. */
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

  /** Aborts the request that was given up. Until its items are read, an abort can come from the caller. */
  function abortRequest(): void {
    if (!isGivenUp || items.hasUnread || controller.signal.aborted) return;
    isAbortedByEnd = true;
    controller.abort();
  }

  function onPassed(limit: StreamLimit, timeout: number): void {
    if (limit === 'ending') attempt(() => finish(undefined, true));
    else if (answer.isFinished()) leave();
    else {
      if (limit === 'unread') context.warn?.('A stream was not read by anybody; it is closed now');
      leave(limits?.failure(base, progress, limit, timeout));
    }
  }

  /**
   * Ends the stream. The rest of the body is given up with its connection, or, after a whole answer,
   * read to its end, so that the connection can be used again.
   */
  function settle(end: StreamOutcome, givesUp = true): void {
    outcome = end;
    isGivenUp = givesUp;
    timeouts?.stop();
    controller.signal.removeEventListener('abort', onAbort);
    signal?.removeEventListener('abort', onAbort);
    answer.flush();
    items.end(end.error);
    if (isGivenUp) cancel();
    else void drain();
    abortRequest();
    context.release?.(end, progress);
  }

  // It fails when the body has failed already; there is nothing left to close then.
  const cancel = (): void => void body?.cancel().catch(() => {});

  async function drain(): Promise<void> {
    const timer = setTimeout(cancel, drainTimeout);
    keepAlive(timer, false);
    try {
      while ((await body?.read())?.done === false);
    } catch {
      // The answer is whole; how its connection ends does not matter.
    } finally {
      clearTimeout(timer);
    }
  }

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

  return {
    controller,
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
      timeouts?.noteReader();
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
}
