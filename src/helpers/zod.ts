/**
 * The helpers of `openai/helpers/zod` under the same names, for schemas of zod 4, of zod 3.25 and of
 * `zod/mini`. For validators of other libraries, and for new code, use `responseFormat()` and `tool()`.
 */
import { $ZodType, toJSONSchema } from 'zod/v4/core';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { responseFormat } from '../structured/response-format.ts';
import type { SchemaOptions } from '../structured/schema.ts';
import { tool } from '../structured/tool.ts';
import type {
  AutoParseableResponseFormat,
  AutoParseableTool,
  ToolRun,
} from '../types/chat-parsed.ts';
import type { SchemaOutput, StandardSchemaV1 } from '../types/standard-schema.ts';
import { toJSONSchemaV3 } from './zod-v3.ts';

/** The JSON Schema of what the model has to write, before defaults and transforms. */
function jsonSchemaOf(schema: object): object {
  if (!(schema instanceof $ZodType)) return toJSONSchemaV3(schema);
  try {
    return toJSONSchema(schema, { io: 'input' });
  } catch (cause) {
    const problem = 'has a part that cannot be written as a JSON Schema; see cause.';
    throw new InvalidInputError('schema', problem, { cause });
  }
}

/**
 * Makes a `response_format` of a zod schema. The answer is checked here.
 *
 * @param name - What the format is called, for the model.
 * @throws `InvalidInputError` when a part of the schema has no JSON Schema
 */
export function zodResponseFormat<Schema extends StandardSchemaV1>(
  schema: Schema,
  name: string,
  options?: SchemaOptions,
): AutoParseableResponseFormat<SchemaOutput<Schema>> {
  return responseFormat(schema, name, { jsonSchema: jsonSchemaOf(schema), ...options });
}

/** What `zodFunction()` makes a tool from. */
export interface ZodFunctionDefinition<Schema extends StandardSchemaV1> {
  name: string;
  description?: string | undefined;
  /** The arguments. They are checked before `function` gets them. */
  parameters: Schema;
  /** What `runTools()` calls. */
  function?:
    | ((args: SchemaOutput<Schema>, run: ToolRun, toolContext: unknown) => unknown)
    | undefined;
}

/**
 * Makes a tool of a zod schema and a function.
 *
 * @throws `InvalidInputError` when a part of the schema has no JSON Schema
 */
export function zodFunction<Schema extends StandardSchemaV1>({
  name,
  description,
  parameters: schema,
  function: execute,
}: ZodFunctionDefinition<Schema>): AutoParseableTool<SchemaOutput<Schema>> {
  const jsonSchema = jsonSchemaOf(schema);
  return tool({ name, description, schema, jsonSchema, ...(execute && { execute }) });
}
