import { createParser } from 'eventsource-parser';
import { SentError } from './errors.ts';

/** Receives the events of a stream. The reader of the bytes rethrows its errors. */
export interface EventTaker {
  /**
   * Takes one event.
   *
   * @param name - The event name, if it has one.
   * @param isOpen - `true` if the stream ended before the blank line that closes the event, so the event may
   *   be cut.
   */
  take(data: string, name: string | undefined, isOpen: boolean): void;
  /** Takes a line outside of events. */
  takeStrayLine(line: string): void;
}

/** Splits the bytes of one stream into events, in chunks of any size. */
export interface EventReader {
  /**
   * Takes the next bytes and passes on the events that they complete.
   *
   * @throws `SentError` if an event is larger than `maxEventBytes`
   */
  push(bytes: Uint8Array): void;
  /** Passes on an event that is not closed. */
  end(): void;
}

export type EventFormat = (taker: EventTaker, maxEventBytes?: number) => EventReader;

/** The error of a stream that exceeds a size limit. */
export function tooLarge(limit: number, what = 'an event', option = 'maxEventBytes'): SentError {
  return new SentError(`${what} is larger than ${limit} bytes (${option}).`);
}

/** Each line of JSON is an event, as `toReadableStream()` writes them. */
export const jsonLines: EventFormat = (taker) => {
  const decoder = new TextDecoder();
  /** The start of a line whose end has not arrived yet. */
  let held = '';
  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      // Chunks of a large line are searched once.
      if (/[\r\n]/.test(text)) {
        const lines = (held + text).split(/[\r\n]+/);
        held = lines.pop() ?? '';
        for (const line of lines) taker.take(line, undefined, false);
      } else held += text;
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
      // A character takes at most three bytes, so most events need not be measured.
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
      // The parser would wait for more after a carriage return, and is slow with many of them.
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
