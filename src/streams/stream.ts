// Programs whose compiler settings do not include this library must understand `await using` too.
/// <reference lib="esnext.disposable" preserve="true" />
import { type ResponseSchema, trust, unchecked } from '../answers/reader.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { StreamVerdict } from './errors.ts';
import { jsonLines } from './events.ts';
import { unwatchDropped, watchDropped } from './dropped.ts';
import type { StreamContext, StreamProtocol, UsageOf, WholeOf } from './protocol.ts';
import { type Aborted, finished, ignoreRejection } from './chunk-queue.ts';
import { type ItemSource, StreamReader, type StreamReading } from './stream-reader.ts';

/** Some runtimes lack the symbols; compilers of `using` fall back to these. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/**
 * A streamed response, read once with `for await`.
 *
 * The loop ends normally only if the response is complete. It throws `StreamTruncatedError` if the stream
 * ends without proof of that (see the option `onTruncated`), `StreamError` if the gateway sends an error,
 * `StreamTimeoutError` if it stalls, and `APIUserAbortError` if the caller's `signal` is aborted.
 * All of them carry the response so far in `partial` and `usage`.
 *
 * `break`, `close()` and `controller.abort()` end the loop without an error and close the
 * connection. After an abort no item is yielded, even if all of them have arrived. A stream that is
 * never read is closed with a warning after `idleTimeout`, or when it is garbage collected; read it,
 * close it, or declare it with `using`.
 *
 * @example
 * ```ts
 * for await (const chunk of stream) {
 *   process.stdout.write(chunk.choices[0]?.delta.content ?? '');
 * }
 * ```
 */
export class Stream<Item> implements AsyncIterable<Item>, Disposable, AsyncDisposable {
  readonly #reading: StreamReading<Item>;
  readonly #items: ItemSource<Item>;
  #isRead = false;

  /** @internal */
  constructor(reading: StreamReading<Item>, items: ItemSource<Item>) {
    this.#reading = reading;
    this.#items = items;
    if (reading.verdict === undefined) watchDropped(this, reading, items);
  }

  /**
   * Creates a stream from the output of `toReadableStream()`: lines of JSON as bytes.
   *
   * It is complete if the bytes end with a whole line, because the stream that wrote them has checked that
   * the response is complete and fails its readable otherwise.
   *
   * @param readable - The bytes, for example the body of a `fetch` response.
   * @param controller - Aborted when the stream is closed early. A new one by default.
   */
  static fromReadableStream<Item>(
    readable: ReadableStream<Uint8Array>,
    controller: AbortController = new AbortController(),
  ): Stream<Item> {
    return readLinesAsStream<Item>(readable, controller, plainProtocol());
  }

  /** Aborts the request behind the stream; a loop that reads it ends without an error. */
  get controller(): AbortController {
    return this.#reading.controller;
  }

  /** The verdict once the stream has ended; `undefined` until then. */
  get verdict(): StreamVerdict | undefined {
    return this.#reading.verdict;
  }

  /**
   * The response so far, in the shape of a complete one, also after an abort; for images, the list of finished
   * ones. `undefined` before the first item, and with `partial: false`.
   */
  get partial(): WholeOf<Item> | undefined {
    return this.#reading.partial;
  }

  /** The last token usage that was received; `undefined` before. */
  get usage(): UsageOf<Item> | undefined {
    return this.#reading.usage;
  }

  /**
   * Reads the stream, once.
   *
   * @throws `GatewayError` if the stream is being read, was read, or is closed
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<Item, undefined> {
    // A value of its own is that of an instrumentation, which observes the items.
    return this.#read(Object.hasOwn(this, 'iterator') ? this.iterator() : this.#claim());
  }

  /**
   * Reads the stream, once, for instrumentations of `openai` that replace it on a stream, such as
   * `@opentelemetry/instrumentation-openai`. In your code, use `for await`.
   */
  get iterator(): () => AsyncIterator<Item, undefined> {
    return () => this.#read(this.#claim());
  }

