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
import type { StreamContext, StreamOutcome, StreamProtocol, UsageOf, WholeOf } from './protocol.ts';
import { type EventFormat, type EventReader, tooLarge } from './events.ts';
import type { StreamLimit, StreamTimeouts } from './timeouts.ts';
import { StreamFollower } from './follow.ts';

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
  /** The abort by the caller, also after the end. No item is yielded after it. */
  readonly aborted: Aborted | undefined;
}

/** A stream that is being read. */
export interface StreamReading<Item> extends ItemSource<Item> {
  /** Aborts the request behind the stream. */
  readonly controller: AbortController;
  /** The verdict once the stream has ended; `undefined` until then. */
  readonly verdict: StreamVerdict | undefined;
  readonly partial: WholeOf<Item> | undefined;
  readonly usage: UsageOf<Item> | undefined;
}

/** The format of a stream's bytes, and its time limits. */
export interface StreamForm {
  readonly format: EventFormat;
  readonly limits?: { readonly Timeouts: typeof StreamTimeouts; readonly failure: typeof timedOut };
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
export class StreamReader<Item> implements StreamReading<Item> {
  /**
   * Settles once a stream with `holds` has content or has ended. Rejects with the error of a stream that ended
   * before.
   */
  readonly begun: Promise<void> | undefined;
  readonly #context: StreamContext;
  readonly #form: StreamForm;
  readonly #body: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #items: ChunkQueue<Item>;
  readonly #follower: StreamFollower<Item>;
  readonly #events: EventReader;
  readonly #timeouts: StreamTimeouts | undefined;
  #isReading = false;
  #bytesRead = 0;
  #outcome: StreamOutcome | undefined;
  /** `true` if the request is to be aborted once its items are read. */
  #isGivenUp = false;
  /** Tells an abort by the caller from that of a stream that gave up its request. */
  #abortedBy: 'caller' | 'stream' | undefined;
  /** Ends the hold; `undefined` unless the stream is held. */
  #letGo: ((error?: unknown) => void) | undefined;

