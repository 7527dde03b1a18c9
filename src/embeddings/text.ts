import { isObject } from '../answers/objects.ts';

const key = '"embedding"';
const colon = /\s*:\s*"/y;
/** How JSON writes the character that stands before the number of a vector in its place. */
const mark = String.raw`\u0000`;

/**
 * `JSON.parse()` for an answer that is nearly all base64, in half the time.
 *
 * A JSON parser looks at every character of every vector and copies it. Here vectors are cut out
 * first, for which the engine only looks for their ends, and are put back into what remains.
 *
 * A quotation mark within a JSON string has a backslash before it, so what is cut out after
 * `"embedding":` is a value and never a part of a text. Whatever looks different is left to the parser.
 *
 * @throws `SyntaxError` when the text is not JSON
 */
export function parseEmbeddings(text: string): unknown {
  if (text.includes(mark)) return JSON.parse(text);
  const vectors: string[] = [];
  let rest = '';
  let copied = 0;
  // A search for a plain text is several times faster than one for a pattern.
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + 1)) {
    colon.lastIndex = at + key.length;
    if (!colon.test(text)) continue;
    const start = colon.lastIndex;
    const end = text.indexOf('"', start);
    const vector = text.slice(start, end);
    if (end === -1 || vector.includes('\\')) return JSON.parse(text);
    rest += `${text.slice(copied, start)}${mark}${vectors.length}`;
    copied = end;
    vectors.push(vector);
  }
  const value: unknown = JSON.parse(rest + text.slice(copied));
  return putBack(value, vectors) ? value : JSON.parse(text);
}

/** Whether each vector went back to the place where it was. */
function putBack(value: unknown, vectors: readonly string[]): boolean {
  const items = isObject(value) && Array.isArray(value['data']) ? value['data'] : [];
  let next = 0;
  for (const item of items) {
    if (isObject(item) && item['embedding'] === `\0${next}`) item['embedding'] = vectors[next++];
  }
  return next === vectors.length;
}
