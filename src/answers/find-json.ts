import { parseJSON } from './objects.ts';

const plainText = /[^"\\]*/y;

/**
 * Returns the end of a string whose first character is at `start`: its closing quote, or the position
 * after the last complete character if it is still open.
 */
export function endOfString(text: string, start: number): number {
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

/** A bracket that may begin a JSON value, unlike most brackets in prose. */
const opening = /\{\s*["}]|\[\s*(?:["{[\]]|-?\d|(?:true|false|null)\b)/g;
const quoteOrBracket = /["{}[\]]/g;

/**
 * Returns the end of the object or array that begins at `start`. If its brackets don't match, `isBalanced` is
 * `false` and `end` is where that shows.
 */
function endOfValue(text: string, start: number): { end: number; isBalanced: boolean } {
  const closers: string[] = [];
  for (let at = start; at < text.length;) {
    quoteOrBracket.lastIndex = at;
    const index = quoteOrBracket.exec(text)?.index;
    if (index === undefined) break;
    const char = text[index] ?? '';
    at = (char === '"' ? endOfString(text, index + 1) : index) + 1;
    if (char === '{') closers.push('}');
    else if (char === '[') closers.push(']');
    else if (char !== '"') {
      if (closers.pop() !== char) return { end: at, isBalanced: false };
      if (closers.length === 0) return { end: at, isBalanced: true };
    }
  }
  return { end: text.length, isBalanced: false };
}

/** JSON inside another text. */
interface FoundJSON {
  readonly start: number;
  readonly json: string;
}

/**
 * Returns all objects and arrays in a text with prose around them. An unclosed value hides what follows it.
 * Takes linear time.
 */
export function findAllJSON(text: string): FoundJSON[] {
  const found: FoundJSON[] = [];
  for (let at = 0; at < text.length;) {
    opening.lastIndex = at;
    const start = opening.exec(text)?.index;
    if (start === undefined) break;
    const { end, isBalanced } = endOfValue(text, start);
    at = end;
    const json = isBalanced ? text.slice(start, end) : '';
    if (parseJSON(json) !== undefined) found.push({ start, json });
  }
  return found;
}
