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

/** A JSON Schema for the arguments of a function. */
export type FunctionParameters = Record<string, unknown>;

/** A function that the model may ask to have called. */
export interface FunctionDefinition {
  /** Letters, digits, underscores and dashes. */
  name: string;
  /** When and how to call it, for the model. */
  description?: string | undefined;
  /** The arguments as a JSON Schema. Left out: no arguments. */
  parameters?: FunctionParameters | undefined;
  /** Holds the model to the schema. Many gateways drop this field before the provider sees it. */
  strict?: boolean | null | undefined;
}

/** A function as a tool. */
export interface ChatCompletionFunctionTool {
  type: 'function';
  function: FunctionDefinition;
}

/** A JSON Schema with its name. */
export interface NamedJSONSchema {
  /** Letters, digits, underscores and dashes. */
  name: string;
  description?: string | undefined;
  schema?: Record<string, unknown> | undefined;
  /** Holds the model to the schema. */
  strict?: boolean | null | undefined;
}

/** JSON that follows a schema. */
export interface ResponseFormatJSONSchema {
  type: 'json_schema';
  json_schema: NamedJSONSchema;
}

// The parts under the names that code for `openai` uses.
export declare namespace ResponseFormatJSONSchema {
  export { NamedJSONSchema as JSONSchema };
}

/** A `response_format` that brings its parser. Made by `responseFormat()`. */
export interface AutoParseableResponseFormat<Parsed> extends ResponseFormatJSONSchema {
  /** Parses and checks a whole answer; rejects when it does not fit. Never sent. */
  $parseRaw(content: string): Parsed | Promise<Parsed>;
}

/** A tool that brings the parser of its arguments, and maybe its function. Made by `tool()`. */
export interface AutoParseableTool<Arguments> extends ChatCompletionFunctionTool {
  /** Parses and checks whole arguments; rejects when they do not fit. Never sent. */
  $parseRaw(content: string): Arguments | Promise<Arguments>;
  /** What `runTools()` calls. Never sent. */
  $callback?(args: Arguments, run: ToolRun, toolContext: unknown): unknown;
}

/** The run that a tool is called in. For chat it is the runner itself. */
export interface ToolRun {
  /** Its signal is aborted when the run is. */
  readonly controller: AbortController;
  /** Ends the run. */
  abort(): void;
}

/** One place where an answer does not fit the schema that was asked for. */
export interface OutputIssue {
  /** Where in the answer, for example `steps[0].output`; `""` for the whole of it. */
  readonly path: string;
  readonly message: string;
}
