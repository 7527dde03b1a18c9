/**
 * What the wire may hold where this package promises `T`: every field of every object can be
 * missing or `null`.
 */
export type Wire<T> = T extends readonly (infer Item)[]
  ? (Wire<Item> | null | undefined)[]
  : T extends object
    ? { [Key in keyof T]?: Wire<T[Key]> | null | undefined }
    : T;

/**
 * A schema that accepts an `Output`. It names no library, so that the published declarations, which
 * reach the readers, name none either.
 */
export interface SchemaOf<Output> {
  readonly _zod: { readonly output: Output };
}
