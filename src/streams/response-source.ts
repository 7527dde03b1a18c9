import { GatewayError } from '../errors/gateway-error.ts';
import type { StreamVerdict } from './errors.ts';
import { keepAlive } from '../http/keep-alive.ts';
import { EventDecoder } from './event-decoder.ts';
import type { Settlement, StreamContext, StreamProtocol, UsageOf, WholeOf } from './protocol.ts';
import { EventReader, EventTooLarge, type Framing } from './read-events.ts';
import {
  describeEnding,
  readingFailure,
  type Received,
  timedOut,
  truncated,
  userAborted,
} from './stream-failure.ts';
import { finished, quiet, type StreamSource } from './stream-source.ts';
import { type Expiry, Watchdog } from './watchdog.ts';

/** The end of a body comes right behind its terminator, unless the server forgets to close. */
const patience = 1_000;

/**
 * Reads a response body as a stream of items.
 *
 * One read of the network is under way at most, and it is begun only when all items of the one
 * before were taken; the first begins at once, so that the body is locked (an unlocked one is closed
 * when its response is garbage collected) and a silent gateway is noticed.
 */
export class ResponseSource<Item> implements StreamSource<Item> {
  readonly controller: AbortController;
  readonly #context: StreamContext;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #events: EventReader;
  readonly #decoder: EventDecoder<Item>;
  readonly #endIsProof: boolean;
  readonly #watchdog: Watchdog;
  #bytesLeft: number;
  #items: Item[] = [];
  #taken = 0;
  /**
   * The step that waits for the network, or waited last. Whether it fails is known before it does, and
   * only then it is made quiet: to do so at each step costs as much as reading a short chunk.
   */
  #step: Promise<IteratorResult<Item, undefined>> | undefined;
  #reading: Promise<void> | undefined;
  #settlement: Settlement | undefined;

