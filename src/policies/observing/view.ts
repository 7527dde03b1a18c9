import { getTag } from '../../answers/objects.ts';

/**
 * Built-in objects to copy with `structuredClone`; other objects, such as a `Blob`, are immutable or cannot be
 * copied.
 */
const cloneable = /^(Date|Map|Set|ArrayBuffer)$/;

/**
 * Copies a value, with hidden fields and inherited getters, so that changes of the copy do not affect the
 * original. Texts are shared, so the copy of an image in base64 is small.
 */
export function deepCopy(value: unknown, copies = new Map<object, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const known = copies.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    copies.set(value, list);
    for (const item of value) list.push(deepCopy(item, copies));
    return list;
  }
  const tag = getTag(value);
  if (ArrayBuffer.isView(value) || cloneable.test(tag)) return structuredClone(value);
  if (tag !== 'Object') return value;
  const copy: object = Object.create(Object.getPrototypeOf(value));
  copies.set(value, copy);
  for (const name of Reflect.ownKeys(value)) {
    const field = Reflect.getOwnPropertyDescriptor(value, name);
    if (field === undefined) continue;
    if ('value' in field) field.value = deepCopy(field.value, copies);
    Object.defineProperty(copy, name, field);
  }
  return copy;
}

/** Returns a function that copies a value at its first call, and returns the same copy afterwards. */
export function lazyCopy(value: unknown): () => unknown {
  let copy: { readonly value: unknown } | undefined;
  return () => (copy ??= { value: deepCopy(value) }).value;
}
