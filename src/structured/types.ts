import type { JsonObject } from '../types.ts';

/**
 * A validator of any library that implements Standard Schema (standardschema.dev): zod, valibot, arktype
 * and others. Declared here to avoid a dependency.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaProps<Input, Output>;
}

/** The properties of a Standard Schema. */
export interface StandardSchemaProps<Input = unknown, Output = Input> {
  readonly version: 1;
  /** Name of the library, for example `zod`. */
  readonly vendor: string;
  /** Validates a value. May be asynchronous. */
  readonly validate: (
    value: unknown,
  ) => StandardSchemaResult<Output> | Promise<StandardSchemaResult<Output>>;
  /** Types for inference; not set at runtime. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  /** Converts the schema to JSON Schema, if the library supports it. */
  readonly jsonSchema?:
    | {
        readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      }
    | undefined;
}

/** A validator that converts itself to JSON Schema, such as one of zod 4.2 or arktype. */
export interface ConvertibleSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaProps<Input, Output> & { readonly jsonSchema: object };
}

/** The validated, possibly transformed value, or the issues. */
export type StandardSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardSchemaIssue[] };

/** One reason why a value is invalid. */
export interface StandardSchemaIssue {
  readonly message: string;
  /** Path within the value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The output type of a validator. */
export type SchemaOutput<Schema extends StandardSchemaV1> = NonNullable<
  Schema['~standard']['types']
>['output'];

/** A JSON Schema. */
export type JSONSchema = Readonly<Record<string, unknown>>;

/** A JSON Schema for the arguments of a function. */
export type FunctionParameters = Record<string, unknown>;

/** A function that the model may call. */
export interface FunctionDefinition {
  /** 1 to 64 letters, digits, underscores and dashes. */
  name: string;
  /** Tells the model when and how to call the function. */
  description?: string | undefined;
  /** The arguments as a JSON Schema. Omit it for a function without arguments. */
  parameters?: FunctionParameters | undefined;
  /** Enforce the schema. Many gateways drop this field before it reaches the provider. */
  strict?: boolean | null | undefined;
}

/** A function as a tool. */
export interface ChatCompletionFunctionTool {
  type: 'function';
  function: FunctionDefinition;
}

/** A named JSON Schema. */
export interface NamedJSONSchema {
  /** 1 to 64 letters, digits, underscores and dashes. */
  name: string;
  description?: string | undefined;
  schema?: Record<string, unknown> | undefined;
  /** Enforce the schema. */
  strict?: boolean | null | undefined;
}

/** A response format for JSON that matches a schema. */
export interface ResponseFormatJSONSchema {
  type: 'json_schema';
  json_schema: NamedJSONSchema;
}

/** A `response_format` with a parser. Created by `responseFormat()`. */
export interface AutoParseableResponseFormat<Parsed> extends ResponseFormatJSONSchema {
  /** Parses and validates a complete response; rejects if it is invalid. Never sent. */
  $parseRaw(content: string): Parsed | Promise<Parsed>;
}

/** A tool with a parser for its arguments, and optionally a function. Created by `tool()`. */
export interface AutoParseableTool<Arguments> extends ChatCompletionFunctionTool {
  /** Parses and validates complete arguments; rejects if they are invalid. Never sent. */
  $parseRaw(content: string): Arguments | Promise<Arguments>;
  /** Called by `runTools()`. Never sent. */
  $callback?(args: Arguments, run: ToolRun, toolContext: unknown): unknown;
}

/** A function as a tool of the Responses API. */
export interface ResponseFunctionTool {
  type: 'function';
  name: string;
  /** The arguments as a JSON Schema. */
  parameters?: JsonObject | null | undefined;
  /** Enforce the schema. */
  strict?: boolean | null | undefined;
  description?: string | null | undefined;
  defer_loading?: boolean | undefined;
}

/** A function with a parser for its arguments. Created by `zodResponsesFunction()`. */
export interface AutoParseableResponseTool<Arguments> extends ResponseFunctionTool {
  /** Parses and validates complete arguments; rejects if they are invalid. Never sent. */
  $parseRaw(content: string): Arguments | Promise<Arguments>;
  /** Your function, which `responses.parse()` doesn't call. Never sent. */
  $callback?(args: Arguments, run: ToolRun, toolContext: unknown): unknown;
}

/** A text format of the Responses API for JSON that matches a schema. */
export interface ResponseTextJSONSchema {
  type: 'json_schema';
  name: string;
  schema: JsonObject;
  description?: string | undefined;
  strict?: boolean | null | undefined;
}

/** A format with a parser. Created by `zodTextFormat()`. */
export interface AutoParseableTextFormat<Parsed> extends ResponseTextJSONSchema {
  /** Parses and validates a complete text; rejects if it is invalid. Never sent. */
  $parseRaw(content: string): Parsed | Promise<Parsed>;
}

/** The run that called a tool. For chat it is the runner itself. */
export interface ToolRun {
  /** Aborted when the run is. */
  readonly controller: AbortController;
  /** Ends the run. */
  abort(): void;
}

/** A mismatch between a response and the requested schema. */
export interface OutputIssue {
  /** Path within the response, for example `steps[0].output`; `""` for the root. */
  readonly path: string;
  readonly message: string;
}
