import type {
  AutoParseableResponseFormat,
  ConvertibleSchema,
  SchemaOutput,
  StandardSchemaV1,
  AutoParseableTool,
  ToolRun,
} from './types.ts';
import { editDistance } from '../answers/similar-names.ts';
import { check } from '../options/check.ts';
import { parseArguments, parseLocated, valueType } from './locate-json.ts';
import {
  type PlainSchema,
  type PlainSchemaOptions,
  type SchemaOptions,
  type WithJSONSchema,
  schemaParser,
  sentSchema,
} from './schema.ts';

/** Throws if providers would reject the name. */
export function checkName(name: unknown): void {
  const isName = typeof name === 'string' && /^[\w-]{1,64}$/.test(name);
  check(isName, 'name', 'must be 1 to 64 letters, digits, underscores or dashes.');
}

const schemaFields = ['description', 'strict', 'jsonSchema', 'validate'];

/** `parameters` is the name of the schema in requests. */
const toolFields = ['name', 'schema', 'execute', ...schemaFields, 'parameters'];

/** Names for the fields of tools in other packages. */
const otherNames: Readonly<Record<string, string>> = {
  inputSchema: 'schema',
  input_schema: 'schema',
  func: 'execute',
  handler: 'execute',
  invoke: 'execute',
  run: 'execute',
  callback: 'execute',
};

/** Throws if the fields of a definition are not known, because the model would receive a tool without them. */
function checkFields(owner: string, definition: object, known: readonly string[]): void {
  for (const [name, value] of Object.entries(definition)) {
    if (known.includes(name) || value === undefined) continue;
    const similar = otherNames[name] ?? known.find((other) => editDistance(name, other) <= 2) ?? '';
    const fix = known.includes(similar) ? `use ${similar}` : `the fields are ${known.join(', ')}`;
    check(false, name, `is not a field of ${owner}; ${fix}.`);
  }
}

/**
 * Creates a `response_format` for `chat.completions.parse()`, `stream()` and `runTools()`. The response is
 * parsed, validated by the client, and returned in `message.parsed`.
 *
 * @param schema - A validator that implements Standard Schema (zod, valibot, arktype…; it may be
 *   asynchronous), or a plain JSON Schema. With a plain JSON Schema the response is parsed but not validated,
 *   unless `validate` is set.
 * @param name - Name of the format, sent to the model.
 * @throws `InvalidInputError` if the validator has no JSON Schema and `jsonSchema` is not set
 *
 * @example
 * const format = responseFormat(z.object({ city: z.string() }), 'place');
 * const completion = await client.chat.completions.parse({ model, messages, response_format: format });
 * console.log(completion.choices[0]?.message.parsed?.city);
 */
export function responseFormat<Schema extends ConvertibleSchema>(
  schema: Schema,
  name?: string,
  options?: SchemaOptions,
): AutoParseableResponseFormat<SchemaOutput<Schema>>;
/** For a validator that cannot convert itself, such as one of zod 3 or valibot. */
export function responseFormat<Schema extends StandardSchemaV1>(
  schema: Schema,
  name: string | undefined,
  options: WithJSONSchema<SchemaOptions>,
): AutoParseableResponseFormat<SchemaOutput<Schema>>;
/** For a plain JSON Schema. */
export function responseFormat<Output = unknown>(
  schema: PlainSchema,
  name?: string,
  options?: PlainSchemaOptions<Output>,
): AutoParseableResponseFormat<Output>;
export function responseFormat(
  schema: object,
  name = 'answer',
  options: PlainSchemaOptions<unknown> = {},
): AutoParseableResponseFormat<unknown> {
  checkName(name);
  checkFields('responseFormat()', options, schemaFields);
  const { description, validate } = options;
  const sent = sentSchema(schema, options);
  const type = valueType(sent.schema);
  return {
    type: 'json_schema',
    json_schema: { name, ...(description ? { description } : {}), ...sent },
    $parseRaw: schemaParser(schema, validate, (text) => parseLocated(text, type)),
  };
}

/** Fields of a tool other than its schema. */
interface ToolDefinition<Arguments> {
  /** 1 to 64 letters, digits, underscores and dashes. */
  readonly name: string;
  /** Tells the model when and how to call the tool. */
  readonly description?: string | undefined;
  /**
   * Runs when the model calls the tool. Its result, or what its promise resolves to, is sent to the
   * model: text unchanged, other values as JSON. If it throws, the error message is sent to the model.
   *
   * @param args - The validated arguments.
   * @param run - The run: end it with `abort()`, or listen to the signal of its `controller`.
   * @param toolContext - The `toolContext` of the run.
   */
  execute?(args: Arguments, run: ToolRun, toolContext: unknown): unknown;
}

/** A tool whose arguments are validated by a validator. */
export interface SchemaToolDefinition<Schema extends StandardSchemaV1>
  extends ToolDefinition<SchemaOutput<Schema>>, SchemaOptions {
  readonly description?: string | undefined;
  /** Validates the arguments: a validator of any library that implements Standard Schema. */
  readonly schema: Schema;
}

/** A tool whose arguments are described by a plain JSON Schema. */
export interface PlainToolDefinition<Arguments>
  extends ToolDefinition<Arguments>, PlainSchemaOptions<Arguments> {
  readonly description?: string | undefined;
  /** Describes the arguments. Omit it for a tool without arguments. */
  readonly schema?: PlainSchema | undefined;
}

/**
 * Creates a tool for `chat.completions.runTools()`, `parse()` and `stream()`, and for
 * `generate.runTools()`. The model receives its JSON Schema, and the arguments are validated before
 * `execute` is called. `parameters`, the name of the schema in requests, is read as `schema`.
 *
 * @throws `InvalidInputError` if the validator has no JSON Schema and `jsonSchema` is not set, and for fields that
 *   `tool()` does not have
 *
 * @example
 * const weather = tool({
 *   name: 'get_weather',
 *   description: 'The weather in a city.',
 *   schema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => lookUp(city),
 * });
 */
export function tool<Schema extends ConvertibleSchema>(
  definition: SchemaToolDefinition<Schema>,
): AutoParseableTool<SchemaOutput<Schema>>;
/** For a validator that cannot convert itself, such as one of zod 3 or valibot. */
export function tool<Schema extends StandardSchemaV1>(
  definition: WithJSONSchema<SchemaToolDefinition<Schema>>,
): AutoParseableTool<SchemaOutput<Schema>>;
/** For a plain JSON Schema, or no arguments. */
export function tool<Arguments = unknown>(
  definition: PlainToolDefinition<Arguments>,
): AutoParseableTool<Arguments>;
export function tool(
  definition: Omit<PlainToolDefinition<unknown>, 'schema'> & {
    readonly schema?: object | undefined;
    readonly parameters?: object | undefined;
  },
): AutoParseableTool<unknown> {
  checkFields('tool()', definition, toolFields);
  const isOne = definition.parameters === undefined || definition.schema === undefined;
  check(isOne, 'parameters', 'is the same as schema; pass only schema.');
  const { name, description, parameters: given, validate } = definition;
  const { schema = given ?? { type: 'object', properties: {} } } = definition;
  checkName(name);
  const { schema: parameters, strict } = sentSchema(schema, definition);
  return {
    type: 'function',
    function: {
      name,
      ...(description ? { description } : {}),
      parameters,
      ...(strict === undefined ? {} : { strict }),
    },
    $parseRaw: schemaParser(schema, validate, parseArguments),
    ...(definition.execute && {
      $callback: (args, run, toolContext) => definition.execute?.(args, run, toolContext),
    }),
  };
}
