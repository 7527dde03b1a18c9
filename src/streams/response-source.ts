import { GatewayError } from '../errors/gateway-error.ts';
import type { StreamVerdict } from '../errors/stream-error.ts';
import { drain } from './drain.ts';
import { EventDecoder } from './event-decoder.ts';
import type { Settlement, StreamContext, StreamProtocol, UsageOf, WholeOf } from './protocol.ts';
import { quiet } from './quiet.ts';
import { EventTooLarge, type Framing, type ServerSentEvent } from './read-events.ts';
import { Settler } from './settlement.ts';
import { finished, type StreamSource } from './stream-source.ts';
import { type Expiry, Watchdog } from './watchdog.ts';

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
  readonly #events: Framing;
  readonly #decoder: EventDecoder<Item>;
  readonly #settler: Settler<Item>;
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
    frame: new (
      maxEventBytes: number,
      onEvent: (event: ServerSentEvent) => void,
      onStrayText: (text: string) => void,
    ) => Framing,
  ) {
    this.#context = context;
    this.controller = context.controller;
    this.#reader = body.getReader();
    const { isCollected = false } = protocol;
    this.#bytesLeft = isCollected ? context.maxResponseBytes : Infinity;
    const progress = protocol.follow(isCollected || context.partial);
    this.#decoder = new EventDecoder(protocol, context.check, progress, (item) =>
      this.#items.push(item),
    );
    this.#events = new frame(
      context.maxEventBytes,
      this.#decoder.take,
      this.#decoder.takeTextBetween,
    );
    this.#settler = new Settler(context, this.#decoder, protocol.endIsProof === true);
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

  close(): void {
    if (this.#settlement !== undefined) return;
    this.#items = [];
    this.#settle(this.#settler.left());
  }

  abandon(): void {
    if (this.#settlement !== undefined) return;
    this.#settler.warn('A stream was dropped before its end; it is closed now');
    this.close();
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
    this.#settle(this.#settler.ended(broken), body);
  }

  #onBroken(cause: unknown): void {
    if (this.#settlement !== undefined) return;
    if (GatewayError.isInstance(cause)) this.#settle({ verdict: 'truncated', error: cause });
    else this.#finish({ cause });
  }

  #fail(error: unknown): void {
    this.#settle(this.#settler.failed(error));
  }

  readonly #onAbort = (): void => {
    if (this.#settlement !== undefined) return;
    this.#items = [];
    this.#settle(this.#settler.aborted());
  };

  readonly #onExpiry = ({ limit, timeout }: Expiry): void => {
    if (limit === 'ending') this.#finish(undefined, 'close');
    else if (this.#decoder.isFinished) this.#settle({ verdict: 'complete' });
    else this.#settle(this.#settler.expired(limit, timeout));
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
    if (body === 'drain') void drain(this.#reader);
    if (body === 'close') {
      controller.abort();
      // Fails when the body has failed already; there is nothing left to close then.
      this.#reader.cancel().catch(() => undefined);
    }
    release(settlement);
  }
}
