import { GatewayError } from '../errors/gateway-error.ts';
import { keepAlive } from '../http/keep-alive.ts';
import {
  describeEnding,
  readingFailure,
  type Received,
  type StreamVerdict,
  timedOut,
  truncated,
  userAborted,
} from './errors.ts';
import type { StreamContext, StreamOutcome, StreamProtocol, UsageOf, WholeOf } from './protocol.ts';
import { EventReader, type Framing, tooLarge } from './sse.ts';
import { type StreamLimit, StreamTimeouts } from './timeouts.ts';
import { StreamedAnswer } from './verdict.ts';

/** Where the items of a `Stream` come from. */
export interface StreamSource<Item> {
  /** Aborts the request behind the stream. */
  readonly controller: AbortController;
  /** How the stream ended; `undefined` until then. */
  readonly verdict: StreamVerdict | undefined;
  readonly partial: WholeOf<Item> | undefined;
  readonly usage: UsageOf<Item> | undefined;
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

/** The result of `next()` when nothing follows. */
export const finished: IteratorResult<never, undefined> = { done: true, value: undefined };

/** A promise that nobody has to look at: its rejection is never an unhandled one. */
export function ignoreRejection<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
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
    // Most often one waits at a time. It is seen to when it fails: to do so for each item costs as much
    // as reading a short one.
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

/** The end of a body comes right behind its terminator, unless the server forgets to close. */
const drainTimeout = 1_000;

/**
 * Reads a body, or the events that came in place of one, as a stream of items.
 *
 * One read of the network is under way at most, and it is begun only when all items of the one
 * before were taken; the first begins at once, so that the body is locked (an unlocked one is closed
 * when its response is garbage collected) and a silent gateway is noticed.
 */
export class StreamReader<Item> implements StreamSource<Item> {
  readonly controller: AbortController;
  readonly #context: StreamContext;
  readonly #answer: StreamedAnswer<Item>;
  readonly #events: EventReader;
  readonly #timeouts: StreamTimeouts;
  readonly #items = new ChunkQueue<Item>();
  readonly #body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #isReading = false;
  #hasNewItems = false;
  #bytes = 0;
  #outcome: StreamOutcome | undefined;

