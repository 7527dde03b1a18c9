import type {
  AutoParseableResponseFormat,
  AutoParseableTool,
  ToolRun,
} from '../structured/types.ts';
/**
 * The helpers of `openai/helpers/zod` under the same names, for schemas of zod 4, of zod 3.25 and of
 * `zod/mini`. For validators of other libraries, and for new code, use `responseFormat()` and `tool()`.
 */
import {
  $ZodRegistry,
  $ZodType,
  globalRegistry,
  type JSONSchemaMeta,
  toJSONSchema,
} from 'zod/v4/core';
import { InvalidInputError } from '../errors/gateway-error.ts';
import { checkName, responseFormat } from '../structured/tool.ts';
import type { SchemaOptions } from '../structured/schema.ts';
import type { SchemaOutput, StandardSchemaV1 } from '../structured/types.ts';
import { standardFunction } from './standard-schema.ts';
import { toJSONSchemaV3 } from './zod-v3.ts';

/** What zod knows of schemas, and the names that some are given besides. */
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

/** The JSON Schema of what the model has to write, before defaults and transforms. */
function jsonSchemaOf(schema: object, named: object = {}): object {
  for (const name of Object.keys(named)) checkName(name);
  if (!(schema instanceof $ZodType)) return toJSONSchemaV3(schema, named);
  try {
    return toJSONSchema(schema, { io: 'input', metadata: new NamedSchemas(named) });
  } catch (cause) {
    const problem = 'has a part that cannot be written as a JSON Schema; see cause.';
    throw new InvalidInputError('schema', problem, { cause });
  }
}

/** Options of `zodResponseFormat()`. */
export interface ZodFormatOptions extends SchemaOptions {
  /** Schemas that are sent once, under these names, however often they are used. */
  readonly schemaDefinitions?: Readonly<Record<string, StandardSchemaV1>> | undefined;
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
  options?: ZodFormatOptions,
): AutoParseableResponseFormat<SchemaOutput<Schema>> {
  const jsonSchema = jsonSchemaOf(schema, options?.schemaDefinitions);
  return responseFormat(schema, name, { jsonSchema, ...options });
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
export function zodFunction<Schema extends StandardSchemaV1>(
  definition: ZodFunctionDefinition<Schema>,
): AutoParseableTool<SchemaOutput<Schema>> {
  return standardFunction({ ...definition, schema: jsonSchemaOf(definition.parameters) });
}
