import { createParser, type EventSourceParser } from 'eventsource-parser';

/** One server-sent event. */
export interface ServerSentEvent {
  /** The event name; `undefined` when none was given. */
  readonly name: string | undefined;
  readonly data: string;
  /** Whether the stream ended before the blank line that closes an event: it may be cut. */
  readonly isOpen: boolean;
}

/** A stream tried to send an event that is larger than allowed, or more than is allowed in all. */
export class EventTooLarge extends Error {
  override readonly name = 'EventTooLarge';

  constructor(limit: number, what = 'an event', option = 'maxEventBytes') {
    super(`${what} is larger than ${limit} bytes (${option}).`);
  }
}

/** Text beyond this is only kept when it can be JSON, of which all is needed. */
const maxPlainTextLength = 65_536;

const fieldPrefix = /^(?:d|da|dat|e|ev|eve|even|i|r|re|ret|retr)$/;

/** What events are framed as: server-sent events, or lines of JSON that are an event each. */
export type Framing = 'events' | 'lines';

/**
 * Cuts bytes into events, whatever the line ends and wherever the bytes are cut.
 *
 * Lines that belong to no event are collected: gateways write errors as bare JSON.
 */
export class EventReader {
  readonly #decoder = new TextDecoder();
  readonly #parser: Pick<EventSourceParser, 'feed'>;
  readonly #maxEventBytes: number;
  readonly #onEvent: (event: ServerSentEvent) => void;
  readonly #onStrayText: (text: string) => void;
  /** The beginning of a line whose end has not come yet. */
  #held: string[] = [];
  #heldBytes = 0;
  #isEnding = false;
  readonly #strayLines: string[] = [];
  #strayLength = 0;
  /** How many of the lines were handed out already. */
  #strayLinesTold = 0;

  /**
   * @param onEvent - Called with each event as soon as it is complete. What it throws, `push()` throws.
   * @param onStrayText - Called before an event with the text since the one before that belonged to none.
   */
  constructor(
    maxEventBytes: number,
    onEvent: (event: ServerSentEvent) => void,
    onStrayText: (text: string) => void = () => undefined,
    framing: Framing = 'events',
  ) {
    this.#maxEventBytes = maxEventBytes;
    this.#onEvent = onEvent;
    this.#onStrayText = onStrayText;
    if (framing === 'lines') {
      this.#parser = { feed: (lines) => this.#feedLines(lines) };
      return;
    }
    this.#parser = createParser({
      maxBufferSize: maxEventBytes,
      onEvent: ({ event, data }) => this.#dispatch(event, data),
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
   * @throws `EventTooLarge`
   */
  push(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    // The parser gets whole lines only: it drops the beginning of a line that is no field.
    const end = endOfLastLine(text);
    if (end === 0) {
      this.#hold(text, bytes.byteLength);
      return;
    }
    const whole = end === text.length ? text : text.slice(0, end);
    this.#parser.feed(this.#held.length === 0 ? whole : this.#release() + whole);
    if (end < text.length) this.#hold(text.slice(end), text.length - end);
  }

  /** Ends the stream: an event that is not closed is handed out as it is. */
  end(): void {
    this.#isEnding = true;
    const rest = this.#release() + this.#decoder.decode();
    this.#parser.feed(fieldPrefix.test(rest) ? '\n\n' : `${rest}\n\n`);
  }

  #feedLines(lines: string): void {
    for (const data of lines.split(/[\r\n]+/)) {
      if (data !== '') this.#onEvent({ name: undefined, data, isOpen: this.#isEnding });
    }
  }

  #dispatch(name: string | undefined, data: string): void {
    if (this.#strayLines.length > this.#strayLinesTold) {
      const lines = this.#strayLines.slice(this.#strayLinesTold);
      this.#strayLinesTold = this.#strayLines.length;
      this.#onStrayText(lines.join('\n'));
    }
    // A character takes one to three bytes, so most events need not be measured.
    const max = this.#maxEventBytes;
    if (data.length * 3 > max && new TextEncoder().encode(data).byteLength > max) this.#refuse();
    this.#onEvent({ name, data, isOpen: this.#isEnding });
  }

  #hold(text: string, size: number): void {
    this.#held.push(text);
    this.#heldBytes += size;
    if (this.#heldBytes > this.#maxEventBytes) this.#refuse();
  }

  #release(): string {
    const text = this.#held.join('');
    this.#held = [];
    this.#heldBytes = 0;
    return text;
  }

  #refuse(): never {
    throw new EventTooLarge(this.#maxEventBytes);
  }

  #collect(line: string): void {
    const first = this.#strayLines[0] ?? line;
    const limit = /^\s*[[{]/.test(first) ? this.#maxEventBytes : maxPlainTextLength;
    this.#strayLength += line.length;
    if (this.#strayLength <= limit) this.#strayLines.push(line);
    else if (limit === this.#maxEventBytes) this.#refuse();
  }
}

/** The position after the last line end; 0 when there is none. */
function endOfLastLine(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  if (last === 10 || last === 13) return text.length;
  // Most of a very large event has no line end at all, and searching forwards is much faster.
  const hasCarriageReturn = text.includes('\r');
  if (!hasCarriageReturn) return text.includes('\n') ? text.lastIndexOf('\n') + 1 : 0;
  return Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
}
