import { isObject } from '../answers/objects.ts';

/** Adds the counts of one usage to a total, also those that only some providers send. */
export function addCounts<Total extends object>(total: Total, usage: object): Total {
  for (const [name, count] of Object.entries<unknown>({ ...usage })) {
    const before: unknown = Object.hasOwn(total, name) ? Reflect.get(total, name) : undefined;
    let sum: unknown;
    if (typeof count === 'number') sum = count + (typeof before === 'number' ? before : 0);
    else if (isObject(count)) sum = addCounts(isObject(before) ? before : {}, count);
    if (sum !== undefined && name !== '__proto__') Reflect.set(total, name, sum);
  }
  return total;
}
