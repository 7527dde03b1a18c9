import { createParser } from 'eventsource-parser';
import { cutLines, type EventFormat, tooLarge } from './lines.ts';

const beginningOfField = /^(?:d|da|dat|e|ev|eve|even|i|r|re|ret|retr)$/;

/** Server-sent events. */
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
