import { createParser } from 'eventsource-parser';
import { SentError } from './errors.ts';

/** Who takes what is found in the bytes of a stream. What it throws, the reader of the bytes throws. */
export interface EventTaker {
  /**
   * Takes one event.
   *
   * @param name - The event name; `undefined` when none was given.
   * @param isOpen - Whether the stream ended before the blank line that closes an event: it may be cut.
   */
  take(data: string, name: string | undefined, isOpen: boolean): void;
  /** Takes a line that belongs to no event. */
  takeStrayLine(line: string): void;
}

/** Cuts the bytes of one stream into events, wherever the bytes are cut. */
interface EventReader {
  /**
   * Takes the next bytes, and hands on what is complete with them.
   *
   * @throws `SentError` when an event is larger than `maxEventBytes`
   */
  push(bytes: Uint8Array): void;
  /** Hands on an event that is not closed as it is. */
  end(): void;
}

export type EventFormat = (taker: EventTaker, maxEventBytes?: number) => EventReader;

/** The failure of a stream that sends more than it may. */
export function tooLarge(limit: number, what = 'an event', option = 'maxEventBytes'): SentError {
  return new SentError(`${what} is larger than ${limit} bytes (${option}).`);
}

/** Each line of JSON is an event, as `toReadableStream()` writes them. */
export const jsonLines: EventFormat = (taker, maxEventBytes) =>
  cutLines((lines, isLast) => {
    for (const data of lines.split(/[\r\n]+/)) taker.take(data, undefined, isLast);
  }, maxEventBytes);

const beginningOfField = /^(?:d|da|dat|e|ev|eve|even|i|r|re|ret|retr)$/;

/** Server-sent events. Lines that are no fields are not dropped. */
export const serverEvents: EventFormat = (taker, maxEventBytes = Infinity) => {
  let isEnding = false;
  const refuse = (): never => {
    throw tooLarge(maxEventBytes);
  };
  const parser = createParser({
    maxBufferSize: maxEventBytes,
    onEvent({ data, event }) {
      // A character takes one to three bytes, so most events need not be measured.
      const mayBeTooLarge = data.length * 3 > maxEventBytes;
      if (mayBeTooLarge && new TextEncoder().encode(data).length > maxEventBytes) refuse();
      taker.take(data, event, isEnding);
    },
    onError({ type, line }) {
      if (type === 'max-buffer-size-exceeded') refuse();
      if (type === 'unknown-field' && line !== undefined) taker.takeStrayLine(line);
    },
  });
  // The parser gets whole lines only: it drops the beginning of a line that is no field.
  return cutLines((text, isLast) => {
    isEnding = isLast;
    if (!isLast) parser.feed(text);
    else parser.feed(beginningOfField.test(text) ? '\n\n' : `${text}\n\n`);
  }, maxEventBytes);
};

/**
 * Turns bytes into text that ends with a whole line, whatever the line ends.
 *
 * @param feed - Takes the text. At the end of the stream it gets what is left, with no line end.
 */
function cutLines(
  feed: (text: string, isLast: boolean) => void,
  maxEventBytes = Infinity,
): EventReader {
  const decoder = new TextDecoder();
  /** The beginning of a line whose end has not come yet. */
  let held = '';
  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      const end = Math.max(endOfLast('\n', text), endOfLast('\r', text));
      if (end > 0) {
        const lines = held + text.slice(0, end);
        held = '';
        feed(lines, false);
      }
      held += text.slice(end);
      if (held.length > maxEventBytes) throw tooLarge(maxEventBytes);
    },
    end() {
      feed(held + decoder.decode(), true);
    },
  };
}

/** The position behind the last of these line ends; 0 when there is none. */
function endOfLast(lineEnd: string, text: string): number {
  // Most of a very large event has no line end at all, and searching forwards is much faster.
  return text.includes(lineEnd) ? text.lastIndexOf(lineEnd) + 1 : 0;
}