  constructor(
    body: ReadableStream<Uint8Array>,
    context: StreamContext,
    protocol: StreamProtocol<Item>,
    framing: Framing,
  ) {
    this.#context = context;
    this.controller = context.controller;
    this.#reader = body.getReader();
    const { isCollected = false, endIsProof = false } = protocol;
    this.#endIsProof = endIsProof;
    this.#bytesLeft = isCollected ? context.maxResponseBytes : Infinity;
    const progress = protocol.follow(isCollected || context.partial);
    this.#decoder = new EventDecoder(protocol, context.check, progress, (item) =>
      this.#items.push(item),
    );
    this.#events = new EventReader(
      context.maxEventBytes,
      this.#decoder.take,
      this.#decoder.takeTextBetween,
      framing,
    );
    this.#watchdog = new Watchdog(context.limits, context.startedAt, this.#onExpiry);
    context.controller.signal.addEventListener('abort', this.#onAbort, { once: true });
    context.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (context.controller.signal.aborted || context.signal?.aborted === true) this.#onAbort();
    else this.#reading = this.#read();
  }

  get verdict(): StreamVerdict | undefined {
    return this.#settlement?.verdict;
  }

  get partial(): WholeOf<Item> | undefined {
    return this.#decoder.progress.partial;
  }

  get usage(): UsageOf<Item> | undefined {
    return this.#decoder.progress.usage;
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    this.#watchdog.noteReader();
    const taken = this.#take();
    if (taken !== undefined) return taken;
    const overlaps = this.#reading !== undefined && this.#step !== undefined;
    const step = this.#takeAfterReading();
    if (overlaps) return quiet(step);
    this.#step = step;
    return step;
  }

  close(isDropped = false): void {
    if (this.#settlement !== undefined) return;
    if (isDropped) this.#warn('A stream was dropped before its end; it is closed now');
    this.#items = [];
    this.#break();
  }

  /** What can be answered without the network. */
  #take(): Promise<IteratorResult<Item, undefined>> | undefined {
    const value = this.#items[this.#taken];
    if (value !== undefined) {
      this.#taken += 1;
      return Promise.resolve({ done: false, value });
    }
    if (this.#settlement === undefined) return undefined;
    const { verdict, error } = this.#settlement;
    if (error === undefined) return Promise.resolve(finished);
    // Like every async iterator, it fails once and is done from then on.
    this.#settlement = { verdict };
    return quiet(Promise.reject(error));
  }

  async #takeAfterReading(): Promise<IteratorResult<Item, undefined>> {
    for (;;) {
      const result = this.#take();
      if (result !== undefined) return result;
      this.#reading ??= this.#read();
      await this.#reading;
    }
  }

  /** Reads once from the network. Never rejects: a failure settles the stream. */
  async #read(): Promise<void> {
    this.#items = [];
    this.#taken = 0;
    this.#watchdog.beginRead();
    try {
      const { done, value } = await this.#reader.read();
      if (this.#settlement !== undefined) return;
      if (done) this.#finish();
      else this.#push(value);
    } catch (cause) {
      this.#onBroken(cause);
    } finally {
      this.#reading = undefined;
    }
  }

  #push(bytes: Uint8Array): void {
    try {
      this.#bytesLeft -= bytes.byteLength;
      if (this.#bytesLeft < 0) {
        throw new EventTooLarge(this.#context.maxResponseBytes, 'it', 'maxResponseBytes');
      }
      this.#events.push(bytes);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#watchdog.endRead(this.#items.length > 0);
    if (this.#decoder.isOver) this.#settle({ verdict: 'complete' }, 'drain');
    else if (this.#decoder.terminated) this.#watchdog.expectEnd();
  }

  /** Nothing more of the answer will come, as the body has ended or is given up. */
  #finish(broken?: { readonly cause: unknown }, body: 'close' | 'ended' = 'ended'): void {
    try {
      this.#events.end();
      this.#decoder.takeStrayText(this.#events.strayText);
      this.#decoder.checkEnding();
    } catch (error) {
      this.#fail(error);
      return;
    }
    const { started } = this.#decoder.progress;
    const verdict = this.#judge(broken !== undefined);
    const { onTruncated, error: base } = this.#context;
    let error: unknown;
    if (verdict !== 'complete' && onTruncated === 'throw') {
      error = truncated(base, this.#received, { verdict, started, cause: broken?.cause });
    } else if (verdict !== 'complete' && onTruncated === 'warn') {
      this.#warn(`The stream ${describeEnding(verdict, started)}`);
    }
    this.#settle({ verdict, error }, body);
  }

  /** Decides how the stream has ended. A terminator alone proves nothing: gateways write it after time-outs. */
  #judge(isBroken: boolean): StreamVerdict {
    const { progress, terminated, isFinished, isCut } = this.#decoder;
    if (isFinished) return 'complete';
    if (isBroken || isCut) return 'truncated';
    if (this.#endIsProof) return 'complete';
    if (!progress.started) return 'truncated';
    return terminated ? 'no_finish_reason' : 'no_terminator';
  }

  get #received(): Received {
    return { partial: this.partial, usage: this.usage };
  }

  #warn(message: string): void {
    this.#context.warn(message, { operation: this.#context.error.operation });
  }

  #onBroken(cause: unknown): void {
    if (this.#settlement !== undefined) return;
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
    this.#settle({ verdict: this.#judge(true), error });
  }

  readonly #onAbort = (): void => {
    if (this.#settlement !== undefined) return;
    this.#items = [];
    const { signal, controller, error: base } = this.#context;
    const { reason }: { reason: unknown } = controller.signal;
    if (signal?.aborted === true) this.#break(userAborted(base, this.#received, signal.reason));
    else this.#break(reason instanceof GatewayError ? reason : undefined);
  };

  readonly #onExpiry = ({ limit, timeout }: Expiry): void => {
    if (limit === 'ending') this.#finish(undefined, 'close');
    else if (this.#decoder.isFinished) this.#break();
    else {
      if (limit === 'unread') this.#warn('A stream was not read by anybody; it is closed now');
      this.#break(timedOut(this.#context.error, this.#received, limit, timeout));
    }
  };

  /**
   * Ends the stream. The rest of the body is given up with its connection, or, after a whole answer,
   * read to its end, so that the connection can be used again.
   */
  #settle(settlement: Settlement, body: 'close' | 'drain' | 'ended' = 'close'): void {
    const { controller, signal, release } = this.#context;
    this.#settlement = settlement;
    if (settlement.error !== undefined && this.#step !== undefined) void quiet(this.#step);
    this.#watchdog.stop();
    controller.signal.removeEventListener('abort', this.#onAbort);
    signal?.removeEventListener('abort', this.#onAbort);
    if (body === 'drain') void this.#drain();
    if (body === 'close') {
      controller.abort();
      this.#cancel();
    }
    release(settlement);
  }

  readonly #cancel = (): void => {
    // Fails when the body has failed already; there is nothing left to close then.
    void quiet(this.#reader.cancel());
  };

  async #drain(): Promise<void> {
    const timer = setTimeout(this.#cancel, patience);
    keepAlive(timer, false);
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // The answer is whole; how its connection ends does not matter.
    } finally {
      clearTimeout(timer);
    }
  }
}
