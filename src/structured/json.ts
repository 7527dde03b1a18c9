import type { OutputIssue } from './types.ts';

/** A text that is not JSON, or JSON that does not fit its schema. */
export class SchemaMismatch extends Error {
  readonly issues: readonly OutputIssue[];

  constructor(message: string, issues: readonly OutputIssue[] = []) {
    super(message);
    this.issues = issues;
  }
}

/**
 * The JSON in an answer, or in the beginning of one: without the thoughts and the code fence that some
 * models put around it.
 */
export function jsonIn(text: string): string {
  const answer = text.replace(/^\s*<think>[\s\S]*?(?:<\/think>|$)/, '');
  const inside = answer.replace(/^\s*```\w*\s*/, '');
  return inside === answer
    ? answer
    : inside
        .trimEnd()
        .replace(/`{1,3}$/, '')
        .trimEnd();
}

/** Parses JSON. */
export function parseJSONText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(jsonIn(text));
    return value;
  } catch {
    throw new SchemaMismatch('it is not valid JSON');
  }
}

const literals = ['true', 'false', 'null'];
const plainText = /[^"\\]*/y;
/** No other white space: what JSON does not know as such is part of a word, so that none is empty. */
const wordEnd = /[ \t\n\r,:{}[\]"]|$/g;

/**
 * Where a string ends whose first character is at `start`: at its closing quote, or behind its last
 * whole character while it is open.
 */
function endOfString(text: string, start: number): number {
  let at = start;
  for (;;) {
    plainText.lastIndex = at;
    plainText.test(text);
    at = plainText.lastIndex;
    const next = at + (text[at + 1] === 'u' ? 6 : 2);
    if (text[at] !== '\\' || next > text.length) return at;
    at = next;
  }
}

/**
 * Parses the beginning of a JSON text as far as it goes: lists, objects and strings that are still
 * open are closed, and what cannot be told yet (a name without its value, a number that may go on) is
 * left out. `undefined` when there is nothing yet, or when it is no JSON. Never throws.
 */
export function parsePartialJSON(text: string): unknown {
  /** What closes the open lists and objects, the innermost last. */
  const closers: string[] = [];
  /** What can be told ends here; `tail` closes what is open besides `closers`. */
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
  try {
    const value: unknown = JSON.parse(text.slice(0, end) + tail + closers.toReversed().join(''));
    return value;
  } catch {
    return undefined;
  }
}

/**
 * Parses a text that grows, again and again. A long text is parsed only when it has grown by a
 * part in 32, so that the work stays in proportion to its length.
 */
export class GrowingJSON {
  #length = 0;
  #value: unknown = null;

  read(text: string): unknown {
    if (text.length - this.#length > (this.#length - 2_000) / 32) {
      this.#length = text.length;
      this.#value = parsePartialJSON(jsonIn(text)) ?? null;
    }
    return this.#value;
  }
}
