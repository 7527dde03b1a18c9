/**
 * The helpers of `openai/helpers/standard-schema` under the same names, for validators of any library that
 * follows Standard Schema. For new code use `responseFormat()` and `tool()`.
 */
import { responseFormat, tool } from '../structured/tool.ts';
import type { SchemaOptions } from '../structured/schema.ts';
import type {
  AutoParseableResponseFormat,
  AutoParseableTool,
  SchemaOutput,
  StandardSchemaV1,
  ToolRun,
} from '../structured/types.ts';

/** Options of `standardResponseFormat()`. */
export interface StandardFormatOptions extends Omit<SchemaOptions, 'jsonSchema'> {
  /** The schema as JSON Schema, for a validator that cannot give it itself. */
  readonly schema?: object | undefined;
}

/**
 * Makes a `response_format` of a validator. The answer is checked here; the validator may be asynchronous.
 *
 * @param name - What the format is called, for the model.
 * @throws `InvalidInputError` when the validator brings no JSON Schema and none is given
 */
export function standardResponseFormat<Schema extends StandardSchemaV1>(
  standardSchema: Schema,
  name: string,
  { schema: jsonSchema, ...options }: StandardFormatOptions = {},
): AutoParseableResponseFormat<SchemaOutput<Schema>> {
  return responseFormat(standardSchema, name, { ...options, jsonSchema });
}

/** What `standardFunction()` makes a tool from. */
export interface StandardFunctionDefinition<Schema extends StandardSchemaV1> {
  name: string;
  description?: string | undefined;
  /** The arguments. They are checked before `function` gets them. */
  parameters: Schema;
  /** The arguments as JSON Schema, for a validator that cannot give it itself. */
  schema?: object | undefined;
  /** What `runTools()` calls. */
  function?:
    | ((args: SchemaOutput<Schema>, run: ToolRun, toolContext: unknown) => unknown)
    | undefined;
}

/**
 * Makes a tool of a validator and a function.
 *
 * @throws `InvalidInputError` when the validator brings no JSON Schema and none is given
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
