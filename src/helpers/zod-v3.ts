import { InvalidInputError } from '../errors/gateway-error.ts';
import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';

/** What the schemas of one conversion share. */
interface Shared {
  readonly definitions: JsonObject;
  /** What gives schemas that can contain themselves, and schemas that are given names, with those. */
  readonly names: Map<unknown, string>;
}

const formats: Readonly<Record<string, string>> = {
  email: 'email',
  url: 'uri',
  uuid: 'uuid',
  datetime: 'date-time',
  date: 'date',
  time: 'time',
  duration: 'duration',
};

const inner = ['innerType', 'schema', 'type', 'in'] as const;

function definitionOf(schema: unknown): JsonObject {
  const definition: unknown = isObject(schema) ? schema['_def'] : undefined;
  if (isObject(definition) && typeof definition['typeName'] === 'string') return definition;
  throw new InvalidInputError('schema', 'must be a schema of zod 3 or 4.');
}

function listOf(value: unknown): unknown[] {
  if (value instanceof Map) return [...value.values()];
  return Array.isArray(value) ? value : [];
}

/** The limits of texts, numbers and lists, which zod 3 keeps in two ways. */
function limitsOf(definition: JsonObject): JsonObject {
  const isNumber = definition['typeName'] === 'ZodNumber';
  const noun = definition['typeName'] === 'ZodArray' ? 'Items' : isNumber ? 'imum' : 'Length';
  const limits: JsonObject = {};
  for (const check of listOf(definition['checks'])) {
    if (!isObject(check)) continue;
    const { kind, value, inclusive, regex } = check;
    const isExclusive = isNumber && inclusive === false;
    if (kind === 'min') limits[isExclusive ? 'exclusiveMinimum' : `min${noun}`] = value;
    else if (kind === 'max') limits[isExclusive ? 'exclusiveMaximum' : `max${noun}`] = value;
    else if (kind === 'length') Object.assign(limits, { minLength: value, maxLength: value });
    else if (kind === 'multipleOf') limits['multipleOf'] = value;
    else if (kind === 'int') limits['type'] = 'integer';
    else if (kind === 'regex' && regex instanceof RegExp) limits['pattern'] = regex.source;
    else if (typeof kind === 'string' && Object.hasOwn(formats, kind)) {
      limits['format'] = formats[kind];
    }
  }
  for (const [name, keywords] of [
    ['minLength', ['minItems']],
    ['maxLength', ['maxItems']],
    ['exactLength', ['minItems', 'maxItems']],
  ] as const) {
    const limit = definition[name];
    if (isObject(limit)) for (const keyword of keywords) limits[keyword] = limit['value'];
  }
  return limits;
}

/** Whether a property may be missing from what the model writes. */
function isOptional(schema: unknown): boolean {
  const definition = definitionOf(schema);
  const { typeName } = definition;
  if (/^Zod(Optional|Default|Catch|Any|Unknown|Undefined)$/.test(String(typeName))) return true;
  const wrapped = inner.map((field) => definition[field]).find(isObject);
  return typeName !== 'ZodArray' && wrapped !== undefined && isOptional(wrapped);
}

function objectSchema(definition: JsonObject, shared: Shared): JsonObject {
  const { shape, unknownKeys, catchall } = definition;
  const properties: JsonObject = typeof shape === 'function' ? shape() : {};
  const names = Object.keys(properties);
  const rest = isObject(catchall) ? definitionOf(catchall)['typeName'] : 'ZodNever';
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, convert(properties[name], shared)])),
    required: names.filter((name) => !isOptional(properties[name])),
    ...(rest === 'ZodNever'
      ? unknownKeys !== 'strip' && { additionalProperties: unknownKeys === 'passthrough' }
      : { additionalProperties: convert(catchall, shared) }),
  };
}

function lazySchema(getter: unknown, shared: Shared): JsonObject {
  if (typeof getter !== 'function') return {};
  let name = shared.names.get(getter);
  if (name === undefined) {
    const got: unknown = getter();
    const given = shared.names.get(got);
    if (given !== undefined) return refTo(given);
    name = freeName(shared);
    shared.names.set(getter, name);
    shared.definitions[name] = convert(got, shared);
  }
  return refTo(name);
}

