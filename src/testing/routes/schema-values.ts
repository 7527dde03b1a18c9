import type { JsonObject } from '../../types.ts';
import { isObject } from '../../answers/objects.ts';
import { list, number, record, text } from '../control/json.ts';
import { withoutSchemas } from '../faults/structured-output.ts';

const formats: Readonly<Record<string, string>> = {
  date: '2026-01-02',
  time: '03:04:05Z',
  'date-time': '2026-01-02T03:04:05Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** Creates values that match a JSON Schema, from the words and numbers of a prompt. */
export class SchemaValues {
  readonly #root: JsonObject;
  readonly #words: readonly string[];
  readonly #numbers: readonly number[];
  #depth = 0;

  constructor(root: unknown, prompt: string) {
    this.#root = record(root);
    const rest = withoutSchemas(prompt);
    this.#words = notableWords(rest);
    this.#numbers = (rest.match(/-?\d+(\.\d+)?/g) ?? []).map(Number);
  }

  /** Creates a value for the whole schema. */
  make(): unknown {
    return this.#value(this.#root);
  }

  #value(schema: JsonObject): unknown {
    this.#depth += 1;
    try {
      return this.#depth > 20 ? null : this.#valueOf(this.#resolved(schema));
    } finally {
      this.#depth -= 1;
    }
  }

  #valueOf(schema: JsonObject): unknown {
    if ('const' in schema) return schema['const'];
    if (Array.isArray(schema['enum'])) return this.#choice(list(schema['enum']));
    if ('default' in schema) return schema['default'];
    const parts = [...list(schema['anyOf']), ...list(schema['oneOf'])].filter((part) =>
      isObject(part),
    );
    const [first] = parts.filter((part) => part['type'] !== 'null');
    if (first !== undefined) return this.#value(first);
    return this.#typed(schema, text(schema['type']) ?? text(list(schema['type'])[0]));
  }

  #typed(schema: JsonObject, type: string | undefined): unknown {
    if (type === 'object' || isObject(schema['properties'])) return this.#object(schema);
    switch (type?.toLowerCase()) {
      case 'object':
        return this.#object(schema);
      case 'array':
        return this.#array(schema);
      case 'integer':
        return Math.round(this.#bounded(schema));
      case 'number':
        return this.#bounded(schema);
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return this.#text(schema);
    }
  }

  #object(schema: JsonObject): JsonObject {
    const properties = Object.entries(record(schema['properties']));
    return Object.fromEntries(properties.map(([name, part]) => [name, this.#value(record(part))]));
  }

  #array(schema: JsonObject): unknown[] {
    const prefix = list(schema['prefixItems']).map((part) => this.#value(record(part)));
    // Limit the depth of recursive schemas.
    const usual = this.#depth > 8 ? 0 : 1;
    const least = Math.max(number(schema['minItems']) ?? usual, prefix.length);
    const items = record(schema['items']);
    while (prefix.length < least) prefix.push(this.#value(items));
    return prefix;
  }

  #bounded(schema: JsonObject): number {
    const least =
      number(schema['minimum']) ?? (number(schema['exclusiveMinimum']) ?? -Infinity) + 1;
    const most = number(schema['maximum']) ?? (number(schema['exclusiveMaximum']) ?? Infinity) - 1;
    const fitting = this.#numbers.find((value) => value >= least && value <= most);
    return fitting ?? Math.min(Math.max(1, least), most);
  }

  #text(schema: JsonObject): string {
    const formatted = formats[text(schema['format']) ?? ''];
    if (formatted !== undefined) return formatted;
    const least = number(schema['minLength']) ?? 0;
    const value = (this.#words[0] ?? 'example').padEnd(least, '.');
    return value.slice(0, number(schema['maxLength']) ?? value.length);
  }

  #choice(options: readonly unknown[]): unknown {
    const words = new Set(this.#words.map((word) => word.toLowerCase()));
    const named = options.find((option) => words.has(String(option).toLowerCase()));
    return named ?? options[0];
  }

  #resolved(schema: JsonObject): JsonObject {
    const all = list(schema['allOf']).map((part) => this.#resolved(record(part)));
    const merged = all.reduce((whole, part) => ({ ...whole, ...part }), schema);
    const target = text(merged['$ref']);
    if (target === undefined) return merged;
    const names = target.split('/').slice(1);
    const found = names.reduce<unknown>((value, name) => record(value)[name], this.#root);
    return { ...this.#resolved(record(found)), ...schema, $ref: undefined };
  }
}

/** Returns the key words of a prompt: quoted ones, then names, then the others from the end. */
function notableWords(prompt: string): string[] {
  const quoted = [...prompt.matchAll(/"([^"]+)"/g)].flatMap((match) => match.slice(1));
  const words = prompt.match(/[\p{L}\p{N}]+/gu) ?? [];
  const names = words.slice(1).filter((word) => /^\p{Lu}/u.test(word));
  return [...quoted, ...names, ...words.toReversed()];
}
