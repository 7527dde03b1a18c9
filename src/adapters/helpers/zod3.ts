import { isObject, toFields } from '../../answers/objects.ts';
import type { JsonObject } from '../../types.ts';

/** The definition of a schema of zod 3. */
const toDef = (schema: unknown): JsonObject => toFields(toFields(schema)['_def']);

/** Returns whether a schema is from zod 3. */
export function isZod3(schema: unknown): boolean {
  return typeof toDef(schema)['typeName'] === 'string';
}

const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const call = (value: unknown): unknown => (typeof value === 'function' ? value() : value);

/** Schemas around another one, which they may make optional. The field has the inner schema. */
const wrappers: Readonly<Record<string, string>> = {
  ZodOptional: 'innerType',
  ZodDefault: 'innerType',
  ZodCatch: 'innerType',
  ZodReadonly: 'innerType',
  ZodBranded: 'type',
  ZodEffects: 'schema',
  ZodPipeline: 'in',
};

/** Returns whether a property with this schema may be omitted from the input. */
function isOptional(schema: unknown): boolean {
  const def = toDef(schema);
  const type = String(def['typeName']);
  if (/^Zod(Optional|Default|Catch)$/.test(type)) return true;
  const inner = wrappers[type];
  return inner !== undefined && isOptional(def[inner]);
}

const escapePattern = (text: unknown): string =>
  String(text).replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** Formats of JSON Schema, by the check of zod. */
const formats: Readonly<Record<string, string>> = {
  email: 'email',
  url: 'uri',
  uuid: 'uuid',
  datetime: 'date-time',
  date: 'date',
  time: 'time',
  duration: 'duration',
};

/** The keyword of a check; none for a check that JSON Schema doesn't have: the client validates it. */
function convertCheck(type: string, { kind, value, regex, inclusive }: JsonObject): JsonObject {
  if (type === 'ZodString') {
    if (kind === 'min') return { minLength: value };
    if (kind === 'max') return { maxLength: value };
    if (kind === 'length') return { minLength: value, maxLength: value };
    if (kind === 'regex' && regex instanceof RegExp) return { pattern: regex.source };
    if (kind === 'startsWith') return { pattern: `^${escapePattern(value)}.*` };
    if (kind === 'endsWith') return { pattern: `.*${escapePattern(value)}$` };
    if (kind === 'includes') return { pattern: escapePattern(value) };
    const format = formats[String(kind)];
    return format === undefined ? {} : { format };
  }
  if (kind === 'int') return { type: 'integer' };
  if (kind === 'min') return { [inclusive === false ? 'exclusiveMinimum' : 'minimum']: value };
  if (kind === 'max') return { [inclusive === false ? 'exclusiveMaximum' : 'maximum']: value };
  return kind === 'multipleOf' ? { multipleOf: value } : {};
}

/** The values of a TypeScript enum, without the names that numeric enums also map back. */
function enumValues(values: JsonObject): unknown[] {
  const names = Object.keys(values).filter(
    (name) => typeof values[String(values[name])] !== 'number',
  );
  return names.map((name) => values[name]);
}

/** Adds the type, unless the values have several. */
function withType(values: readonly unknown[], rest: JsonObject): JsonObject {
  const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
  const [type] = types;
  return types.size === 1 ? { type, ...rest } : rest;
}

const items = (name: string, limit: unknown): JsonObject =>
  isObject(limit) ? { [name]: limit['value'] } : {};

/** Converts a schema and those in it. */
class Converter {
  readonly definitions: JsonObject = {};
  readonly #root: unknown;
  /** The names of definitions, by schema. */
  readonly #names: Map<unknown, string>;
  readonly #lazy = new Map<unknown, JsonObject>();

  constructor(root: unknown, named: object) {
    this.#root = root;
    this.#names = new Map(Object.entries(named).map(([name, schema]) => [schema, name]));
  }

  convert(schema: unknown): JsonObject {
    const name = this.#names.get(schema);
    if (name === undefined) return this.#inline(schema);
    if (!(name in this.definitions)) {
      // Set first, because the schema may contain itself.
      this.definitions[name] = {};
      this.definitions[name] = this.#inline(schema);
    }
    return { $ref: `#/$defs/${name}` };
  }

