/**
 * The helpers of `openai/helpers/zod` under the same names, for schemas of zod 4, `zod/mini` and zod 3.25. For
 * other validators, and in new code, use `responseFormat()` and `tool()`.
 *
 * @module model-gateway/helpers/zod
 */
import type {
  AutoParseableResponseFormat,
  AutoParseableResponseTool,
  AutoParseableTextFormat,
  AutoParseableTool,
  ToolRun,
} from '../../structured/types.ts';
import {
  $ZodRegistry,
  $ZodType,
  globalRegistry,
  type JSONSchemaMeta,
  toJSONSchema,
} from 'zod/v4/core';
import { InvalidInputError } from '../../errors/gateway-error.ts';
import { checkName, responseFormat } from '../../structured/tool.ts';
import { type SchemaOptions, sentSchema } from '../../structured/schema.ts';
import type { SchemaOutput, StandardSchemaV1 } from '../../structured/types.ts';
import { standardFunction, standardResponsesFunction } from './standard-schema.ts';
import { toTextFormat } from './responses.ts';
import { isZod3, zod3ToJSONSchema } from './zod3.ts';

/** A schema of zod 4, `zod/mini` or zod 3.25. */
export type ZodSchema = StandardSchemaV1 &
  ({ readonly _output: unknown } | { readonly _zod: object });

/** The global registry, extended by named schemas. */
class NamedSchemas extends $ZodRegistry<JSONSchemaMeta> {
  readonly #names: ReadonlyMap<unknown, string>;

  constructor(named: object) {
    super();
    this.#names = new Map(Object.entries(named).map(([name, schema]) => [schema, name]));
  }

  override get(schema: $ZodType): JSONSchemaMeta | undefined {
    const id = this.#names.get(schema);
    const known = globalRegistry.get(schema);
    return id === undefined ? known : { ...known, id };
  }
}

/** Returns the JSON Schema of the input of a schema, before its defaults and transforms. */
function toInputSchema(schema: object, named: object = {}): object {
  for (const name of Object.keys(named)) checkName(name);
  try {
    if (schema instanceof $ZodType) {
      return toJSONSchema(schema, { io: 'input', metadata: new NamedSchemas(named) });
    }
    if (isZod3(schema)) return zod3ToJSONSchema(schema, named);
  } catch (cause) {
    const problem = 'cannot be converted to a JSON Schema; see cause.';
    throw new InvalidInputError('schema', problem, { cause });
  }
  const problem =
    'must be a schema of zod. For another validator, use responseFormat(schema, name, { jsonSchema }), ' +
    'or tool({ name, schema, jsonSchema }).';
  throw new InvalidInputError('schema', problem);
}

/** Options of `zodResponseFormat()`. */
export interface ZodFormatOptions extends SchemaOptions {
  /** Schemas to define once under these names, and to reference wherever they are used. */
  readonly schemaDefinitions?: Readonly<Record<string, ZodSchema>> | undefined;
}

/**
 * Creates a `response_format` from a zod schema. The client validates the response.
 *
 * @param name - Name of the format, sent to the model.
 * @throws `InvalidInputError` if a part of the schema cannot be converted to JSON Schema
 */
export function zodResponseFormat<Schema extends ZodSchema>(
  schema: Schema,
  name: string,
  options?: ZodFormatOptions,
): AutoParseableResponseFormat<SchemaOutput<Schema>> {
  const { schemaDefinitions, ...format } = options ?? {};
  const jsonSchema = format.jsonSchema ?? toInputSchema(schema, schemaDefinitions);
  return responseFormat(schema, name, { ...format, jsonSchema });
}

/**
 * Creates a `text.format` for `responses.parse()` from a zod schema. The client validates the response.
 *
 * @param name - Name of the format, sent to the model.
 * @throws `InvalidInputError` if a part of the schema cannot be converted to JSON Schema
 */
export function zodTextFormat<Schema extends ZodSchema>(
  schema: Schema,
  name: string,
  options?: ZodFormatOptions,
): AutoParseableTextFormat<SchemaOutput<Schema>> {
  return toTextFormat(zodResponseFormat(schema, name, options));
}

/** Definition for `zodFunction()`. */
export interface ZodFunctionDefinition<Schema extends ZodSchema> {
  name: string;
  description?: string | undefined;
  /** Schema of the arguments, which are validated before `function` is called. */
  parameters: Schema;
  /** Called by `runTools()`. */
  function?:
    | ((args: SchemaOutput<Schema>, run: ToolRun, toolContext: unknown) => unknown)
    | undefined;
}

/**
 * Creates a tool from a zod schema and a function.
 *
 * @throws `InvalidInputError` if a part of the schema cannot be converted to JSON Schema
 */
export function zodFunction<Schema extends ZodSchema>(
  definition: ZodFunctionDefinition<Schema>,
): AutoParseableTool<SchemaOutput<Schema>> {
  return standardFunction({ ...definition, schema: toInputSchema(definition.parameters) });
}

/** Definition for `zodResponsesFunction()`. */
export interface ZodResponsesFunctionDefinition<
  Schema extends ZodSchema,
> extends ZodFunctionDefinition<Schema> {
  /** Load the function only when the model's tool search finds it. */
  defer_loading?: boolean | undefined;
}

/**
 * Creates a tool of the Responses API from a zod schema. `responses.parse()` validates the arguments of its calls
 * and returns them as `parsed_arguments`. The function is kept as `$callback`; call it yourself.
 *
 * @throws `InvalidInputError` if a part of the schema cannot be converted to JSON Schema
 */
export function zodResponsesFunction<Schema extends ZodSchema>(
  definition: ZodResponsesFunctionDefinition<Schema>,
): AutoParseableResponseTool<SchemaOutput<Schema>> {
  return standardResponsesFunction({ ...definition, schema: toInputSchema(definition.parameters) });
}

/** A function in the format of the Realtime API. */
export interface RealtimeFunctionTool {
  type: 'function';
  name: string;
  description?: string;
  /** The arguments as a JSON Schema. */
  parameters: object;
}

/**
 * Creates a function for sessions of the Realtime API from a zod schema. Validate the arguments of its calls with
 * the schema.
 *
 * @throws `InvalidInputError` if a part of the schema cannot be converted to JSON Schema
 */
export function zodRealtimeFunction({
  name,
  description,
  parameters: schema,
}: Pick<
  ZodFunctionDefinition<ZodSchema>,
  'name' | 'description' | 'parameters'
>): RealtimeFunctionTool {
  const parameters = sentSchema(schema, {
    jsonSchema: toInputSchema(schema),
    strict: false,
  }).schema;
  return { type: 'function', name, ...(description ? { description } : {}), parameters };
}
