import { InvalidInputError } from '../errors/gateway-error.ts';
import type { OutputIssue } from './types.ts';
import type { JsonObject } from '../types.ts';
import type { StandardSchemaIssue, StandardSchemaV1 } from './types.ts';
import { SchemaMismatch } from './json.ts';
import { toStrictSchema } from './schema-subsets.ts';

/** Options of the helpers that take a schema. */
export interface SchemaOptions {
  /** Description for the model. */
  readonly description?: string | undefined;
  /**
   * Ask the provider to enforce the schema.
   * @defaultValue `true` if strict mode supports the schema: every property of every object is required,
   *   nullable or has a default, and only keywords that strict modes accept are used
   */
  readonly strict?: boolean | undefined;
  /** The schema as JSON Schema, for validators that cannot convert themselves. */
  readonly jsonSchema?: object | undefined;
}

/** Options for a plain JSON Schema, which is sent but not checked unless `validate` is set. */
export interface PlainSchemaOptions<Output> extends SchemaOptions {
  /** Returns whether a parsed value is valid, for example a function compiled by Ajv. */
  readonly validate?: ((value: unknown) => value is Output) | undefined;
}

/** A plain JSON Schema, not a validator. Without the index, a literal would be refused for its keywords. */
export type PlainSchema =
  | { readonly [keyword: string]: unknown; readonly '~standard'?: never }
  | { readonly '~standard'?: never };

/** Options with the JSON Schema, which a validator needs that cannot convert itself. */
export type WithJSONSchema<Options> = Options & { readonly jsonSchema: object | undefined };

export interface SentSchema {
  readonly schema: JsonObject;
  readonly strict?: boolean;
}

function isStandardSchema(schema: object): schema is StandardSchemaV1 {
  return '~standard' in schema;
}

/** Copies the schema as plain data, without `$schema`, which some providers reject. */
function plain(schema: object): JsonObject {
  const { $schema: _, ...copy }: JsonObject = JSON.parse(JSON.stringify(schema));
  return copy;
}

/** Ways to a JSON Schema, by the vendor of the validator. */
const helpers: Readonly<Record<string, string>> = {
  zod: ', or use model-gateway/helpers/zod',
  valibot: ', or use toStandardJsonSchema(schema) of @valibot/to-json-schema',
};

function toJSONSchema(schema: object, given: object | undefined): JsonObject {
  if (given !== undefined || !isStandardSchema(schema)) return plain(given ?? schema);
  const { vendor, jsonSchema } = schema['~standard'];
  try {
    if (jsonSchema !== undefined) return plain(jsonSchema.input({ target: 'draft-2020-12' }));
  } catch (cause) {
    throw new InvalidInputError('schema', 'has no JSON Schema; pass one in jsonSchema.', { cause });
  }
  const problem = `${vendor} returns no JSON Schema for it; pass one in jsonSchema${helpers[vendor] ?? ''}.`;
  throw new InvalidInputError('schema', problem);
}

/** Returns the schema for the request: closed and marked as strict if providers can enforce it. */
export function sentSchema(schema: object, { strict, jsonSchema }: SchemaOptions): SentSchema {
  const sent = toJSONSchema(schema, jsonSchema);
  const mayBeStrict = strict !== false && sent['type'] === 'object';
  const closed = mayBeStrict ? toStrictSchema(sent) : undefined;
  if (closed !== undefined) return { schema: closed, strict: true };
  return strict === undefined ? { schema: sent } : { schema: sent, strict };
}

function formatPath(path: StandardSchemaIssue['path'] = []): string {
  return path
    .map((step) => (typeof step === 'object' ? step.key : step))
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at ? '.' : ''}${String(key)}`))
    .join('');
}

function mismatch(issues: readonly OutputIssue[]): SchemaMismatch {
  const texts = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return new SchemaMismatch(texts.join('; '), issues);
}

/**
 * Creates a function that parses a text and validates it against the schema.
 *
 * @param parse - Parses the text as JSON.
 */
export function schemaParser(
  schema: object,
  validate: ((value: unknown) => boolean) | undefined,
  parse: (text: string) => unknown,
): (text: string) => Promise<unknown> {
  return async (text) => {
    const value = parse(text);
    if (isStandardSchema(schema)) {
      const result = await schema['~standard'].validate(value);
      if (result.issues === undefined) return result.value;
      throw mismatch(
        result.issues.map(({ path, message }) => ({ path: formatPath(path), message })),
      );
    }
    if (validate === undefined || validate(value)) return value;
    throw mismatch([{ path: '', message: 'validate rejected it' }]);
  };
}