  constructor(
    source: ReadableStream<Uint8Array> | readonly unknown[],
    context: StreamContext,
    protocol: StreamProtocol<Item>,
    form: StreamForm,
  ) {
    this.#context = context;
    this.#form = form;
    this.#items = new ChunkQueue<Item>(undefined, () => this.aborted);
    this.#follower = new StreamFollower(protocol, context, this.#items);
    this.#events = form.format(this.#follower, context.settings.maxEventBytes);
    this.#timeouts =
      form.limits &&
      new form.limits.Timeouts(context.settings, context.startedAt, (limit, timeout) =>
        this.#onPassed(limit, timeout),
      );
    if (context.holds === true) this.begun = this.#hold();
    const isStream = 'getReader' in source;
    if (isStream) this.#body = source.getReader();
    if (this.#followAborts()) return;
    if (isStream) void this.#read();
    else this.#attempt(() => this.#takeValues(source));
  }

  get controller(): AbortController {
    return this.#context.controller;
  }

  get verdict(): StreamVerdict | undefined {
    return this.#outcome?.verdict;
  }

  get partial(): WholeOf<Item> | undefined {
    return this.#follower.progress.partial;
  }

  get usage(): UsageOf<Item> | undefined {
    return this.#follower.progress.usage;
  }

  get aborted(): Aborted | undefined {
    const { signal, controller } = this.#context;
    if (signal?.aborted === true) {
      return {
        failure: userAborted(this.#context.describe(), this.#follower.progress, signal.reason),
      };
    }
    if (this.#abortedBy === 'stream' || !controller.signal.aborted) return undefined;
    const { reason }: { reason: unknown } = controller.signal;
    return { failure: reason instanceof GatewayError ? reason : undefined };
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    this.#timeouts?.setRead(true);
    const result = this.#items.next();
    if (this.#items.isAwaited) void this.#read();
    this.#abortRequest();
    return result;
  }

  close(isDropped?: boolean): void {
    this.#items.drop();
    this.#abortRequest();
    if (this.#outcome !== undefined) return;
    if (isDropped === true) {
      this.#context.owner?.warn('A stream was dropped before its end; it is closed now');
    }
    this.#leave();
  }

  #hold(): Promise<void> {
    this.#timeouts?.setRead(true);
    return new Promise((resolve, reject) => {
      this.#letGo = (error) => {
        this.#letGo = undefined;
        if (error !== undefined) reject(error);
        else resolve();
        this.#timeouts?.setRead(false);
      };
    });
  }

  /** Listens to the signals of the caller. Returns whether it has aborted already. */
  #followAborts(): boolean {
    for (const each of this.#signals) each.addEventListener('abort', this.#onAbort, { once: true });
    const isAborted = this.#signals.some(({ aborted }) => aborted);
    if (isAborted) this.#onAbort();
    return isAborted;
  }

  get #signals(): readonly AbortSignal[] {
    const { controller, signal } = this.#context;
    return signal ? [controller.signal, signal] : [controller.signal];
  }

  readonly #onAbort = (): void => {
    this.#abortedBy = 'caller';
    const failure = this.aborted?.failure;
    this.#items.drop(failure);
    this.#leave(failure);
  };

  /** Reads until nothing more is wanted. Never rejects. */
  async #read(): Promise<void> {
    const body = this.#body;
    if (body === undefined || this.#isReading) return;
    this.#isReading = true;
    do {
      this.#timeouts?.beginRead();
      this.#follower.hasNewItems = false;
      try {
        const { value } = await body.read();
        if (this.#outcome === undefined) this.#attempt(() => this.#takeChunk(value));
      } catch (cause) {
        if (this.#outcome === undefined) this.#lose(cause);
      }
    } while (this.#isReadWanted);
    this.#isReading = false;
  }

  get #isReadWanted(): boolean {
    if (this.#outcome !== undefined) return false;
    return this.#items.isAwaited || this.#letGo !== undefined || this.#follower.hasFailed;
  }

  /** Takes the failure of a read. */
  #lose(cause: unknown): void {
    if (GatewayError.isInstance(cause) && !this.#follower.hasFailed)
      this.#leave(cause, 'truncated');
    else this.#attempt(() => this.#finish({ cause }));
  }

  /** Takes the bytes of a read, or `undefined` at a clean end. */
  #takeChunk(chunk: unknown): void {
    if (chunk === undefined) {
      this.#finish();
      return;
    }
    const follower = this.#follower;
    const { maxBytes = Infinity, owner } = this.#context;
    const bytes = toBytes(chunk, this.#events);
    this.#bytesRead += bytes.byteLength;
    if (this.#bytesRead > maxBytes) throw tooLarge(maxBytes, 'it', 'maxResponseBytes');
    this.#events.push(bytes);
    this.#timeouts?.endRead(follower.hasNewItems);
    if (follower.hasNewItems) owner?.noteChunk();
    if (follower.hasContent) this.#letGo?.();
    if (follower.isOver) this.#settle({ verdict: 'complete' }, 'drain');
    else if (follower.isEnding) this.#timeouts?.expectEnd();
  }

  #takeValues(values: readonly unknown[]): void {
    for (const value of values) this.#follower.takeValue(value);
    this.#finish();
  }

  /** Runs `work`, and ends the stream if it throws. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (cause) {
      const base = this.#context.describe();
      this.#leave(readingFailure(base, this.#follower.progress, cause), 'truncated');
    }
  }

  #onPassed(limit: StreamLimit, timeout: number): void {
    const { owner } = this.#context;
    const { progress, hasFailed, isFinished } = this.#follower;
    if (limit === 'ending' || hasFailed) this.#attempt(() => this.#finish(undefined, 'cancel'));
    else if (isFinished) this.#leave();
    else {
      if (limit === 'unread') owner?.warn('A stream was not read and is closed now');
      this.#leave(this.#form.limits?.failure(this.#context.describe(), progress, limit, timeout));
    }
  }

  /** Ends the stream with its body, which ended, failed or was given up. */
  #finish(broken?: { readonly cause: unknown }, rest: 'drain' | 'cancel' = 'drain'): void {
    const { settings, owner } = this.#context;
    const { onTruncated } = settings;
    const follower = this.#follower;
    this.#events.end();
    follower.takeEnd();
    const verdict = follower.verdict(broken !== undefined);
    let error: unknown;
    if (verdict !== 'complete' && onTruncated === 'warn') {
      owner?.warn(`The stream ${describeEnding(verdict, follower.progress)}`);
    } else if (verdict !== 'complete' && onTruncated !== 'allow') {
      error = truncated(
        this.#context.describe(),
        follower.progress,
        verdict,
        broken?.cause,
        follower.unread,
      );
    }
    this.#settle({ verdict, error }, rest);
  }

  /** Ends the stream before its body. */
  #leave(error?: unknown, verdict = this.#follower.verdict(true)): void {
    this.#settle({ verdict, error }, 'cancel');
  }

  /**
   * Ends the stream. The rest of the body is cancelled with its connection, or read to its end, so that the
   * connection can be reused.
   */
  #settle(end: StreamOutcome, rest: 'drain' | 'cancel'): void {
    const follower = this.#follower;
    this.#outcome = end;
    this.#isGivenUp = rest === 'cancel';
    this.#timeouts?.stop();
    unwatchDropped(this);
    for (const each of this.#signals) each.removeEventListener('abort', this.#onAbort);
    follower.flush(end.verdict === 'complete');
    this.#items.end(end.error);
    if (this.#isGivenUp) this.#cancelBody();
    else void this.#drainBody();
    this.#abortRequest();
    this.#context.owner?.endStream(end, follower.progress);
    // Content may have arrived together with the error.
    this.#letGo?.(follower.hasContent ? undefined : end.error);
  }

  #cancelBody(): void {
    // Rejects if the body has already failed; then there is nothing to close.
    this.#body?.cancel().catch(() => {});
  }

  /** Reads the rest of the body, so that its connection can be used again. */
  async #drainBody(): Promise<void> {
    const timer = setTimeout(() => this.#cancelBody(), drainTimeout);
    keepAlive(timer, false);
    try {
      while ((await this.#body?.read())?.done === false);
    } catch {
      // The response is complete, so a failing connection doesn't matter.
    } finally {
      clearTimeout(timer);
    }
  }

  /** Aborts a request that was given up, once its items are read: until then, the caller may abort it. */
  #abortRequest(): void {
    const { controller } = this.#context;
    if (!this.#isGivenUp || this.#items.hasUnread || controller.signal.aborted) return;
    this.#abortedBy ??= 'stream';
    abortOwn(controller);
  }
}
