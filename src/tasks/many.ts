import { InvalidInputError } from '../errors/gateway-error.ts';
import { changeOptions } from '../options/resolve.ts';
import type { Copied } from '../options/snapshot.ts';

/** Progress of a batch of calls. */
export interface ManyProgress<Result> {
  /** Number of finished calls, including failed ones. */
  readonly done: number;
  /** Number of failed calls. */
  readonly failed: number;
  /** Number of all calls. */
  readonly total: number;
  /** The result of the last call. */
  readonly result: Result;
}

/** Options of batches of calls. */
export interface ManyOptions<Result> {
  /**
   * Maximum number of concurrent calls. An integer of at least 1.
   * @defaultValue 4
   */
  concurrency?: number | undefined;
  /**
   * Called and awaited after each call, successful or not, including those that end after the loop was left.
   * If it throws, no more calls begin, and the loop throws its error after it has yielded those that are
   * running.
   */
  onProgress?: ((progress: ManyProgress<Result>) => unknown) | undefined;
}

/** Returns the options of one call of a batch, with its own id. */
export function optionsForCall<Options extends { callId?: string | undefined }>(
  options: Options,
  index: number,
): Options {
  const { callId } = options;
  return callId === undefined ? options : changeOptions(options, { callId: `${callId}-${index}` });
}

/**
 * Checks the parameters of each call before anything is paid for.
 *
 * @param checkOne - Throws `InvalidInputError` for invalid parameters.
 * @throws `InvalidInputError` naming the position in the list
 */
export function checkEach<Params>(
  list: readonly Copied<Params>[],
  checkOne: (params: Params) => void,
): void {
  for (const [index, { copy }] of list.entries()) {
    try {
      checkOne(copy);
    } catch (error) {
      if (!InvalidInputError.isInstance(error)) throw error;
      const { field, problem } = error;
      const name = `params[${index}]`;
      const path = field === 'params' ? name : `${name}.${field}`;
      throw new InvalidInputError(path, problem, { cause: error });
    }
  }
}

/**
 * Processes items with limited concurrency, and yields each result once it is available.
 *
 * Items are taken only when they start, so their iterator can end early. No item starts while results wait to
 * be consumed, so results do not pile up. Leaving the loop starts no more items; running work continues.
 *
 * @param work - Must not reject; failures are results too.
 */
export async function* mapConcurrent<Item, Result>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const list = items[Symbol.iterator]();
  const results: Result[] = [];
  let count = 0;
  let running = 0;
  let isExhausted = false;
  let notify: (() => void) | undefined;
  const addResult = (result: Result): void => {
    running -= 1;
    results.push(result);
    notify?.();
  };
  const startItems = (): void => {
    while (!isExhausted && running < concurrency) {
      const { done, value } = list.next();
      if (done === true) isExhausted = true;
      else {
        running += 1;
        void work(value, count++).then(addResult);
      }
    }
  };
  try {
    for (;;) {
      startItems();
      if (running === 0) return;
      await new Promise<void>((resolve) => {
        notify = resolve;
      });
      // More results may arrive while one is consumed.
      while (results.length > 0) yield* results.splice(0);
    }
  } finally {
    if (!isExhausted) list.return?.();
  }
}

/** Like `mapConcurrent`, for results that may be errors, and reports progress. */
export async function* mapWithProgress<Item, Result extends { readonly error?: unknown }>(
  items: readonly Item[],
  { concurrency = 4, onProgress }: ManyOptions<Result>,
  work: (item: Item, index: number) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const total = items.length;
  let done = 0;
  let failed = 0;
  let thrown: { readonly error: unknown } | undefined;
  const untilThrown = function* (): Generator<Item, void, undefined> {
    for (const item of items) {
      if (thrown !== undefined) return;
      yield item;
    }
  };
  yield* mapConcurrent(untilThrown(), concurrency, async (item, index) => {
    const result = await work(item, index);
    done += 1;
    if (result.error !== undefined) failed += 1;
    try {
      await onProgress?.({ done, failed, total, result });
    } catch (error) {
      thrown ??= { error };
    }
    return result;
  });
  if (thrown !== undefined) throw thrown.error;
}
