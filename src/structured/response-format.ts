import { InvalidInputError } from '../errors/gateway-error.ts';
import type { AutoParseableResponseFormat } from '../chat/parsed-types.ts';
import type { SchemaOutput, StandardSchemaV1 } from './standard-schema.ts';
import { type PlainSchemaOptions, type SchemaOptions, parserOf, sentSchema } from './schema.ts';

/** Refuses a name that providers refuse. */
export function checkName(name: unknown): void {
  if (typeof name === 'string' && /^[\w-]{1,64}$/.test(name)) return;
  throw new InvalidInputError('name', 'must be 1 to 64 letters, digits, underscores or dashes.');
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
