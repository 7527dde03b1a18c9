import type { StreamVerdict } from './errors.ts';
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
export function quiet<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}
