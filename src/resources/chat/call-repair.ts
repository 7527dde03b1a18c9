import { findAllJSON } from '../../answers/find-json.ts';
import { isObject, parseJSON } from '../../answers/objects.ts';
import { parsePartialJSON } from '../../structured/json.ts';

/** Returns whether arguments are a complete JSON object. */
export function areArgumentsComplete(text: unknown): text is string {
  return typeof text === 'string' && isObject(parseJSON(text));
}

/** Returns whether arguments are the beginning of JSON that was cut off. */
export function isCut(text: unknown): boolean {
  if (typeof text !== 'string' || parseJSON(text) !== undefined) return false;
  return parsePartialJSON(text) !== undefined;
}

/** Returns whether two texts are the same JSON. */
export function isSameJSON(one: string, other: string): boolean {
  if (one.trim() === other.trim()) return true;
  const [first, second] = [one, other].map((text) =>
    // Deeply nested JSON can be parsed, but not written.
    parseJSON(text, () => JSON.stringify(JSON.parse(text))),
  );
  return first !== undefined && first === second;
}

/** Splits a text that consists of at least two JSON objects; `undefined` for any other text. */
function splitObjects(text: string): readonly string[] | undefined {
  const objects: string[] = [];
  let end = 0;
  for (const { start, json } of findAllJSON(text)) {
    if (!json.startsWith('{') || text.slice(end, start).trim() !== '') return undefined;
    objects.push(json);
    end = start + json.length;
  }
  return objects.length > 1 && text.slice(end).trim() === '' ? objects : undefined;
}

/**
 * Returns the arguments of the calls in one text. A text that is JSON, or cannot be repaired, is returned
 * unchanged. Some providers send an opening bracket before the whole object, send the object again, or join
 * the objects of parallel calls.
 *
 * @param last - The last piece, if each piece so far repeats the one before and extends it.
 */
export function repairArguments(text: string, last?: string): readonly string[] {
  if (text.trim() === '' || parseJSON(text) !== undefined) return [text];
  if (last !== undefined && areArgumentsComplete(last)) return [last];
  const start = text.trimStart();
  const inner = start.startsWith('{') ? start.slice(1).trimStart() : '';
  if (inner.startsWith('{') && areArgumentsComplete(inner)) return [inner];
  const objects = splitObjects(text);
  if (objects === undefined) return [text];
  const [first = ''] = objects;
  return objects.every((object) => isSameJSON(object, first)) ? [first] : objects;
}

/** Gives each call of a message an id of its own. */
export class CallIds {
  readonly #used = new Set<string>();
  /** The last number that was added to an id. */
  readonly #counts = new Map<string, number>();

  /** Returns the id, with a number if another call has it. A missing id stays empty. */
  take(id: string): string {
    if (id === '') return '';
    let unique = id;
    let count = this.#counts.get(id) ?? 1;
    while (this.#used.has(unique)) {
      count += 1;
      unique = `${id}_${count}`;
    }
    this.#counts.set(id, count);
    this.#used.add(unique);
    return unique;
  }
}
