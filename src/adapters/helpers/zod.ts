/**
 * The helpers of `openai/helpers/zod` under the same names, for schemas of zod 4: from `zod` 4, from `zod/v4`
 * of zod 3.25, or from `zod/mini`. For other validators, and in new code, use `responseFormat()` and `tool()`.
 *
 * @module model-gateway/helpers/zod
 */
import type {
  AutoParseableResponseFormat,
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
import type { SchemaOptions } from '../../structured/schema.ts';
import type { SchemaOutput, StandardSchemaV1 } from '../../structured/types.ts';
import { standardFunction } from './standard-schema.ts';

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
  if (!(schema instanceof $ZodType)) {
    const problem =
      "must be a schema of zod 4. In zod 3.25, import z from 'zod/v4'; or pass the JSON Schema yourself: " +
      'responseFormat(schema, name, { jsonSchema }), or tool({ name, schema, jsonSchema }).';
    throw new InvalidInputError('schema', problem);
  }
  try {
    return toJSONSchema(schema, { io: 'input', metadata: new NamedSchemas(named) });
  } catch (cause) {
    const problem = 'cannot be converted to a JSON Schema; see cause.';
    throw new InvalidInputError('schema', problem, { cause });
  }
}

/** Options of `zodResponseFormat()`. */
export interface ZodFormatOptions extends SchemaOptions {
  /** Schemas to define once under these names, and to reference wherever they are used. */
  readonly schemaDefinitions?: Readonly<Record<string, StandardSchemaV1>> | undefined;
}

/**
 * Creates a `response_format` from a zod schema. The client validates the response.
 *
 * @param name - Name of the format, sent to the model.
 * @throws `InvalidInputError` if the schema is not one of zod 4, or a part of it cannot be converted to JSON Schema
 */
export function zodResponseFormat<Schema extends StandardSchemaV1>(
  schema: Schema,
  name: string,
  options?: ZodFormatOptions,
): AutoParseableResponseFormat<SchemaOutput<Schema>> {
  const jsonSchema = options?.jsonSchema ?? toInputSchema(schema, options?.schemaDefinitions);
  return responseFormat(schema, name, { ...options, jsonSchema });
}

/** Definition for `zodFunction()`. */
export interface ZodFunctionDefinition<Schema extends StandardSchemaV1> {
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
 * @throws `InvalidInputError` if the schema is not one of zod 4, or a part of it cannot be converted to JSON Schema
 */
export function zodFunction<Schema extends StandardSchemaV1>(
  definition: ZodFunctionDefinition<Schema>,
): AutoParseableTool<SchemaOutput<Schema>> {
  return standardFunction({ ...definition, schema: toInputSchema(definition.parameters) });
}
