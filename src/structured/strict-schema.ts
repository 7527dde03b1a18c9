import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

/** The words that strict modes know. */
const known =
  /^(type|enum|const|title|description|format|pattern|multipleOf|(exclusive)?(min|max)imum|(min|max)Items|properties|required|additionalProperties|items|anyOf|\$defs|definitions)$/i;

/** What only comments on values; strict modes refuse some of it. Zod 3.25 writes `id`. */
const comments = ['id', 'default', 'examples', 'readOnly', 'writeOnly', 'deprecated', '$comment'];

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

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
function rephrase(schema: JsonObject): void {
  const { $ref, oneOf, anyOf, description } = schema;
  for (const comment of comments) Reflect.deleteProperty(schema, comment);
  if (Array.isArray(oneOf) && anyOf === undefined) {
    schema['anyOf'] = oneOf;
    Reflect.deleteProperty(schema, 'oneOf');
  }
  // Nothing may stand beside a reference.
  if ($ref !== undefined && description !== undefined && anyOf === undefined) {
    schema['anyOf'] = [{ $ref }];
    Reflect.deleteProperty(schema, '$ref');
  }
  if (['type', '$ref', 'anyOf'].every((keyword) => schema[keyword] === undefined)) {
    const type = impliedType(schema);
    if (type !== undefined) schema['type'] = type;
  }
}

/**
 * Closes every object in a schema and requires all its properties, so that a strict mode takes it. What
 * fits then still fits the schema as it was, but for alternatives that fit more than once.
 *
 * @returns `false` when strict mode would not take it
 */
export function closeSchema(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  rephrase(schema);
  const { properties, required, additionalProperties, items, anyOf, $defs, definitions, $ref } =
    schema;
  const { type } = schema;
  if (type === 'object') {
    if (additionalProperties !== undefined && additionalProperties !== false) return false;
    const named = listOf(required);
    const inner = Object.entries(Object(properties));
    if (inner.some(([name, value]) => !named.includes(name) && !isWritable(value))) return false;
    const names = inner.map(([name]) => name);
    const closed = { properties: properties ?? {}, required: names, additionalProperties: false };
    Object.assign(schema, closed);
  }
  if ($ref !== undefined) return Object.keys(schema).length === 1;
  if (type === undefined && anyOf === undefined) return false;
  const maps = [properties, $defs, definitions].flatMap((map) => Object.values(Object(map)));
  const all = [...maps, ...listOf(anyOf), ...(items === undefined ? [] : [items])];
  return Object.keys(schema).every((keyword) => known.test(keyword)) && all.every(closeSchema);
}
