// Programs whose compiler settings do not include this library must understand `await using` too.
/// <reference lib="esnext.disposable" preserve="true" />
import { type ResponseSchema, trust } from '../answers/reader.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { StreamVerdict } from './errors.ts';
import { jsonLines } from './events.ts';
import type { StreamContext, StreamProtocol, UsageOf, WholeOf } from './protocol.ts';
import {
  type Aborted,
  finished,
  ignoreRejection,
  type ItemSource,
  readStream,
  type StreamReading,
} from './stream-reader.ts';

/** Some runtimes do not have the symbols; compilers of `using` fall back to these. */
export const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** Closes streams that nobody holds any more, so that their connections do not stay open. */
const dropped =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : new FinalizationRegistry<ItemSource<unknown>>((items) => items.close(true));

/**
 * A streamed answer, read once with `for await`.
 *
 * The loop ends normally only when the answer is provably whole. It throws `StreamTruncatedError`
 * when the stream ended without that proof (see the option `onTruncated`), `StreamError` when the
 * gateway sent an error, `StreamTimeoutError` when it fell silent, and `APIUserAbortError` when the
 * caller's `signal` was aborted. All of them carry what had arrived in `partial` and `usage`.
 *
 * `break`, `close()` and `controller.abort()` end the loop without an error and close the
 * connection. After an abort no item is handed out, even if all of them have arrived. A stream that is never read is closed after `idleTimeout`, or
 * when it is garbage collected, with a warning; better read it, close it, or declare it with
 * `using`.
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
    dropped?.register(this, items, this);
  }

  /**
   * Makes a stream from what `toReadableStream()` gave: lines of JSON in bytes.
   *
   * It is complete when the bytes end with a whole line; the proof that the answer is whole was
   * asked for by the stream that the lines came from, which fails its readable otherwise.
   *
   * @param readable - The bytes, for example the body of a `fetch` response.
   * @param controller - Aborted when the stream is left early. A new one by default.
   */
  static fromReadableStream<Item>(
    readable: ReadableStream<Uint8Array>,
    controller: AbortController = new AbortController(),
  ): Stream<Item> {
    return streamOfLines<Item>(readable, controller, plainProtocol());
  }

  /** Aborts the request behind the stream; a loop that reads it ends without an error. */
  get controller(): AbortController {
    return this.#reading.controller;
  }

  /** How the stream ended; `undefined` until then. */
  get verdict(): StreamVerdict | undefined {
    return this.#reading.verdict;
  }

  /**
   * What has been received so far in the form of a whole answer, also after an abort; for images the
   * list of the finished ones. `undefined` before anything came, and with `partial: false`.
   */
  get partial(): WholeOf<Item> | undefined {
    return this.#reading.partial;
  }

  /** The last token usage that was received; `undefined` before. */
  get usage(): UsageOf<Item> | undefined {
    return this.#reading.usage;
  }

  /**
   * Reads the stream. Possible once.
   *
   * @throws `GatewayError` when the stream is or was read already.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<Item, undefined> {
    const items = this.#claim();
    // The iterator holds the stream: one that is being read must not count as dropped.
    const iterator: AsyncIterableIterator<Item, undefined> = {
      next: () => items.next(),
      return: () => {
        this.close();
        return Promise.resolve(finished);
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /**
   * Splits the stream into two with the same items, read at their own pace. What one of them has
   * read and the other has not is kept in memory. The connection closes when both are left.
   *
   * @throws `GatewayError` when the stream is or was read already.
   */
  tee(): [Stream<Item>, Stream<Item>] {
    const [left, right] = split(this.#claim());
    // From now on the branches hold the connection.
    dropped?.unregister(this);
    return [streamOf(this.#reading, left), streamOf(this.#reading, right)];
  }

  /**
   * Gives the items as bytes, one line of JSON each, to send on to another program; see
   * `fromReadableStream`. It fails where a loop would throw, and reads only as fast as it is read.
   *
   * @throws `GatewayError` when the stream is or was read already.
   */
  toReadableStream(): ReadableStream<Uint8Array> {
    return writeLines(this[Symbol.asyncIterator]());
  }

  /** Leaves the stream: what was not read is dropped and the connection closed. Never throws. */
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

/** Outside of the class: bundlers rename classes that name themselves, and `console.log` shows the name. */
export function streamOf<Item>(
  reading: StreamReading<Item>,
  items: ItemSource<Item> = reading,
): Stream<Item> {
  return new Stream(reading, items);
}

/** Splits items in two. Items that one branch has read and the other has not are kept in memory. */
function split<Item>(items: ItemSource<Item>): [ItemSource<Item>, ItemSource<Item>] {
  type Result = Promise<IteratorResult<Item, undefined>>;
  /** For each branch that is not closed, the results that only the other one has read. */
  const open = new Set<Result[]>();
  const pull = (results: Result[]): Result => {
    if (results.length === 0) {
      const result = items.next();
      for (const others of open) others.push(result);
    }
    return results.shift() ?? Promise.resolve(finished);
  };
  /** Drops the unread items of a branch, and ends it as the abort ends a loop. */
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

/** Items of any kind, unchecked, whole when their bytes end cleanly. */
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
    fromAnswer: () => [],
    isPlain: true,
    endIsProof: true,
  };
}

/** Reads lines of JSON that a stream of this package gave, possibly in another program. */
export function streamOfLines<Item>(
  readable: ReadableStream<Uint8Array>,
  controller: AbortController,
  protocol: StreamProtocol<Item>,
  signal?: AbortSignal,
): Stream<Item> {
  const context: StreamContext = {
    controller,
    signal,
    startedAt: 0,
    validation: 'off',
    onIssue: () => {},
    error: { operation: 'fromReadableStream()' },
  };
  return streamOf(readStream(readable, context, protocol, { format: jsonLines }));
}

/** Writes items as bytes, one line of JSON each, as fast as they are read. */
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
