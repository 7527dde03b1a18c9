import { readErrorValue } from '../answers/error-body.ts';
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
  const message = `${what} is larger than ${limit} bytes (${option}).`;
  return new SentError({ ...readErrorValue(undefined), message });
}

/** Each line of JSON is an event, as `toReadableStream()` writes them. */
export const jsonLines: EventFormat = (taker, maxEventBytes) =>
  cutLines((line, isLast) => taker.take(line, undefined, isLast), maxEventBytes);

const beginningOfField = /^(?:d|da|dat|e|ev|eve|even|i|r|re|ret|retr)$/;

/** Server-sent events, as the HTML standard defines them. Lines that are no fields are not dropped. */
export const serverEvents: EventFormat = (taker, maxEventBytes = Infinity) => {
  let name: string | undefined;
  let data: string | undefined;

  function takeField(line: string): void {
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const start = line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1;
    const value = colon === -1 ? '' : line.slice(start);
    if (field === 'data') {
      data = data === undefined ? value : `${data}\n${value}`;
      if (data.length > maxEventBytes) throw tooLarge(maxEventBytes);
    } else if (field === 'event') name = value === '' ? undefined : value;
    else if (!/^(id|retry|)$/.test(field)) taker.takeStrayLine(line);
  }

  function close(isOpen: boolean): void {
    const [event, eventName] = [data, name];
    data = undefined;
    name = undefined;
    if (event === undefined) return;
    // A character takes one to three bytes, so most events need not be measured.
    const mayBeTooLarge = event.length * 3 > maxEventBytes;
    if (mayBeTooLarge && new TextEncoder().encode(event).length > maxEventBytes) {
      throw tooLarge(maxEventBytes);
    }
    taker.take(event, eventName, isOpen);
  }

  return cutLines((line, isLast) => {
    if (line !== '' && !(isLast && beginningOfField.test(line))) takeField(line);
    if (line === '' || isLast) close(isLast);
  }, maxEventBytes);
};

/**
 * Turns bytes into lines, whatever their ends.
 *
 * @param take - Takes a line without its end. At the end of the stream it gets what is left.
 */
function cutLines(
  take: (line: string, isLast: boolean) => void,
  maxEventBytes = Infinity,
): EventReader {
  const decoder = new TextDecoder();
  /** The beginning of a line whose end has not come yet. */
  let held = '';
  /** Whether the last line ended with a carriage return, to which a line feed may belong. */
  let isReturned = false;
  return {
    push(bytes) {
      const decoded = decoder.decode(bytes, { stream: true });
      if (decoded === '') return;
      const text = isReturned && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
      isReturned = decoded.endsWith('\r');
      // Most of a very large event has no line end at all, and searching forwards is much faster.
      const hasReturns = text.includes('\r');
      if (hasReturns || text.includes('\n')) {
        const lines = (held + text).split(hasReturns ? /\r\n|\r|\n/ : '\n');
        held = lines.pop() ?? '';
        for (const line of lines) take(line, false);
      } else held += text;
      if (held.length > maxEventBytes) throw tooLarge(maxEventBytes);
    },
    end() {
      take(held + decoder.decode(), true);
    },
  };
}
