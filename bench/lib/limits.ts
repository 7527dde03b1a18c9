/** The result of a promise within its time limit. */
export type Ending<T> =
  | { readonly how: 'returned'; readonly value: T }
  | { readonly how: 'threw'; readonly error: unknown }
  | { readonly how: 'time limit' };

/** Waits for a promise, but not longer than `milliseconds`. What it does afterwards is ignored. */
export async function settleWithin<T>(
  promise: Promise<T>,
  milliseconds: number,
): Promise<Ending<T>> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<Ending<T>>((resolve) => {
    timer = setTimeout(() => resolve({ how: 'time limit' }), milliseconds);
  });
  const settled = promise.then(
    (value): Ending<T> => ({ how: 'returned', value }),
    (error: unknown): Ending<T> => ({ how: 'threw', error }),
  );
  const ending = await Promise.race([settled, limit]);
  clearTimeout(timer);
  return ending;
}

/** Runs at most some of the tasks at the same time. @returns their results in order */
export async function runAtMost<Item, Result>(
  most: number,
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, item] = next;
      results[index] = await run(item);
    }
  };
  await Promise.all(Array.from({ length: most }, work));
  return results;
}
