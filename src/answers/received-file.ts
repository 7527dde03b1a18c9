import { ContainerWalk, join } from './container.ts';
import { isHTMLPage, readErrorText, readErrorValue } from './failure.ts';
import { hasValue, isObject, parseJSON } from './objects.ts';

/*
 * The one check of received files, whichever call or program receives them: their first bytes, their last bytes, and
 * the end of their container. It keeps at most `tailLength` bytes.
 */

/** The largest error behind a file that broke off, in bytes. */
const tailLength = 4_096;

/** Returns what markup is that was sent instead of a file or text; `undefined` for SVG and for any other text. */
export function describeMarkup(text: string): string | undefined {
  if (isHTMLPage(text)) return 'an HTML page';
  return /^\s*(<\?xml\b|<Error>)/.test(text) && !/<svg[\s/>]/i.test(text) ? 'XML' : undefined;
}

/**
 * Returns what text is that was sent instead of a file, as a noun; `undefined` if it may be a file. SVG is a file.
 *
 * @param beginning - The beginning of the file, or all of it.
 */
export function describeText(beginning: string): string | undefined {
  const text = beginning.trim();
  if (text === '') return 'empty';
  const isJSON = /^([[{]|null$|""$)/.test(text) && parseJSON(text) !== undefined;
  return isJSON ? 'JSON' : describeMarkup(text);
}

/** The beginning of a JSON object. */
const objectStart = /\{\s*"/g;

/** The length of the tag at the end of an MP3 file (ID3v1). */
const tagLength = 128;

/** One character for each byte, so that positions in both are equal. */
const letters = new TextDecoder('latin1');

/** Returns the position of a JSON object with an error that ends some bytes. */
function findError(bytes: Uint8Array) {
  const text = letters.decode(bytes);
  const isTag = text.startsWith('TAG', text.length - tagLength);
  if (isTag || !/\}\s*$/.test(text)) return undefined;
  for (const { index } of text.matchAll(objectStart)) {
    const words = new TextDecoder().decode(bytes.subarray(index));
    const value = parseJSON(words);
    if (isObject(value) && hasValue(value['error'])) return { index, value, text: words };
  }
  return undefined;
}

export interface FileEnd {
  /** The last bytes of the file, which were held back. */
  readonly rest: Uint8Array;
  /** The error that the gateway sent behind a part of the file, parsed and as text. */
  readonly error?: { readonly value: unknown; readonly text: string } | undefined;
  /** `true` if the container of the file is longer than the file. */
  readonly isCut: boolean;
}

/** Checks a file that is received in chunks of any sizes. */
export class ReceivedFile {
  /** Absent if the length of the file is known, or the bytes are not its beginning. */
  readonly #walk: ContainerWalk | undefined;
  /** The last bytes, if they may be the beginning of an error. */
  #held = new Uint8Array();

  /** @param isProof - `true` if the container is the only proof that the file is complete. */
  constructor(isProof: boolean) {
    this.#walk = isProof ? new ContainerWalk() : undefined;
  }

  /** Adds the next bytes. Returns the bytes that are certainly a part of the file. */
  add(chunk: Uint8Array): Uint8Array {
    const bytes = join(this.#held, chunk);
    const start = findObject(bytes);
    this.#held = bytes.slice(start);
    const passed = bytes.subarray(0, start);
    this.#walk?.add(passed);
    return passed;
  }

  end(): FileEnd {
    const found = findError(this.#held);
    const rest = this.#held.subarray(0, found?.index);
    this.#held = new Uint8Array();
    this.#walk?.add(rest);
    return { rest, error: found, isCut: this.#walk?.isCut === true };
  }
}

/** Returns the position in the last bytes from which they may be a JSON object; the number of bytes if they are none. */
function findObject(bytes: Uint8Array): number {
  const from = Math.max(0, bytes.length - tailLength);
  const text = letters.decode(bytes.subarray(from));
  // The first letters of an object may still be missing.
  const index = text.search(/\{\s*("|$)/);
  if (index < 0) return bytes.length;
  // A tag is held too, because it ends a file.
  const tag = text.indexOf('TAG', Math.max(0, index - tagLength));
  return from + (tag >= 0 && tag < index ? tag : index);
}

/** The number of bytes in which {@link describeContent} recognizes JSON or XML. */
export const textLength = 65_536;

/** Returns the problem with text that was sent instead of a file; `undefined` if it may be a file. */
export function describeContent(beginning: string): string | undefined {
  const content = describeText(beginning);
  if (content === undefined || content === 'empty') return content && 'it is empty.';
  const { message } = readErrorText(beginning);
  return message === undefined ? `it is ${content}.` : `it is ${content} that says: ${message}`;
}

/** Returns the problem with the end of a file of that many bytes; `undefined` if it may be complete. */
export function describeEnd({ error, isCut }: FileEnd, received: number): string | undefined {
  if (error !== undefined) {
    const { message = 'an error' } = readErrorValue(error.value);
    return `after ${received} bytes, the server sent an error: ${message}`;
  }
  return isCut ? `the body ended after ${received} bytes, although the file is longer.` : undefined;
}

/**
 * Returns the problem with a file that was received at once; `undefined` if it may be complete.
 *
 * @param isProof - `true` if the container is the only proof that the file is complete.
 */
export function findProblem(bytes: Uint8Array, isProof: boolean): string | undefined {
  const file = new ReceivedFile(isProof);
  file.add(bytes);
  const beginning = new TextDecoder().decode(bytes.subarray(0, textLength));
  return describeContent(beginning) ?? describeEnd(file.end(), bytes.byteLength);
}
