import { InvalidInputError } from '../errors/gateway-error.ts';
import type { OutputIssue } from './types.ts';
import type { JsonObject } from '../types.ts';
import type { StandardSchemaIssue, StandardSchemaV1 } from './types.ts';
import { parseJSONText, SchemaMismatch } from './json.ts';
import { toStrictSchema } from './dialects.ts';

/** Options of the helpers that take a schema. */
export interface SchemaOptions {
  /** What it is for, for the model. */
  readonly description?: string | undefined;
  /**
   * Whether the provider is told to hold the model to the schema.
   * @defaultValue whether it can: every property of every object is required, may be null or has a
   *   default, and nothing is in the schema that strict modes refuse
   */
  readonly strict?: boolean | undefined;
  /** The schema as JSON Schema, for a validator that cannot give it itself. */
  readonly jsonSchema?: object | undefined;
}

/** A JSON Schema, which is sent but not checked, unless `validate` is given. */
export interface PlainSchemaOptions<Output> extends SchemaOptions {
  /** Whether a parsed value fits, for example a function that Ajv has compiled. */
  readonly validate?: ((value: unknown) => value is Output) | undefined;
}

/** A schema as it is sent. */
export interface SentSchema {
  readonly schema: JsonObject;
  readonly strict?: boolean;
}

function isStandardSchema(schema: object): schema is StandardSchemaV1 {
  return '~standard' in schema;
}

/** A copy as plain data, without the dialect, which some providers refuse to read. */
function plain(schema: object): JsonObject {
  const { $schema: _, ...copy }: JsonObject = JSON.parse(JSON.stringify(schema));
  return copy;
}

function toJSONSchema(schema: object, given: object | undefined): JsonObject {
  if (given !== undefined || !isStandardSchema(schema)) return plain(given ?? schema);
  const { vendor, jsonSchema } = schema['~standard'];
  try {
    if (jsonSchema !== undefined) return plain(jsonSchema.input({ target: 'draft-2020-12' }));
  } catch (cause) {
    throw new InvalidInputError('schema', 'has no JSON Schema; pass one in jsonSchema.', { cause });
  }
  const helper =
    vendor === 'zod' ? ', or use model-gateway/helpers/zod with a schema of zod 4' : '';
  const problem = `${vendor} gives no JSON Schema of it; pass one in jsonSchema${helper}.`;
  throw new InvalidInputError('schema', problem);
}

/** The schema as it is sent: closed, and marked as strict, where providers can hold a model to it. */
export function sentSchema(schema: object, { strict, jsonSchema }: SchemaOptions): SentSchema {
  const sent = toJSONSchema(schema, jsonSchema);
  const mayBeStrict = strict !== false && sent['type'] === 'object';
  const closed = mayBeStrict ? toStrictSchema(sent) : undefined;
  if (closed !== undefined) return { schema: closed, strict: true };
  return strict === undefined ? { schema: sent } : { schema: sent, strict };
}

function pathOf(path: StandardSchemaIssue['path'] = []): string {
  return path
    .map((step) => (typeof step === 'object' ? step.key : step))
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at ? '.' : ''}${String(key)}`))
    .join('');
}

function mismatch(issues: readonly OutputIssue[]): SchemaMismatch {
  const texts = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return new SchemaMismatch(texts.join('; '), issues);
}

/** Makes what parses a text and checks it with the schema. */
export function parserOf(
  schema: object,
  validate: ((value: unknown) => boolean) | undefined,
): (text: string) => Promise<unknown> {
  return async (text) => {
    const value = parseJSONText(text);
    if (isStandardSchema(schema)) {
      const result = await schema['~standard'].validate(value);
      if (result.issues === undefined) return result.value;
      throw mismatch(result.issues.map(({ path, message }) => ({ path: pathOf(path), message })));
    }
    if (validate === undefined || validate(value)) return value;
    throw mismatch([{ path: '', message: 'it was refused by validate' }]);
  };
}
