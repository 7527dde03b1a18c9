/**
 * Copies the fields that are not known here, so that what providers add is not lost. The last value
 * wins; lists are joined when `joinLists` is set, as they come in pieces.
 */
export function copyUnknownFields(
  from: object,
  to: object,
  known: ReadonlySet<string>,
  joinLists = false,
): void {
  for (const key in from) {
    if (known.has(key) || key === '__proto__') continue;
    const value: unknown = Reflect.get(from, key);
    if (value === null || value === undefined) continue;
    const before: unknown = Reflect.get(to, key);
    if (!joinLists || !Array.isArray(value)) Reflect.set(to, key, value);
    else if (Array.isArray(before)) before.push(...value);
    else Reflect.set(to, key, [...value]);
  }
}
