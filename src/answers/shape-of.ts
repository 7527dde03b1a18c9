import * as z from 'zod/mini';
import type { Wire } from './wire.ts';

/**
 * The shape of a schema for `T`. With `satisfies` it makes missing, extra and mistyped keys compile
 * errors, so that a schema cannot drift from the documented interface.
 */
export type ShapeOf<T> = {
  [Key in keyof T]-?: z.ZodMiniType<Wire<T[Key]> | null | undefined>;
};

/** Text, `null` or missing. Also for enumerations, whose unknown words are accepted. */
export const optionalText = z.optional(z.nullable(z.string()));

/** A finite number, `null` or missing. */
export const optionalNumber = z.optional(z.nullable(z.number()));

/** `true`, `false`, `null` or missing. */
export const optionalFlag = z.optional(z.nullable(z.boolean()));

/** Whatever the gateway sends: for fields that are passed on unread. */
export const unread = z.optional(z.any());

/** A list, `null` or missing. */
export function optionalList<Item extends z.ZodMiniType>(item: Item) {
  return z.optional(z.nullable(z.array(item)));
}

/** An object that keeps its unknown fields, `null` or missing. */
export function optionalObject<Shape extends Readonly<Record<string, z.ZodMiniType>>>(
  shape: Shape,
) {
  return z.optional(z.nullable(z.looseObject(shape)));
}

/** Text that is known to come in another form too, which `repair` turns into text. */
export function optionalTextOr(isVariant: (value: unknown) => boolean, expected: string) {
  const variant = z.any().check(z.refine(isVariant, expected));
  return z.optional(z.nullable(z.union([z.string(), variant])));
}
