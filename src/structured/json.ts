import { endOfString, findAllJSON } from '../answers/find-json.ts';
import { parseJSON } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type { OutputIssue } from './types.ts';

/** The text is not valid JSON, or the value does not match its schema. */
export class SchemaMismatch extends Error {
  readonly issues: readonly OutputIssue[];

  constructor(message: string, issues: readonly OutputIssue[] = []) {
    super(message);
    this.issues = issues;
  }
}

const reasoning = /^\s*<(?:think|thinking|thought)>[\s\S]*?(?:<\/(?:think|thinking|thought)>|$)/;

/**
 * Extracts the JSON from complete or partial output: removes a byte order mark, and the reasoning and the code
 * fences that some models add.
 */
export function extractJSON(text: string): string {
  const output = text.replace(reasoning, '').trim();
  const inside = output.replace(/^(?:```\w*\s*)+/, '');
  return inside === output ? output : withoutFence(inside);
}

/** Removes code fences and white space from the end. */
export function withoutFence(text: string): string {
  let end = text.length;
  while (/[`\s]/.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}

/** Returns the text after reasoning whose beginning is missing; `undefined` if there is none. */
export function afterReasoning(text: string): string | undefined {
  const tag = text.slice(text.lastIndexOf('</th'));
  const rest = tag.replace(/^<\/(?:think|thinking|thought)>/, '');
  return rest === tag ? undefined : extractJSON(rest);
}

/**
 * Returns the JSON text of the only object or array in a text with prose around it; `undefined` if there is
 * none, or more than one. An unclosed value hides what follows it, because a value inside truncated JSON is
 * not the result.
 *
 * @param type - The type of the value. Values of the other type are ignored, for example `[1]` in prose.
 */
export function findJSON(text: string, type?: 'object' | 'array'): string | undefined {
  const found = findAllJSON(text).filter(
    ({ json }) => type === undefined || json.startsWith(type === 'object' ? '{' : '['),
  );
  return found.length === 1 ? found[0]?.json : undefined;
}

const literals = ['true', 'false', 'null'];
/** Delimiters in JSON. Other white space is part of a word, so that no word is empty. */
const wordEnd = /[ \t\n\r,:{}[\]"]|$/g;

/**
 * Parses the beginning of a JSON text: closes open arrays, objects and strings, and omits incomplete
 * parts (a name without a value, a number that may continue). Returns `undefined` if there is no value
 * yet, or if the text is not valid JSON. Never throws.
 */
export function parsePartialJSON(text: string): unknown {
  /** Closing brackets of the open arrays and objects, innermost last. */
  const closers: string[] = [];
  /** End of the complete part; `tail` closes an open string or literal. */
  let end = 0;
  let tail = '';
  let isName = false;
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? '';
    if (char === '"') {
      const close = endOfString(text, at + 1);
      const isOpen = text[close] !== '"';
      if (!isName) [end, tail] = isOpen ? [close, '"'] : [close + 1, ''];
      at = isOpen ? text.length : close + 1;
    } else if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']');
      isName = char === '{';
      end = at += 1;
    } else if (char === '}' || char === ']') {
      closers.pop();
      end = at += 1;
    } else if (char === ',' || char === ':' || char <= ' ') {
      if (char > ' ') isName = char === ',' && closers.at(-1) === '}';
      at += 1;
    } else {
      wordEnd.lastIndex = at;
      const word = text.slice(at, wordEnd.exec(text)?.index);
      at += word.length;
      const literal = literals.find((whole) => whole.startsWith(word));
      if (at < text.length || literal !== undefined) end = at;
      if (at === text.length) tail = literal?.slice(word.length) ?? '';
    }
  }
  if (end === 0) return undefined;
  return parseJSON(text.slice(0, end) + tail + closers.toReversed().join(''));
}

/**
 * Parses a growing text repeatedly. A long text is parsed again only after it has grown by 1/32, so that
 * the total work stays proportional to its length.
 */
export class GrowingJSON {
  #length = 0;
  #value: unknown = null;

  read(text: string): unknown {
    if (text.length - this.#length > (this.#length - 2_000) / 32) {
      this.#length = text.length;
      const json = extractJSON(text);
      this.#value = parsePartialJSON(json) ?? parsePartialJSON(afterReasoning(json) ?? '') ?? null;
    }
    return this.#value;
  }
}

/** Returns the instruction for requests that don't send the schema to the provider. */
export function outputInstruction(schema: JsonObject): string {
  return `Respond only with JSON that matches this JSON Schema:\n${JSON.stringify(schema)}`;
}
