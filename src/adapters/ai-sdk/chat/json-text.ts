import { responseFormat } from '../../../index.ts';

/** Returns the value of a JSON text; `undefined` for other texts, and for JSON in a JSON string. */
function parseValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Returns the JSON in a complete text, without the reasoning, prose and fences that models write around it, because
 * the AI SDK parses the text as it is. Returns the text if it is JSON, or if no value can be found.
 */
export async function findJSONText(text: string, schema: object): Promise<string> {
  if (parseValue(text) !== undefined) return text;
  try {
    return JSON.stringify(await responseFormat(schema, 'response').$parseRaw(text));
  } catch {
    return text;
  }
}

/**
 * Passes on the JSON in a streamed text as it arrives. Holds back a text that does not begin like JSON, and what
 * follows the value, until the end.
 */
export class JSONTextStream {
  readonly #schema: object;
  #passed = '';
  #held = '';
  #state: 'start' | 'value' | 'held' = 'start';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  constructor(schema: object) {
    this.#schema = schema;
  }

  /** Returns the part of the text that can be passed on now. */
  add(text: string): string {
    const piece = this.#state === 'start' ? text.trimStart() : text;
    if (this.#state === 'start' && piece !== '') {
      this.#state = /^[{[]/.test(piece) ? 'value' : 'held';
    }
    const end = this.#state === 'value' ? this.#findEnd(piece) : 0;
    const passed = piece.slice(0, end);
    this.#passed += passed;
    this.#held += piece.slice(end);
    return passed;
  }

  /** Returns the rest of the text at the end of the response. */
  async end(): Promise<string> {
    if (this.#held.trim() === '') return '';
    const json = await findJSONText(this.#passed + this.#held, this.#schema);
    if (this.#passed === '') return json;
    return json === JSON.stringify(parseValue(this.#passed)) ? '' : this.#held;
  }

  /** Returns the position after the value, or the length of the piece. */
  #findEnd(piece: string): number {
    for (let at = 0; at < piece.length; at += 1) {
      const char = piece[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInString && char === '\\') this.#isEscaped = true;
      else if (char === '"') this.#isInString = !this.#isInString;
      else if (this.#isInString) continue;
      else if (char === '{' || char === '[') this.#depth += 1;
      else if ((char === '}' || char === ']') && --this.#depth === 0) {
        this.#state = 'held';
        return at + 1;
      }
    }
    return piece.length;
  }
}
