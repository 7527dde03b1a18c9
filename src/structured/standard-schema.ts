/**
 * A validator of any library that follows Standard Schema (standardschema.dev): zod, valibot, arktype
 * and others. Written out here, so that no library is needed for it.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaProps<Input, Output>;
}

/** What a library shows of a validator. */
export interface StandardSchemaProps<Input = unknown, Output = Input> {
  readonly version: 1;
  /** The library, for example `zod`. */
  readonly vendor: string;
  /** Checks a value. May be asynchronous. */
  readonly validate: (
    value: unknown,
  ) => StandardSchemaResult<Output> | Promise<StandardSchemaResult<Output>>;
  /** Only for the compiler. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  /** Gives the schema as JSON Schema, where the library can. */
  readonly jsonSchema?:
    | {
        readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      }
    | undefined;
}

/** The checked value, which may have been changed on the way, or what is wrong with it. */
export type StandardSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardSchemaIssue[] };

/** One thing that is wrong with a value. */
export interface StandardSchemaIssue {
  readonly message: string;
  /** Where in the value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a validator gives. */
export type SchemaOutput<Schema extends StandardSchemaV1> = NonNullable<
  Schema['~standard']['types']
>['output'];

/** A JSON Schema. */
export type JSONSchema = Readonly<Record<string, unknown>>;