function refTo(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}

function freeName({ names }: Shared): string {
  const taken = new Set(names.values());
  let number = names.size;
  while (taken.has(`schema${number}`)) number += 1;
  return `schema${number}`;
}

function convertKind(definition: JsonObject, shared: Shared): JsonObject {
  const { typeName, value, values, options, rest, left, right, valueType } = definition;
  const all = (schemas: unknown): unknown[] =>
    listOf(schemas).map((schema) => convert(schema, shared));
  switch (typeName) {
    case 'ZodString':
      return { type: 'string', ...limitsOf(definition) };
    case 'ZodNumber':
      return { type: 'number', ...limitsOf(definition) };
    case 'ZodBoolean':
      return { type: 'boolean' };
    case 'ZodNull':
      return { type: 'null' };
    case 'ZodAny':
    case 'ZodUnknown':
      return {};
    case 'ZodLiteral':
      return { const: value };
    case 'ZodEnum':
      return { type: 'string', enum: values };
    case 'ZodNativeEnum':
      return { enum: Object.entries(Object(values)).flatMap(enumValue) };
    case 'ZodObject':
      return objectSchema(definition, shared);
    case 'ZodRecord':
      return { type: 'object', additionalProperties: convert(valueType, shared) };
    case 'ZodArray': {
      const items = convert(definition['type'], shared);
      return { type: 'array', items, ...limitsOf(definition) };
    }
    case 'ZodTuple':
      return {
        type: 'array',
        prefixItems: all(definition['items']),
        items: isObject(rest) ? convert(rest, shared) : false,
      };
    case 'ZodUnion':
    case 'ZodDiscriminatedUnion':
      return { anyOf: all(options) };
    case 'ZodIntersection':
      return { allOf: [convert(left, shared), convert(right, shared)] };
    case 'ZodLazy':
      return lazySchema(definition['getter'], shared);
    case 'ZodNullable':
      return { anyOf: [convert(definition['innerType'], shared), { type: 'null' }] };
    case 'ZodDefault': {
      const { defaultValue, innerType } = definition;
      const given: unknown = typeof defaultValue === 'function' ? defaultValue() : undefined;
      return { ...convert(innerType, shared), default: given };
    }
    default: {
      // Optional, effects, branded, readonly, catch, pipeline: what they are around.
      const wrapped = inner.map((field) => definition[field]).find(isObject);
      if (wrapped !== undefined) return convert(wrapped, shared);
      throw new InvalidInputError('schema', `${String(typeName)} has no JSON Schema.`);
    }
  }
}

/** Enums of numbers also list their names backwards. */
function enumValue([key, value]: [string, unknown]): unknown[] {
  return /^\d+$/.test(key) ? [] : [value];
}

function convert(schema: unknown, shared: Shared): JsonObject {
  const name = shared.names.get(schema);
  return name === undefined ? convertNew(schema, shared) : refTo(name);
}

function convertNew(schema: unknown, shared: Shared): JsonObject {
  const definition = definitionOf(schema);
  const { description } = definition;
  const converted = convertKind(definition, shared);
  return typeof description === 'string' ? { ...converted, description } : converted;
}

/** The JSON Schema of what a schema of zod 3 takes, with the schemas that are given names apart. */
export function toJSONSchemaV3(schema: unknown, named: object = {}): JsonObject {
  const given = Object.entries(named);
  const shared: Shared = {
    definitions: {},
    names: new Map(given.map(([key, part]) => [part, key])),
  };
  for (const [key, part] of given) shared.definitions[key] = convertNew(part, shared);
  let root = convert(schema, shared);
  const [name] = typeof root['$ref'] === 'string' ? root['$ref'].split('/').slice(-1) : [];
  // Providers want to see what the root is.
  if (name !== undefined) root = { ...root, ...Object(shared.definitions[name]), $ref: undefined };
  return shared.names.size === 0 ? root : { ...root, $defs: shared.definitions };
}
