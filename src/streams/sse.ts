import { createParser } from 'eventsource-parser';
import { readErrorValue } from '../answers/error-body.ts';
import { SentError } from './errors.ts';

/** What events are framed as: server-sent events, or lines of JSON that are an event each. */
export type Framing = 'events' | 'lines';

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

/** The failure of a stream that sends more than it may. */
export function tooLarge(limit: number, what = 'an event', option = 'maxEventBytes'): SentError {
  const message = `${what} is larger than ${limit} bytes (${option}).`;
  return new SentError({ ...readErrorValue(undefined), message });
}

const beginningOfField = /^(?:d|da|dat|e|ev|eve|even|i|r|re|ret|retr)$/;

/**
 * Cuts bytes into events, whatever the line ends and wherever the bytes are cut.
 *
 * @returns `push` takes the next bytes and hands on what is complete with them; it throws a `SentError`
 *   when an event is larger than `maxEventBytes`. `end` hands on an event that is not closed as it is.
 */
export function eventReader(taker: EventTaker, framing: Framing, maxEventBytes = Infinity) {
  const decoder = new TextDecoder();
  /** The beginning of a line whose end has not come yet. */
  let held = '';
  let isEnding = false;

  const refuse = (): never => {
    throw tooLarge(maxEventBytes);
  };
  const parser =
    framing === 'lines'
      ? {
          feed(lines: string): void {
            for (const data of lines.split(/[\r\n]+/)) taker.take(data, undefined, isEnding);
          },
        }
      : createParser({
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

  return {
    push(bytes: Uint8Array): void {
      const text = decoder.decode(bytes, { stream: true });
      // The parser gets whole lines only: it drops the beginning of a line that is no field.
      const end = Math.max(endOfLast('\n', text), endOfLast('\r', text));
      if (end > 0) {
        const lines = held + text.slice(0, end);
        held = '';
        parser.feed(lines);
      }
      held += text.slice(end);
      if (held.length > maxEventBytes) refuse();
    },
    end(): void {
      isEnding = true;
      const rest = held + decoder.decode();
      parser.feed(beginningOfField.test(rest) ? '\n\n' : `${rest}\n\n`);
    },
  };
}

/** The position behind the last of these line ends; 0 when there is none. */
function endOfLast(lineEnd: string, text: string): number {
  // Most of a very large event has no line end at all, and searching forwards is much faster.
  return text.includes(lineEnd) ? text.lastIndexOf(lineEnd) + 1 : 0;
}
