import { isObject, parseJSON } from '../answers/objects.ts';
import { afterReasoning, extractJSON, findJSON, SchemaMismatch, withoutFence } from './json.ts';

/** The type of the expected value, as far as it decides where the value is. */
type ValueType = 'object' | 'array' | 'scalar' | undefined;

/** Follows a reference within a schema, such as `#/$defs/place`. */
function resolve(root: unknown, reference: string): unknown {
  const names = reference.split('/').slice(1);
  return names.reduce((owner, name) => (isObject(owner) ? owner[name] : undefined), root);
}

function listTypes(schema: unknown, root: unknown, levels = 4): unknown[] {
  if (!isObject(schema) || levels === 0) return [undefined];
  const { type, $ref, anyOf, oneOf } = schema;
  if (type !== undefined) return [type].flat();
  if (typeof $ref === 'string') return listTypes(resolve(root, $ref), root, levels - 1);
  const either = anyOf ?? oneOf;
  if (!Array.isArray(either)) return [undefined];
  return either.flatMap((inner) => listTypes(inner, root, levels - 1));
}

const scalars: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean']);

/** Returns the only type that a schema allows, beside `null`; `undefined` if it may be several. */
export function valueType(schema: unknown): ValueType {
  const types = new Set(
    listTypes(schema, schema)
      .filter((type) => type !== 'null')
      .map((type) => (scalars.has(type) ? 'scalar' : type)),
  );
  const [type] = types;
  const isKnown = type === 'object' || type === 'array' || type === 'scalar';
  return types.size === 1 && isKnown ? type : undefined;
}

/** Returns JSON that is the value of a JSON string; `undefined` if a value is not such a string. */
function unquote(value: unknown, type: ValueType): string | undefined {
  if (typeof value !== 'string' || (type !== 'object' && type !== 'array')) return undefined;
  const json = extractJSON(value);
  return typeof parseJSON(json) === 'object' ? json : undefined;
}

/** Returns the only JSON value in a text with reasoning, prose or a fence around it. */
function findValue(text: string, type: ValueType): string | undefined {
  const find = (within: string): string | undefined => {
    if (parseJSON(within) !== undefined) return within;
    return type === 'scalar' ? undefined : findJSON(within, type);
  };
  const rest = afterReasoning(text);
  if (rest === undefined) return find(withoutFence(text));
  const found = find(rest);
  if (found !== undefined) return found;
  // The end of reasoning may be part of a string in the value. Values within reasoning are drafts.
  const whole = find(withoutFence(text));
  return whole?.includes('</th') === true ? whole : undefined;
}

/**
 * Returns the JSON of a complete text, without what models write around it: reasoning (also without its
 * beginning), code fences, prose, a byte order mark, and the quotes of JSON in a JSON string. If the text does
 * not have exactly one value, returns it as `extractJSON()` does.
 */
export function locateJSON(text: string, type: ValueType): string {
  const json = extractJSON(text);
  const value = parseJSON(json);
  const found = value === undefined ? findValue(json, type) : unquote(value, type);
  return found ?? json;
}

function parseFound(json: string): unknown {
  const value = parseJSON(json);
  if (value === undefined) throw new SchemaMismatch('it is not valid JSON');
  return value;
}

/**
 * Parses the JSON of a complete text.
 *
 * @throws `SchemaMismatch` if it has none
 */
export const parseLocated = (text: string, type: ValueType): unknown =>
  parseFound(locateJSON(text, type));

/**
 * Parses the arguments of a function: an object, which some models write into a JSON string. Models send an empty
 * text for a function without arguments.
 *
 * @throws `SchemaMismatch` if the text is not valid JSON
 */
export function parseArguments(text: string): unknown {
  const value = parseFound(extractJSON(text.trim() === '' ? '{}' : text));
  const inner = unquote(value, 'object');
  return inner === undefined ? value : parseJSON(inner);
}
