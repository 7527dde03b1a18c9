import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

/** Keywords allowed in strict mode, the same as in the helpers of `openai`. */
const strictWords =
  /^(type|enum|const|title|description|format|pattern|multipleOf|(exclusive)?(min|max)imum|(min|max)(Items|Length)|properties|required|additionalProperties|items|anyOf|\$defs|definitions)$/i;

/** Keywords in Google's subset of OpenAPI. */
const googleWords =
  /^(type|title|description|format|pattern|enum|required|default|(min|max)(imum|Items|Length)|properties|items|anyOf)$/;

/** Annotations without effect on validation. Strict modes reject some of them. Zod 3.25 writes `id`. */
const comments = ['id', 'default', 'examples', 'readOnly', 'writeOnly', 'deprecated', '$comment'];

type Convert = (schema: unknown) => JsonObject | undefined;

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function convertAll(schemas: readonly unknown[], convert: Convert): JsonObject[] | undefined {
  const converted = schemas.map(convert).filter((schema) => schema !== undefined);
  return converted.length === schemas.length ? converted : undefined;
}

/** Converts the schemas within the value of a keyword; returns other values unchanged. */
function convertValue(keyword: string, value: unknown, convert: Convert): unknown {
  if (keyword === 'items') return convert(value);
  if (keyword === 'anyOf') return convertAll(toList(value), convert);
  if (!/^(properties|\$defs|definitions)$/.test(keyword)) return value;
  const names = Object.keys(Object(value));
  const inner = convertAll(Object.values(Object(value)), convert);
  return inner && Object.fromEntries(names.map((name, at) => [name, inner[at]]));
}

/** Converts a schema and those within it; returns `undefined` if a keyword is not allowed. */
function convertWithin(
  schema: JsonObject,
  known: RegExp,
  convert: Convert,
): JsonObject | undefined {
  const result: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const converted = known.test(keyword) ? convertValue(keyword, value, convert) : undefined;
    if (converted === undefined) return undefined;
    result[keyword] = converted;
  }
  return result;
}

/** Returns whether Google accepts the combination of keywords in a schema. */
function isAccepted({ type, enum: words, items, properties, required }: JsonObject): boolean {
  const types = [type].flat();
  const names = Object.keys(Object(properties));
  if (types.includes('array') && items === undefined) return false;
  if (toList(words).includes('')) return false;
  return toList(required).every((name) => names.includes(String(name)));
}

/** Returns whether a schema is an object without properties, which Google accepts only at the root. */
const isEmptyObject = ({ type, properties }: JsonObject): boolean =>
  [type].flat().includes('object') && Object.keys(Object(properties)).length === 0;

/** Converts a schema within another one. */
const toInnerSchema = (schema: unknown): JsonObject | undefined =>
  isObject(schema) && isEmptyObject(schema) ? undefined : toGoogleSchema(schema);

/**
 * Converts a JSON Schema to Google's subset of OpenAPI, which gateways also convert for other providers.
 * Returns `undefined` if the subset cannot express the schema.
 */
export function toGoogleSchema(schema: unknown): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const { additionalProperties = false, ...rest } = schema;
  const { type, enum: words = [] } = schema;
  if (additionalProperties !== false || !isAccepted(schema)) return undefined;
  if (!Array.isArray(words) || !words.every((word) => typeof word === 'string')) return undefined;
  if (!Array.isArray(type)) return convertWithin(rest, googleWords, toInnerSchema);
  const types = type.filter((name) => name !== 'null');
  if (types.length !== 1) return undefined;
  const google = convertWithin({ ...rest, type: types[0] }, googleWords, toInnerSchema);
  return google && types.length < type.length ? { ...google, nullable: true } : google;
}

/** Returns whether a model can always write the property: `null` or the default is allowed. */
function isWritable(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, anyOf, enum: values } = schema;
  if ('default' in schema || [type].flat().includes('null')) return true;
  return toList(values).includes(null) || toList(anyOf).some(isWritable);
}

function literalType(value: unknown): unknown {
  if (value === null) return 'null';
  return /^(string|number|boolean)$/.test(typeof value) ? typeof value : undefined;
}

/** Infers the type, which strict modes require, from `enum` or `const`. */
function inferType({ enum: values, const: value }: JsonObject): unknown {
  const types = [...new Set((Array.isArray(values) ? values : [value]).map(literalType))];
  if (types.length === 0 || types.includes(undefined)) return undefined;
  return types.length === 1 ? types[0] : types;
}

/** Rewrites a schema with keywords that strict modes support. */
function rephrase(schema: JsonObject): JsonObject {
  const { anyOf, description } = schema;
  const rewritten: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (comments.includes(keyword)) continue;
    if (keyword === 'oneOf' && anyOf === undefined) rewritten['anyOf'] = value;
    // A reference may not have sibling keywords.
    else if (keyword === '$ref' && description !== undefined)
      rewritten['anyOf'] = [{ $ref: value }];
    else rewritten[keyword] = value;
  }
  const isTyped = ['type', '$ref', 'anyOf'].some((keyword) => rewritten[keyword] !== undefined);
  const type = isTyped ? undefined : inferType(schema);
  if (type !== undefined) rewritten['type'] = type;
  return rewritten;
}

/**
 * Converts a schema for strict modes: every object is closed and requires all its properties. Values
 * that match the result also match the original, except for alternatives (`oneOf`) that match more than once.
 *
 * @returns `undefined` if strict modes would reject the schema
 */
export function toStrictSchema(schema: unknown): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const rewritten = rephrase(schema);
  const { type, $ref, anyOf, properties, required, additionalProperties = false } = rewritten;
  if ($ref !== undefined) return Object.keys(rewritten).length === 1 ? rewritten : undefined;
  if (type === undefined && anyOf === undefined) return undefined;
  const strict = convertWithin(rewritten, strictWords, toStrictSchema);
  if (strict === undefined || type !== 'object') return strict;
  const isRequired = (name: string): boolean => toList(required).includes(name);
  const inner = Object.entries(Object(properties));
  if (inner.some(([name, value]) => !isRequired(name) && !isWritable(value))) return undefined;
  if (additionalProperties !== false) return undefined;
  const names = inner.map(([name]) => name);
  return {
    ...strict,
    properties: strict['properties'] ?? {},
    required: names,
    additionalProperties,
  };
}
