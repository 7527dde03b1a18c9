import { check, checkFunction, checkInteger } from './check.ts';
import { InvalidInputError } from './errors/gateway-error.ts';
import type { Copied } from './snapshot.ts';

/** How far many calls have come. */
export interface ManyProgress<Result> {
  /** How many have ended, well or not. */
  readonly done: number;
  /** How many of these have failed. */
  readonly failed: number;
  /** How many there are in all. */
  readonly total: number;
  /** The one that has just ended. */
  readonly result: Result;
}

/** Options of calls that do many things at once. */
export interface ManyOptions<Result> {
  /**
   * The most that are under way at a time. An integer of at least 1.
   * @defaultValue 4
   */
  concurrency?: number | undefined;
  /**
   * Called as soon as one has ended, well or not, and awaited. It hears of those, too, that end after the
   * loop was left. When it throws, no other is begun, and the loop ends with its error after it has given
   * those that are under way.
   */
  onProgress?: ((progress: ManyProgress<Result>) => unknown) | undefined;
}

/** The options of one of many calls, which each have an id of their own. */
export function optionsOf<Options extends { callId?: string | undefined }>(
  options: Options,
  index: number,
): Options {
  const { callId } = options;
  return callId === undefined ? options : { ...options, callId: `${callId}-${index}` };
}

/** Checks what calls of many requests have in common, and fills in what is missing. */
export function checkMany(options: {
  readonly concurrency?: number | undefined;
  readonly onProgress?: unknown;
  readonly idempotencyKey?: unknown;
}): number {
  const { concurrency = 4, onProgress, idempotencyKey } = options;
  checkFunction('onProgress', onProgress);
  const problem = 'would be the same for different requests; leave it out, and each has its own.';
  check(idempotencyKey === undefined, 'idempotencyKey', problem);
  return checkInteger('concurrency', concurrency, 1);
}

/**
 * Checks the parameters of each call before anything is paid for.
 *
 * @param checkOne - Throws `InvalidInputError` for parameters that cannot work.
 * @throws `InvalidInputError` naming the place in the list
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
      const { field, message } = error;
      const name = `params[${index}]`;
      const place = field === 'params' ? name : `${name}.${field}`;
      throw new InvalidInputError(place, message.slice(field.length + 2), { cause: error });
    }
  }
}

/**
 * Does the work of each item, at most so much at a time, and gives each result as soon as it is there.
 *
 * An item is taken when its turn has come, so what gives the items can end them early. While results wait
 * to be taken no other item is begun, so they do not pile up. Leaving the loop begins no other item; work
 * that is under way goes on.
 *
 * @param work - May not reject: what goes wrong is a result too.
 */
export async function* eachDone<Item, Result>(
  items: Iterable<Item>,
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const list = items[Symbol.iterator]();
  const results: Result[] = [];
  let count = 0;
  let running = 0;
  let isOver = false;
  let wake: (() => void) | undefined;
  const end = (result: Result): void => {
    running -= 1;
    results.push(result);
    wake?.();
  };
  const beginOthers = (): void => {
    while (!isOver && running < concurrency) {
      const { done, value } = list.next();
      if (done === true) isOver = true;
      else {
        running += 1;
        void work(value, count++).then(end);
      }
    }
  };
  try {
    for (;;) {
      beginOthers();
      if (running === 0) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      // While one is taken others may come.
      while (results.length > 0) yield* results.splice(0);
    }
  } finally {
    if (!isOver) list.return?.();
  }
}

/** The same as `eachDone`, for results that may be errors, with somebody who is told of each. */
export async function* eachTold<Item, Result extends { readonly error?: unknown }>(
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
  yield* eachDone(untilThrown(), concurrency, async (item, index) => {
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