  constructor(
    source: ReadableStream<Uint8Array> | readonly unknown[],
    context: StreamContext,
    protocol: StreamProtocol<Item>,
    framing: Framing,
  ) {
    const { controller, signal, check, partial } = context;
    this.#context = context;
    this.controller = controller;
    this.#answer = new StreamedAnswer(protocol, check, partial, (item) => {
      this.#hasNewItems = true;
      this.#items.push(item);
    });
    this.#events = new EventReader(
      context.maxEventBytes,
      framing,
      this.#answer.take,
      this.#answer.takeTextBetween,
    );
    this.#timeouts = new StreamTimeouts(context.limits, context.startedAt, this.#onPassed);
    if ('getReader' in source) this.#body = source.getReader();
    controller.signal.addEventListener('abort', this.#onAbort, { once: true });
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (controller.signal.aborted || signal?.aborted === true) this.#onAbort();
    else if ('getReader' in source) void this.#read();
    else this.#takeValues(source);
  }

  get verdict(): StreamVerdict | undefined {
    return this.#outcome?.verdict;
  }

  get partial(): WholeOf<Item> | undefined {
    return this.#answer.progress.partial;
  }

  get usage(): UsageOf<Item> | undefined {
    return this.#answer.progress.usage;
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    this.#timeouts.noteReader();
    const result = this.#items.next();
    if (this.#items.isAwaited && !this.#isReading) void this.#read();
    return result;
  }

  close(isDropped = false): void {
    if (this.#outcome !== undefined) return;
    if (isDropped) this.#warn('A stream was dropped before its end; it is closed now');
    this.#items.clear();
    this.#break();
  }

  /** Reads from the network until an item has come for everybody who waits. Never rejects. */
  async #read(): Promise<void> {
    this.#isReading = true;
    do {
      this.#timeouts.beginRead();
      this.#hasNewItems = false;
      try {
        const { done, value } = (await this.#body?.read()) ?? finished;
        if (this.#outcome !== undefined) break;
        if (value !== undefined) this.#push(value);
        else if (done) this.#finish();
      } catch (cause) {
        this.#onBroken(cause);
      }
    } while (this.#items.isAwaited);
    this.#isReading = false;
  }

  #push(bytes: Uint8Array): void {
    const { maxBytes = Infinity } = this.#context;
    try {
      this.#bytes += bytes.byteLength;
      if (this.#bytes > maxBytes) throw tooLarge(maxBytes, 'it', 'maxResponseBytes');
      this.#events.push(bytes);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#timeouts.endRead(this.#hasNewItems);
    if (this.#answer.isOver) this.#settle({ verdict: 'complete' }, 'drain');
    else if (this.#answer.terminated) this.#timeouts.expectEnd();
  }

  #takeValues(values: readonly unknown[]): void {
    try {
      for (const value of values) this.#answer.takeValue(value);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#finish();
  }

  /** Nothing more of the answer will come, as the body has ended or is given up. */
  #finish(broken?: { readonly cause: unknown }, body: 'close' | 'ended' = 'ended'): void {
    try {
      this.#events.end();
      this.#answer.end(this.#events.strayText);
    } catch (error) {
      this.#fail(error);
      return;
    }
    const { started } = this.#answer.progress;
    const verdict = this.#answer.verdict(broken !== undefined);
    const { onTruncated, error: base } = this.#context;
    let error: unknown;
    if (verdict !== 'complete' && onTruncated === 'throw') {
      error = truncated(base, this.#received, { verdict, started, cause: broken?.cause });
    } else if (verdict !== 'complete' && onTruncated === 'warn') {
      this.#warn(`The stream ${describeEnding(verdict, started)}`);
    }
    this.#settle({ verdict, error }, body);
  }

  get #received(): Received {
    return { partial: this.partial, usage: this.usage };
  }

  #warn(message: string): void {
    this.#context.warn(message, { operation: this.#context.error.operation });
  }

  #onBroken(cause: unknown): void {
    if (this.#outcome !== undefined) return;
    if (GatewayError.isInstance(cause)) this.#settle({ verdict: 'truncated', error: cause });
    else this.#finish({ cause });
  }

  /** What came cannot be read, or is an error. */
  #fail(cause: unknown): void {
    const error = readingFailure(this.#context.error, this.#received, cause);
    this.#settle({ verdict: 'truncated', error });
  }

  /** The stream ends before its body does. */
  #break(error?: unknown): void {
    this.#settle({ verdict: this.#answer.verdict(true), error });
  }

  readonly #onAbort = (): void => {
    if (this.#outcome !== undefined) return;
    this.#items.clear();
    const { signal, controller, error: base } = this.#context;
    const { reason }: { reason: unknown } = controller.signal;
    if (signal?.aborted === true) this.#break(userAborted(base, this.#received, signal.reason));
    else this.#break(reason instanceof GatewayError ? reason : undefined);
  };

  readonly #onPassed = (limit: StreamLimit, timeout: number): void => {
    if (limit === 'ending') this.#finish(undefined, 'close');
    else if (this.#answer.isFinished) this.#break();
    else {
      if (limit === 'unread') this.#warn('A stream was not read by anybody; it is closed now');
      this.#break(timedOut(this.#context.error, this.#received, limit, timeout));
    }
  };

  /**
   * Ends the stream. The rest of the body is given up with its connection, or, after a whole answer,
   * read to its end, so that the connection can be used again.
   */
  #settle(outcome: StreamOutcome, body: 'close' | 'drain' | 'ended' = 'close'): void {
    const { controller, signal, release } = this.#context;
    this.#outcome = outcome;
    this.#timeouts.stop();
    controller.signal.removeEventListener('abort', this.#onAbort);
    signal?.removeEventListener('abort', this.#onAbort);
    if (body === 'drain') void this.#drain();
    if (body === 'close') {
      controller.abort();
      this.#cancel();
    }
    this.#items.end(outcome.error);
    release(outcome);
  }

  readonly #cancel = (): void => {
    // Fails when the body has failed already; there is nothing left to close then.
    this.#body?.cancel().catch(() => undefined);
  };

  async #drain(): Promise<void> {
    const timer = setTimeout(this.#cancel, drainTimeout);
    keepAlive(timer, false);
    try {
      while (this.#body !== undefined && !(await this.#body.read()).done);
    } catch {
      // The answer is whole; how its connection ends does not matter.
    } finally {
      clearTimeout(timer);
    }
  }
}
