import { finished, type StreamSource } from './stream-source.ts';

/** Splits a source in two. What one of them has read and the other has not is kept in memory. */
export function teeSource<Item>(
  source: StreamSource<Item>,
): [StreamSource<Item>, StreamSource<Item>] {
  /** For each branch that is not closed, the results that only the other one has asked for. */
  const open = new Set<Promise<IteratorResult<Item, undefined>>[]>();
  const branch = (): StreamSource<Item> => {
    const waiting: Promise<IteratorResult<Item, undefined>>[] = [];
    open.add(waiting);
    return {
      controller: source.controller,
      get verdict() {
        return source.verdict;
      },
      get partial() {
        return source.partial;
      },
      get usage() {
        return source.usage;
      },
      next() {
        if (!open.has(waiting)) return Promise.resolve(finished);
        if (waiting.length === 0) {
          const result = source.next();
          for (const results of open) results.push(result);
        }
        return waiting.shift() ?? Promise.resolve(finished);
      },
      close(isDropped) {
        open.delete(waiting);
        waiting.length = 0;
        if (open.size === 0) source.close(isDropped);
      },
    };
  };
  return [branch(), branch()];
}
