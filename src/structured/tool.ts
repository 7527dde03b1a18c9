import type {
  AutoParseableResponseFormat,
  SchemaOutput,
  StandardSchemaV1,
  AutoParseableTool,
  ToolRun,
} from './types.ts';
import { check } from '../check.ts';
import { type PlainSchemaOptions, type SchemaOptions, parserOf, sentSchema } from './schema.ts';

/** Refuses a name that providers refuse. */
export function checkName(name: unknown): void {
  const isName = typeof name === 'string' && /^[\w-]{1,64}$/.test(name);
  check(isName, 'name', 'must be 1 to 64 letters, digits, underscores or dashes.');
}

/**
 * Makes a `response_format` for `chat.completions.parse()`, `stream()` and `runTools()`: the answer is
 * parsed, checked here, and given as `message.parsed`.
 *
 * @param schema - A validator of any library that follows Standard Schema (zod, valibot, arktype…; it
 *   may be asynchronous), or a plain JSON Schema. Against a plain one the answer is only parsed, not
 *   checked, unless `validate` is given.
 * @param name - What the format is called, for the model.
 * @throws `InvalidInputError` when the validator brings no JSON Schema and none is given
 *
 * @example
 * const format = responseFormat(z.object({ city: z.string() }), 'place');
 * const completion = await client.chat.completions.parse({ model, messages, response_format: format });
 * console.log(completion.choices[0]?.message.parsed?.city);
 */
export function responseFormat<Schema extends StandardSchemaV1>(
  schema: Schema,
  name?: string,
  options?: SchemaOptions,
): AutoParseableResponseFormat<SchemaOutput<Schema>>;
export function responseFormat<Output = unknown>(
  schema: object,
  name?: string,
  options?: PlainSchemaOptions<Output>,
): AutoParseableResponseFormat<Output>;
export function responseFormat(
  schema: object,
  name = 'answer',
  options: PlainSchemaOptions<unknown> = {},
): AutoParseableResponseFormat<unknown> {
  checkName(name);
  const { description, validate } = options;
  return {
    type: 'json_schema',
    json_schema: { name, ...(description ? { description } : {}), ...sentSchema(schema, options) },
    $parseRaw: parserOf(schema, validate),
  };
}

/** What a tool is, besides its schema. */
interface ToolDefinition<Arguments> {
  /** Letters, digits, underscores and dashes; at most 64. */
  readonly name: string;
  /** When and how to call it, for the model. */
  readonly description?: string | undefined;
  /**
   * What runs when the model calls the tool. What it returns, or resolves to, goes to the model: text
   * as it is, everything else as JSON. The message of what it throws goes to the model too.
   *
   * @param args - The arguments, checked.
   * @param run - The run: end it with `abort()`, or listen to the signal of its `controller`.
   * @param toolContext - What the run was given as `toolContext`.
   */
  execute?(args: Arguments, run: ToolRun, toolContext: unknown): unknown;
}

/** A tool whose arguments are checked by a validator. */
export interface SchemaToolDefinition<Schema extends StandardSchemaV1>
  extends ToolDefinition<SchemaOutput<Schema>>, SchemaOptions {
  readonly description?: string | undefined;
  /** Checks the arguments: a validator of any library that follows Standard Schema. */
  readonly schema: Schema;
}

/** A tool whose arguments are described by a JSON Schema. */
export interface PlainToolDefinition<Arguments>
  extends ToolDefinition<Arguments>, PlainSchemaOptions<Arguments> {
  readonly description?: string | undefined;
  /** Describes the arguments. Left out: there are none. */
  readonly schema?: object | undefined;
}

/**
 * Makes a tool for `chat.completions.runTools()`, `parse()` and `stream()`, and for
 * `generate.runTools()`: the model sees its JSON Schema, and arguments are checked before
 * `execute` gets them.
 *
 * @throws `InvalidInputError` when the validator brings no JSON Schema and none is given
 *
 * @example
 * const weather = tool({
 *   name: 'get_weather',
 *   description: 'The weather in a city.',
 *   schema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => lookUp(city),
 * });
 */
export function tool<Schema extends StandardSchemaV1>(
  definition: SchemaToolDefinition<Schema>,
): AutoParseableTool<SchemaOutput<Schema>>;
export function tool<Arguments = unknown>(
  definition: PlainToolDefinition<Arguments>,
): AutoParseableTool<Arguments>;
export function tool(definition: PlainToolDefinition<unknown>): AutoParseableTool<unknown> {
  const { name, description, schema = { type: 'object', properties: {} }, validate } = definition;
  checkName(name);
  const { schema: parameters, strict } = sentSchema(schema, definition);
  const parse = parserOf(schema, validate);
  return {
    type: 'function',
    function: {
      name,
      ...(description ? { description } : {}),
      parameters,
      ...(strict === undefined ? {} : { strict }),
    },
    // Models write nothing at all for a function without arguments.
    $parseRaw: (text) => parse(text.trim() === '' ? '{}' : text),
    ...(definition.execute && {
      $callback: (args, run, toolContext) => definition.execute?.(args, run, toolContext),
    }),
  };
}
