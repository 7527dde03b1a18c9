/**
 * The helpers of `openai/helpers/standard-schema` under the same names, for validators that implement
 * Standard Schema. For new code use `responseFormat()` and `tool()`.
 *
 * @module model-gateway/helpers/standard-schema
 */
import { responseFormat, tool } from '../../structured/tool.ts';
import type { SchemaOptions } from '../../structured/schema.ts';
import type {
  AutoParseableResponseFormat,
  AutoParseableResponseTool,
  AutoParseableTextFormat,
  AutoParseableTool,
  SchemaOutput,
  StandardSchemaV1,
  ToolRun,
} from '../../structured/types.ts';
import { toResponsesTool, toTextFormat } from './responses.ts';

/** Options of `standardResponseFormat()`. */
export interface StandardFormatOptions extends Omit<SchemaOptions, 'jsonSchema'> {
  /** The schema as JSON Schema, for validators that cannot convert themselves. */
  readonly schema?: object | undefined;
}

/**
 * Creates a `response_format` from a validator. The client validates the response; the validator may be
 * asynchronous.
 *
 * @param name - Name of the format, sent to the model.
 * @throws `InvalidInputError` if the validator has no JSON Schema and `schema` is not set
 */
export function standardResponseFormat<Schema extends StandardSchemaV1>(
  standardSchema: Schema,
  name: string,
  { schema: jsonSchema, ...options }: StandardFormatOptions = {},
): AutoParseableResponseFormat<SchemaOutput<Schema>> {
  return responseFormat(standardSchema, name, { ...options, jsonSchema });
}

/**
 * Creates a `text.format` for `responses.parse()` from a validator. The client validates the response; the
 * validator may be asynchronous.
 *
 * @param name - Name of the format, sent to the model.
 * @throws `InvalidInputError` if the validator has no JSON Schema and `schema` is not set
 */
export function standardTextFormat<Schema extends StandardSchemaV1>(
  standardSchema: Schema,
  name: string,
  options?: StandardFormatOptions,
): AutoParseableTextFormat<SchemaOutput<Schema>> {
  return toTextFormat(standardResponseFormat(standardSchema, name, options));
}

/** Definition for `standardFunction()`. */
export interface StandardFunctionDefinition<Schema extends StandardSchemaV1> {
  name: string;
  description?: string | undefined;
  /** Schema of the arguments, which are validated before `function` is called. */
  parameters: Schema;
  /** The arguments as JSON Schema, for validators that cannot convert themselves. */
  schema?: object | undefined;
  /** Called by `runTools()`. */
  function?:
    | ((args: SchemaOutput<Schema>, run: ToolRun, toolContext: unknown) => unknown)
    | undefined;
}

/**
 * Creates a tool from a validator and a function.
 *
 * @throws `InvalidInputError` if the validator has no JSON Schema and `schema` is not set
 */
export function standardFunction<Schema extends StandardSchemaV1>({
  name,
  description,
  parameters: schema,
  schema: jsonSchema,
  function: execute,
}: StandardFunctionDefinition<Schema>): AutoParseableTool<SchemaOutput<Schema>> {
  return tool({ name, description, schema, jsonSchema, ...(execute && { execute }) });
}

/** Definition for `standardResponsesFunction()`. */
export interface StandardResponsesFunctionDefinition<
  Schema extends StandardSchemaV1,
> extends StandardFunctionDefinition<Schema> {
  /** Load the function only when the model's tool search finds it. */
  defer_loading?: boolean | undefined;
}

/**
 * Creates a tool of the Responses API from a validator. `responses.parse()` validates the arguments of its calls
 * and returns them as `parsed_arguments`. The function is kept as `$callback`; call it yourself.
 *
 * @throws `InvalidInputError` if the validator has no JSON Schema and `schema` is not set
 */
export function standardResponsesFunction<Schema extends StandardSchemaV1>({
  defer_loading: deferLoading,
  ...definition
}: StandardResponsesFunctionDefinition<Schema>): AutoParseableResponseTool<SchemaOutput<Schema>> {
  return toResponsesTool(standardFunction(definition), deferLoading);
}