  #read(items: AsyncIterator<Item, undefined>): AsyncIterableIterator<Item, undefined> {
    // The iterator references the stream, so that it isn't collected while it is being read.
    const iterator: AsyncIterableIterator<Item, undefined> = {
      next: () => items.next(),
      return: () => {
        this.close();
        return items.return?.() ?? Promise.resolve(finished);
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /**
   * Splits the stream into two with the same items, read independently. Items that only one branch has
   * read are kept in memory. The connection closes when both branches are closed.
   *
   * @throws `GatewayError` if the stream is being read, was read, or is closed
   */
  tee(): [Stream<Item>, Stream<Item>] {
    const [left, right] = split(this.#claim());
    // The branches own the connection from here on.
    unwatchDropped(this.#reading);
    return [toStream(this.#reading, left), toStream(this.#reading, right)];
  }

  /**
   * Returns the items as bytes, one line of JSON each, to forward them to another program; see
   * `fromReadableStream`. It fails where a loop would throw, and follows the pace of its reader.
   *
   * @throws `GatewayError` if the stream is being read, was read, or is closed
   */
  toReadableStream(): ReadableStream<Uint8Array> {
    return writeLines(this[Symbol.asyncIterator]());
  }

  /** Drops the unread items and closes the connection. Never throws. */
  close(): void {
    this.#isRead = true;
    this.#items.close();
  }

  /** The same as `close()`, for `using`. */
  [dispose](): void {
    this.close();
  }

  /** The same as `close()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  #claim(): ItemSource<Item> {
    if (this.#isRead) {
      throw new GatewayError(
        'This stream is or was read already, or is closed. To read it twice, call tee() first.',
        { outcome: 'unknown', advice: '' },
      );
    }
    this.#isRead = true;
    return this.#items;
  }
}

/** Outside the class, because bundlers rename classes that refer to themselves, and `console.log` shows the name. */
export function toStream<Item>(
  reading: StreamReading<Item>,
  items: ItemSource<Item> = reading,
): Stream<Item> {
  return new Stream(reading, items);
}

/** Splits items into two branches. Items that only one branch has read are kept in memory. */
function split<Item>(items: ItemSource<Item>): [ItemSource<Item>, ItemSource<Item>] {
  type Result = Promise<IteratorResult<Item, undefined>>;
  /** For each open branch, the results that only the other one has read. */
  const open = new Set<Result[]>();
  const pull = (results: Result[]): Result => {
    if (results.length === 0) {
      const result = items.next();
      for (const others of open) others.push(result);
    }
    return results.shift() ?? Promise.resolve(finished);
  };
  /** Drops the unread items of a branch and ends it like a loop after an abort. */
  const dropUnread = async (results: Result[], { failure }: Aborted): Result => {
    const unread = await Promise.all(results.splice(0));
    const end = unread.at(-1)?.done === true ? finished : await pull(results);
    if (unread[0]?.done !== true && failure !== undefined) throw failure;
    return end;
  };
  const branch = (): ItemSource<Item> => {
    const results: Result[] = [];
    open.add(results);
    return {
      get aborted() {
        return items.aborted;
      },
      next() {
        if (!open.has(results)) return Promise.resolve(finished);
        const aborted = results.length > 0 ? items.aborted : undefined;
        return aborted === undefined
          ? pull(results)
          : ignoreRejection(dropUnread(results, aborted));
      },
      close(isDropped) {
        open.delete(results);
        results.length = 0;
        if (open.size === 0) items.close(isDropped);
      },
    };
  };
  return [branch(), branch()];
}

/** Unchecked items, complete if their bytes end cleanly. */
function plainProtocol<Item>(): StreamProtocol<Item> {
  const anything: ResponseSchema<Item> = { fields: {} };
  return {
    read(value) {
      trust(value, anything);
      return value;
    },
    follow: () => ({
      started: false,
      partial: undefined,
      usage: undefined,
      add: () => {},
      isFinished: () => false,
    }),
    fromResponse: () => [],
    isPlain: true,
    endIsProof: true,
  };
}

/** Reads lines of JSON that `toReadableStream()` wrote, possibly in another program. */
export function readLinesAsStream<Item>(
  readable: ReadableStream<Uint8Array>,
  controller: AbortController,
  protocol: StreamProtocol<Item>,
  signal?: AbortSignal,
): Stream<Item> {
  const context: StreamContext = {
    settings: {},
    check: unchecked,
    controller,
    signal,
    startedAt: 0,
    describe: () => ({ operation: 'fromReadableStream()' }),
  };
  return toStream(new StreamReader(readable, context, protocol, { format: jsonLines }));
}

/** Writes items as bytes, one line of JSON each, at the pace of the reader. */
export function writeLines(
  iterator: AsyncIterator<unknown, undefined>,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(readable) {
        const result = await iterator.next();
        if (result.done === true) readable.close();
        else readable.enqueue(encoder.encode(`${JSON.stringify(result.value)}\n`));
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
