import { parseJSON } from '../answers/objects.ts';

/** Numbers and words may be longer, but no arguments are made of them. */
const shortText = 64;

/**
 * Tells of a text that grows whether it is JSON as a whole. A list or an object is parsed when it has
 * ended, and only then; up to there each character is looked at once.
 */
export class WholeJSON {
  #at = 0;
  #depth = 0;
  #isInString = false;
  #isWhole: boolean | undefined;

  isWhole(text: string): boolean {
    if (text.length < shortText) return parseJSON(text) !== undefined;
    for (; this.#at < text.length && this.#isWhole === undefined; this.#at += 1) {
      const char = text[this.#at];
      if (char === '"') this.#isInString = !this.#isInString;
      else if (this.#isInString) this.#at += Number(char === '\\');
      else if (char === '{' || char === '[') this.#depth += 1;
      else if ((char === '}' || char === ']') && --this.#depth <= 0) {
        this.#isWhole = parseJSON(text) !== undefined;
      }
    }
    return this.#isWhole === true;
  }
}