  #inline(schema: unknown): JsonObject {
    const def = toDef(schema);
    const { description } = def;
    const converted = this.#byType(schema, def, String(def['typeName']));
    return typeof description === 'string' ? { ...converted, description } : converted;
  }

  #all(schemas: unknown): JsonObject[] {
    return toList(schemas).map((schema) => this.convert(schema));
  }

  #byType(schema: unknown, def: JsonObject, type: string): JsonObject {
    const inner = wrappers[type];
    if (inner !== undefined) {
      const converted = this.convert(def[inner]);
      return type === 'ZodDefault'
        ? { ...converted, default: call(def['defaultValue']) }
        : converted;
    }
    switch (type) {
      case 'ZodString':
      case 'ZodNumber': {
        const checks = toList(def['checks']).map((check) => convertCheck(type, toFields(check)));
        return Object.assign({ type: type === 'ZodString' ? 'string' : 'number' }, ...checks);
      }
      case 'ZodBoolean':
        return { type: 'boolean' };
      case 'ZodNull':
        return { type: 'null' };
      case 'ZodAny':
      case 'ZodUnknown':
        return {};
      case 'ZodNever':
        return { not: {} };
      case 'ZodLiteral':
        return withType([def['value']], { const: def['value'] });
      case 'ZodEnum':
        return { type: 'string', enum: toList(def['values']) };
      case 'ZodNativeEnum': {
        const values = enumValues(toFields(def['values']));
        return withType(values, { enum: values });
      }
      case 'ZodNullable':
        return { anyOf: [this.convert(def['innerType']), { type: 'null' }] };
      case 'ZodArray':
        return {
          type: 'array',
          items: this.convert(def['type']),
          ...items('minItems', def['minLength'] ?? def['exactLength']),
          ...items('maxItems', def['maxLength'] ?? def['exactLength']),
        };
      case 'ZodTuple': {
        const prefixItems = this.#all(def['items']);
        const { length } = prefixItems;
        const rest = def['rest']
          ? { items: this.convert(def['rest']) }
          : { items: false, maxItems: length };
        return { type: 'array', prefixItems, minItems: length, ...rest };
      }
      case 'ZodRecord': {
        const propertyNames = this.convert(def['keyType']);
        const additionalProperties = this.convert(def['valueType']);
        return { type: 'object', propertyNames, additionalProperties };
      }
      case 'ZodUnion':
        return { anyOf: this.#all(def['options']) };
      case 'ZodDiscriminatedUnion':
        return { anyOf: this.#all([...Object(def['optionsMap']).values()]) };
      case 'ZodIntersection':
        return { allOf: this.#all([def['left'], def['right']]) };
      case 'ZodObject':
        return this.#object(def);
      case 'ZodLazy':
        return this.#reference(schema, def);
      default:
        throw new Error(`${type} cannot be represented in JSON Schema`);
    }
  }

  #object({ shape, unknownKeys, catchall }: JsonObject): JsonObject {
    const properties = Object.entries(toFields(call(shape)));
    const required = properties.filter(([, schema]) => !isOptional(schema)).map(([name]) => name);
    const converted: JsonObject = {
      type: 'object',
      properties: Object.fromEntries(
        properties.map(([name, inner]) => [name, this.convert(inner)]),
      ),
    };
    if (required.length > 0) converted['required'] = required;
    if (toDef(catchall)['typeName'] !== 'ZodNever') {
      converted['additionalProperties'] = this.convert(catchall);
    } else if (unknownKeys !== 'strip') {
      converted['additionalProperties'] = unknownKeys === 'strict' ? false : {};
    }
    return converted;
  }

  /** References the target of a lazy schema, because it may contain itself. */
  #reference(lazy: unknown, { getter }: JsonObject): JsonObject {
    const target = call(getter);
    if (target === this.#root) return { $ref: '#' };
    const known = this.#lazy.get(target) ?? this.#lazy.get(lazy);
    if (known !== undefined) return known;
    const name = `__schema${this.#lazy.size}`;
    const reference = { $ref: `#/$defs/${name}` };
    this.#lazy.set(target, reference).set(lazy, reference);
    this.definitions[name] = this.convert(target);
    return reference;
  }
}

/**
 * Converts a schema of zod 3 to the JSON Schema of its input, as zod 4 converts its own schemas.
 *
 * @param named - Schemas to define once under these names, and to reference wherever they are used.
 * @throws `Error` if a part cannot be represented
 */
export function zod3ToJSONSchema(schema: unknown, named: object): JsonObject {
  const converter = new Converter(schema, named);
  const converted = converter.convert(schema);
  const { definitions: $defs } = converter;
  return Object.keys($defs).length === 0 ? converted : { ...converted, $defs };
}
