import { check } from './check.ts';
import { asGiven } from './given.ts';

/** The parameters of one of many calls. */
export interface Copied<Params> {
  /** The caller's object, which the result of the call names. */
  readonly original: Params;
  /** The copy that is sent. */
  readonly copy: Params;
}

/** Runs `work` at once. The returned function returns its result or throws its error. */
export function runNow<T>(work: () => T): () => T {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

/**
 * Copies the parameters of many calls, so that later changes of the list do not reach requests that are
 * yet to be sent. The returned function throws what is wrong with the list.
 */
export function copyEach<Params>(params: Iterable<Params>): () => readonly Copied<Params>[] {
  return runNow(() => {
    const problem = 'must be a list, with the parameters of one call in each place.';
    check(isIterable(params), 'params', problem);
    return Array.from(params, (original) => ({ original, copy: asGiven(original) }));
  });
}

/** Copies a list, but not its items. The returned function throws the error of its iterator. */
export function copyList<Item>(items: Iterable<Item>): () => Iterable<Item> {
  // Anything else is refused by the call.
  return runNow(() => (isIterable(items) ? [...items] : items));
}

/**
 * Copies the parameters of a run of tools, so that later changes do not reach requests that are yet to be
 * sent. Tools receive `toolContext` itself.
 */
export function copyRunParams<Params extends { toolContext?: unknown }>(params: Params): Params {
  if (typeof params !== 'object' || params === null) return params;
  const { toolContext } = params;
  return { ...asGiven({ ...params, toolContext: undefined }), toolContext };
}
