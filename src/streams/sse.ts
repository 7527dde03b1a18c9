import { createParser, type EventSourceParser } from 'eventsource-parser';
import { readErrorValue } from '../answers/error-body.ts';
import { SentError } from './errors.ts';

/**
 * Takes one event.
 *
 * @param name - The event name; `undefined` when none was given.
 * @param isOpen - Whether the stream ended before the blank line that closes an event: it may be cut.
 */
export type TakeEvent = (data: string, name: string | undefined, isOpen: boolean) => void;

/** What events are framed as: server-sent events, or lines of JSON that are an event each. */
export type Framing = 'events' | 'lines';

/** The failure of a stream that sends more than it may. */
export function tooLarge(limit: number, what: string, option: string): SentError {
  const message = `${what} is larger than ${limit} bytes (${option}).`;
  return new SentError({ ...readErrorValue(undefined), message });
}

/** Text beyond this is only kept when it can be JSON, of which all is needed. */
const maxPlainTextLength = 65_536;

const beginningOfField = /^(?:d|da|dat|e|ev|eve|even|i|r|re|ret|retr)$/;

/**
 * Cuts bytes into events, whatever the line ends and wherever the bytes are cut.
 *
 * Lines that belong to no event are collected: gateways write errors as bare JSON.
 */
export class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #parser: Pick<EventSourceParser, 'feed'>;
  readonly #maxEventBytes: number;
  readonly #onEvent: TakeEvent;
  readonly #onStrayText: (text: string) => void;
  /** The beginning of a line whose end has not come yet. */
  #held = '';
  #isEnding = false;
  readonly #strayLines: string[] = [];
  #strayLength = 0;
  /** How many of these lines were handed out already. */
  #strayLinesTold = 0;

  /**
   * @param onEvent - Called with each event as soon as it is complete. What it throws, `push()` throws.
   * @param onStrayText - Called before an event with the text since the one before that belonged to none.
   */
  constructor(
    maxEventBytes: number,
    framing: Framing,
    onEvent: TakeEvent,
    onStrayText: (text: string) => void,
  ) {
    this.#maxEventBytes = maxEventBytes;
    this.#onEvent = onEvent;
    this.#onStrayText = onStrayText;
    this.#parser =
      framing === 'lines'
        ? { feed: (lines) => this.#feedLines(lines) }
        : createParser({
            maxBufferSize: maxEventBytes,
            onEvent: ({ data, event }) => this.#dispatch(data, event),
            onError: ({ type, line }) => {
              if (type === 'max-buffer-size-exceeded') this.#refuse();
              if (type === 'unknown-field' && line !== undefined) this.#collect(line);
            },
          });
  }

  /** All text that belonged to no event. */
  get strayText(): string {
    return this.#strayLines.join('\n');
  }

  /**
   * Takes the next bytes; hands out every event that is complete with them.
   *
   * @throws `SentError` when an event is larger than `maxEventBytes`
   */
  push(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    // The parser gets whole lines only: it drops the beginning of a line that is no field.
    const end = Math.max(endOfLast('\n', text), endOfLast('\r', text));
    if (end === 0) {
      this.#held += text;
    } else {
      const lines = this.#held + text.slice(0, end);
      this.#held = text.slice(end);
      this.#parser.feed(lines);
    }
    if (this.#held.length > this.#maxEventBytes) this.#refuse();
  }

  /** Ends the stream: an event that is not closed is handed out as it is. */
  end(): void {
    this.#isEnding = true;
    const rest = this.#held + this.#decoder.decode();
    this.#parser.feed(beginningOfField.test(rest) ? '\n\n' : `${rest}\n\n`);
  }

  #feedLines(lines: string): void {
    for (const data of lines.split(/[\r\n]+/)) {
      if (data !== '') this.#onEvent(data, undefined, this.#isEnding);
    }
  }

  #dispatch(data: string, name: string | undefined): void {
    if (this.#strayLines.length > this.#strayLinesTold) {
      const lines = this.#strayLines.slice(this.#strayLinesTold);
      this.#strayLinesTold = this.#strayLines.length;
      this.#onStrayText(lines.join('\n'));
    }
    // A character takes one to three bytes, so most events need not be measured.
    const max = this.#maxEventBytes;
    if (data.length * 3 > max && new TextEncoder().encode(data).byteLength > max) this.#refuse();
    this.#onEvent(data, name, this.#isEnding);
  }

  #refuse(): never {
    throw tooLarge(this.#maxEventBytes, 'an event', 'maxEventBytes');
  }

  #collect(line: string): void {
    const max = this.#maxEventBytes;
    const isJSON = /^\s*[[{]/.test(this.#strayLines[0] ?? line);
    this.#strayLength += line.length;
    if (this.#strayLength <= (isJSON ? max : maxPlainTextLength)) this.#strayLines.push(line);
    else if (isJSON) this.#refuse();
  }
}

/** The position behind the last of these line ends; 0 when there is none. */
function endOfLast(lineEnd: string, text: string): number {
  // Most of a very large event has no line end at all, and searching forwards is much faster.
  return text.includes(lineEnd) ? text.lastIndexOf(lineEnd) + 1 : 0;
}
