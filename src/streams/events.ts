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
export const jsonLines: EventFormat = (taker, maxEventBytes = Infinity) => {
  const decoder = new TextDecoder();
  /** The beginning of a line whose end has not come yet. */
  let held = '';
  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      // Most of a very large line has no end in it, and what came of it is not looked at again.
      if (/[\r\n]/.test(text)) {
        const lines = (held + text).split(/[\r\n]+/);
        held = lines.pop() ?? '';
        for (const line of lines) taker.take(line, undefined, false);
      } else held += text;
      if (held.length > maxEventBytes) throw tooLarge(maxEventBytes);
    },
    end() {
      taker.take(held + decoder.decode(), undefined, true);
    },
  };
};

const beginningOfField = /^(?:d|da|dat|e|ev|eve|even|i|r|re|ret|retr)$/;

/** Server-sent events. */
export const serverEvents: EventFormat = (taker, maxEventBytes = Infinity) => {
  const decoder = new TextDecoder();
  let isEnding = false;
  let endsInReturn = false;
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
    onError({ type, line = '' }) {
      if (type === 'max-buffer-size-exceeded') refuse();
      const isCut = isEnding && beginningOfField.test(line);
      if (type === 'unknown-field' && !isCut) taker.takeStrayLine(line);
    },
  });
  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      if (text === '') return;
      // Behind a carriage return the parser would wait for more, and look for others again and again.
      const lines = text.replace(/\r\n?/g, '\n');
      parser.feed(endsInReturn && text.startsWith('\n') ? lines.slice(1) : lines);
      endsInReturn = text.endsWith('\r');
    },
    end() {
      isEnding = true;
      parser.feed(`${decoder.decode()}\n\n`);
    },
  };
};
