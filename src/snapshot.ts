import { check, toInputError } from './check.ts';
import { asGiven } from './given.ts';

/** The parameters of one of many calls. */
export interface Copied<Params> {
  /** The caller's object, which the result of the call names. */
  readonly original: Params;
  /** The copy that is sent. */
  readonly copy: Params;
}

/**
 * Reads input at once. The returned function returns it, or throws what is wrong with it: a call rejects
 * with that, and does not throw.
 */
export function readNow<T>(input: unknown, read: () => T): () => T {
  try {
    const value = read();
    return () => value;
  } catch (cause) {
    return () => {
      throw toInputError(cause, input);
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
  return readNow(params, () => {
    const problem = 'must be a list, with the parameters of one call in each place.';
    check(isIterable(params), 'params', problem);
    return Array.from(params, (original) => ({ original, copy: asGiven(original) }));
  });
}

/** Copies a list, but not its items. The returned function throws the error of its iterator. */
export function copyList<Item>(items: Iterable<Item>): () => Iterable<Item> {
  // Anything else is refused by the call.
  return readNow(items, () => (isIterable(items) ? [...items] : items));
}

/**
 * Copies the parameters of a run of tools, so that later changes do not reach requests that are yet to be
 * sent. Tools receive `toolContext` itself.
 */
export function copyRunParams<Params extends { toolContext?: unknown }>(params: Params): Params {
  if (typeof params !== 'object' || params === null) return params;
  try {
    const { toolContext } = params;
    return { ...asGiven({ ...params, toolContext: undefined }), toolContext };
  } catch {
    // The run refuses what it cannot read.
    return params;
  }
}

/** Reads a parameter before the call does, which refuses what cannot be read. */
export function peek<Params extends object, Name extends keyof Params>(
  params: Params | undefined,
  name: Name,
): Params[Name] | undefined {
  try {
    return params?.[name];
  } catch {
    return undefined;
  }
}
