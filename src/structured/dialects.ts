import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

/** The keywords that are sent in strict mode, as by the helpers of `openai`. */
const strictWords =
  /^(type|enum|const|title|description|format|pattern|multipleOf|(exclusive)?(min|max)imum|(min|max)(Items|Length)|properties|required|additionalProperties|items|anyOf|\$defs|definitions)$/i;

/** What Google's subset of OpenAPI has. */
const googleWords =
  /^(type|title|description|format|pattern|enum|required|default|(min|max)(imum|Items|Length)|properties|items|anyOf)$/;

/** What only comments on values; strict modes refuse some of it. Zod 3.25 writes `id`. */
const comments = ['id', 'default', 'examples', 'readOnly', 'writeOnly', 'deprecated', '$comment'];

type Convert = (schema: unknown) => JsonObject | undefined;

const isText = (value: unknown): boolean => typeof value === 'string';
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function convertAll(schemas: readonly unknown[], convert: Convert): JsonObject[] | undefined {
  const converted = schemas.map(convert).filter((schema) => schema !== undefined);
  return converted.length === schemas.length ? converted : undefined;
}

/** Converts the schemas that a keyword holds; other values stay as they are. */
function convertValue(keyword: string, value: unknown, convert: Convert): unknown {
  if (keyword === 'items') return convert(value);
  if (keyword === 'anyOf') return convertAll(listOf(value), convert);
  if (!/^(properties|\$defs|definitions)$/.test(keyword)) return value;
  const names = Object.keys(Object(value));
  const inner = convertAll(Object.values(Object(value)), convert);
  return inner && Object.fromEntries(names.map((name, at) => [name, inner[at]]));
}

/** Converts the schemas within a schema; `undefined` when it has a word that is not known. */
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

/**
 * A JSON Schema in Google's subset of OpenAPI, which gateways also convert for other providers;
 * `undefined` when it says more than can be said there.
 */
export function toGoogleSchema(schema: unknown): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const { additionalProperties = false, ...said } = schema;
  const { type, enum: words = [] } = schema;
  if (additionalProperties !== false) return undefined;
  if (!Array.isArray(words) || !words.every(isText)) return undefined;
  if (!Array.isArray(type)) return convertWithin(said, googleWords, toGoogleSchema);
  const types = type.filter((one) => one !== 'null');
  if (types.length !== 1) return undefined;
  const google = convertWithin({ ...said, type: types[0] }, googleWords, toGoogleSchema);
  return google && types.length < type.length ? { ...google, nullable: true } : google;
}

/** Whether a model can always write a property: it may write `null`, or the default. */
function isWritable(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, anyOf, enum: values } = schema;
  if ('default' in schema || [type].flat().includes('null')) return true;
  return listOf(values).includes(null) || listOf(anyOf).some(isWritable);
}

function typeOf(value: unknown): unknown {
  if (value === null) return 'null';
  return /^(string|number|boolean)$/.test(typeof value) ? typeof value : undefined;
}

/** The type that a list of values or a single one implies; strict modes want it said. */
function impliedType({ enum: values, const: value }: JsonObject): unknown {
  const types = [...new Set((Array.isArray(values) ? values : [value]).map(typeOf))];
  if (types.length === 0 || types.includes(undefined)) return undefined;
  return types.length === 1 ? types[0] : types;
}

/** Says the same in the words that strict modes understand. */
function rephrase(schema: JsonObject): JsonObject {
  const { anyOf, description } = schema;
  const said: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (comments.includes(keyword)) continue;
    if (keyword === 'oneOf' && anyOf === undefined) said['anyOf'] = value;
    // Nothing may stand beside a reference.
    else if (keyword === '$ref' && description !== undefined) said['anyOf'] = [{ $ref: value }];
    else said[keyword] = value;
  }
  if (said['type'] === undefined && said['$ref'] === undefined && said['anyOf'] === undefined) {
    const type = impliedType(schema);
    if (type !== undefined) said['type'] = type;
  }
  return said;
}

/**
 * A schema that strict modes take: every object is closed and requires all its properties. What fits it
 * fits the schema as it was, too, but for alternatives that fit more than once.
 *
 * @returns `undefined` when strict modes would not take it
 */
export function toStrictSchema(schema: unknown): JsonObject | undefined {
  if (!isObject(schema)) return undefined;
  const said = rephrase(schema);
  const { type, $ref, anyOf, properties, required, additionalProperties = false } = said;
  if ($ref !== undefined) return Object.keys(said).length === 1 ? said : undefined;
  if (type === undefined && anyOf === undefined) return undefined;
  const strict = convertWithin(said, strictWords, toStrictSchema);
  if (strict === undefined || type !== 'object') return strict;
  const isRequired = (name: string): boolean => listOf(required).includes(name);
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
