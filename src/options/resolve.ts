import { checkObject, checkReadable } from './check.ts';
import type { Method } from './methods.ts';
import { checkForeignName, optionsOf } from './option-names.ts';
import type { ResolvedFor } from './option-table.ts';

/** The options of one call after their checks. */
export interface CheckedOptions {
  /** The options that are set, without those that count as not set. */
  readonly values: Readonly<Record<string, unknown>>;
  /** A warning for each option without effect. */
  readonly warnings: readonly string[];
}

const nothing: CheckedOptions = { values: {}, warnings: [] };

/**
 * Checks the options of a method: their names and values.
 *
 * @param options - The caller's options, which may have any type.
 * @param operation - The name of the method for messages.
 * @param params - The parameters of the call.
 * @throws `InvalidInputError` naming an option that is invalid, misspelt, or cannot be used although it
 * concerns money or limits
 */
export function checkOptions(
  options: unknown,
  method: Method,
  operation: string = method,
  params?: unknown,
): CheckedOptions {
  checkObject('options', options);
  if (typeof options !== 'object' || options === null) return nothing;
  checkReadable(options);
  const known = optionsOf(method);
  const values: Record<string, unknown> = {};
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const option = known.get(name);
    if (option === undefined) {
      const warning = checkForeignName(name, value, method, operation, Object(params));
      if (warning !== undefined) warnings.push(warning);
    } else if (value !== null || option.null === 'value') {
      values[name] = option.check(name, value);
    }
  }
  return { values, warnings };
}

/** Options that a method has checked, for the requests that it makes with them. */
const checked = new WeakSet<object>();

/** Returns whether options were checked, so that they are not the caller's and need no other check. */
export const areChecked = (options: object): boolean => checked.has(options);

/** Returns options with changes. Those of checked options count as checked. */
export function changeOptions<Options extends object, Changes extends object>(
  options: Options,
  changes: Changes,
): Options & Changes {
  const changed = { ...options, ...changes };
  if (checked.has(options)) checked.add(changed);
  return changed;
}

/** Returns the options that are set and that `method` has too, for the requests that another method makes. */
export function optionsFor<Options extends object>(
  options: Options,
  method: Method,
): Partial<Options> {
  const known = optionsOf(method);
  const copy: Partial<Options> = changeOptions(options, {});
  for (const name of Object.keys(copy)) {
    if (!known.has(name)) Reflect.deleteProperty(copy, name);
  }
  return copy;
}

/** The options of a method: those that are set after their checks, and the defaults of the others. */
export type ResolvedOptions<M extends Method, Options extends object> = Omit<
  Options,
  keyof ResolvedFor<M>
> &
  ResolvedFor<M>;

/**
 * Returns checked options with the defaults of those that are not set. Options of calls that the client has too
 * have no default here, because that of the client applies.
 */
export function withDefaults<M extends Method>(
  method: M,
  values: CheckedOptions['values'],
): ResolvedFor<M>;
export function withDefaults(method: Method, values: CheckedOptions['values']): object {
  const resolved: Record<string, unknown> = {};
  for (const [name, option] of optionsOf(method)) {
    if (option.default === undefined) continue;
    if (method === 'client' || !option.methods.includes('client')) resolved[name] = option.default;
  }
  checked.add(resolved);
  return Object.assign(resolved, values);
}

/** Removes options that count as not set because they are `null`. */
export function withoutNulls<Options extends object>(options: Options, method: Method): Options {
  const known = optionsOf(method);
  const unset = Object.entries(options).filter(
    ([name, value]) => value === null && known.get(name)?.null !== 'value',
  );
  if (unset.length === 0) return options;
  const copy = { ...options };
  for (const [name] of unset) Reflect.deleteProperty(copy, name);
  return copy;
}
