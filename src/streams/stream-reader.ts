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
   * Leaves the stream: what was not read is dropped and the connection closed. Never throws.
   *
   * @param isDropped - Whether nobody can read it any more, of which the logger is told.
   */
  close(isDropped?: boolean): void;
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

/** A result, or a promise that fails. */
type Given<Item> = IteratorResult<Item, undefined> | Promise<never>;

/** Hands items that are pushed to a loop that pulls. */
export class ChunkQueue<Item> implements AsyncIterableIterator<Item, undefined> {
  /** What nobody has asked for yet. */
  #results: Given<Item>[] = [];
  readonly #waiting: ((given: Given<Item>) => void)[] = [];
  #longestWaiting: Promise<unknown> | undefined;
  readonly #onLeave: (() => void) | undefined;
  #isEnded = false;

  /** @param onLeave - Called when the loop is left before the end. */
  constructor(onLeave?: () => void) {
    this.#onLeave = onLeave;
  }

  /** Whether somebody has asked for an item that has not come yet. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  push(value: Item): void {
    if (!this.#isEnded) this.#give({ done: false, value });
  }

  /** Ends the loop when it has taken what is there, with `failure` when there is one. */
  end(failure: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    // An iterator fails once and is done from then on.
    if (failure !== undefined) {
      if (this.#longestWaiting !== undefined) void ignoreRejection(this.#longestWaiting);
      this.#give(ignoreRejection(Promise.reject(failure)));
    }
    for (const answer of this.#waiting.splice(0)) answer(finished);
  }

  /** Drops what nobody has asked for yet. */
  clear(): void {
    this.#results = [];
  }

  #give(result: Given<Item>): void {
    const answer = this.#waiting.shift();
    if (answer === undefined) this.#results.push(result);
    else answer(result);
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    const result = this.#results.shift();
    if (result !== undefined) return Promise.resolve(result);
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
    this.clear();
    this.end(undefined);
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
  const items = new ChunkQueue<Item>();
  let hasNewItems = false;
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
  function finish(broken?: { readonly cause: unknown }, isGivenUp = false): void {
    events.end();
    answer.takeEnd();
    const verdict = answer.verdict(broken !== undefined);
    let error: unknown;
    if (verdict !== 'complete' && onTruncated === 'warn') {
      context.warn?.(`The stream ${describeEnding(verdict, progress)}`);
    } else if (verdict !== 'complete' && onTruncated !== 'allow') {
      error = truncated(base, progress, verdict, broken?.cause);
    }
    settle({ verdict, error }, isGivenUp);
  }

  /** Ends the stream before its body has ended. */
  function leave(error?: unknown): void {
    settle({ verdict: answer.verdict(true), error });
  }

  function onAbort(): void {
    if (outcome !== undefined) return;
    items.clear();
    const { reason }: { reason: unknown } = controller.signal;
    if (signal?.aborted === true) leave(userAborted(base, progress, signal.reason));
    else leave(reason instanceof GatewayError ? reason : undefined);
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
  function settle(end: StreamOutcome, isGivenUp = true): void {
    outcome = end;
    timeouts?.stop();
    controller.signal.removeEventListener('abort', onAbort);
    signal?.removeEventListener('abort', onAbort);
    if (isGivenUp) {
      controller.abort();
      cancel();
    } else void drain();
    answer.flush();
    items.end(end.error);
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
    next() {
      timeouts?.noteReader();
      const result = items.next();
      if (items.isAwaited) void read();
      return result;
    },
    close(isDropped) {
      if (outcome !== undefined) return;
      if (isDropped === true)
        context.warn?.('A stream was dropped before its end; it is closed now');
      items.clear();
      leave();
    },
  };
}
