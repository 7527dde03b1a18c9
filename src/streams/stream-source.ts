import type { StreamVerdict } from '../errors/stream-error.ts';
import type { UsageOf, WholeOf } from './protocol.ts';

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
  /** Leaves the stream: what was not read is dropped and the connection closed. Never throws. */
  close(): void;
  /** The same, for a stream that nobody can read any more. */
  abandon(): void;
}

/** The result of `next()` when nothing follows. */
export const finished: IteratorResult<never, undefined> = { done: true, value: undefined };
