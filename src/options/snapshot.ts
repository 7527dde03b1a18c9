import { isPlainObject } from '../answers/objects.ts';
import { check, toInputError } from './check.ts';

/** The parameters of one of many calls. */
export interface Copied<Params> {
  /** The caller's object, which is returned with the result of the call. */
  readonly original: Params;
  readonly copy: Params;
}

function copyFields<Value>(value: Value, copyField: (item: unknown) => unknown): Value {
  if (!isPlainObject(value)) return value;
  try {
    const copy = { ...value };
    for (const [name, item] of Object.entries(copy)) Reflect.set(copy, name, copyField(item));
    return copy;
  } catch {
    // The call itself rejects values that cannot be read.
    return value;
  }
}

const copyList = (value: unknown): unknown => (Array.isArray(value) ? [...value] : value);

/** Copies parameters and the lists in them, but not their items. Returns any other value unchanged. */
export const copyParams = <Value>(params: Value): Value => copyFields(params, copyList);

/** Copies options and the lists, headers and plain objects in them. Returns any other value unchanged. */
export const copyOptions = <Value>(options: Value): Value =>
  copyFields(options, (item) => {
    if (item instanceof Headers) return new Headers(item);
    return isPlainObject(item) ? { ...item } : copyList(item);
  });

/** Runs `read` immediately. The returned function returns its result or throws its error. */
function readNow<T>(read: () => T): () => T {
  try {
    const value = read();
    return () => value;
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
 * Copies the parameters of many calls, so that later changes do not affect requests that have not been sent
 * yet. The returned function throws the error of an invalid list.
 */
export function copyEach<Params>(params: Iterable<Params>): () => readonly Copied<Params>[] {
  return readNow(() => {
    const problem = 'must be a list of parameters, one item per call.';
    check(isIterable(params), 'params', problem);
    try {
      return Array.from(params, (original) => ({ original, copy: copyParams(original) }));
    } catch (cause) {
      throw toInputError(cause, params);
    }
  });
}

/**
 * Copies a list of tasks, but not its items. The returned function throws the error of its iterator, or for a value
 * that is not iterable, or is a single id, which would be iterated by character.
 */
export function copyTasks<Task>(tasks: Iterable<Task>): () => readonly Task[] {
  return readNow(() => {
    const isAsync = Symbol.asyncIterator in Object(tasks);
    const fix = isAsync ? 'collect it first, with Array.fromAsync()' : 'for one task use wait()';
    check(isIterable(tasks), 'tasks', `must be a list of ids, handles or tasks; ${fix}.`);
    return [...tasks];
  });
}

/** Reads a parameter before the call. Returns `undefined` if that fails; the call then throws the error. */
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
