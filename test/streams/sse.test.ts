import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EventTaker, serverEvents } from '../../src/streams/events.ts';
import { cutBytes } from '../helpers/sse.ts';

type Plain = [name: string | undefined, data: string];

/** Reads text that arrives in pieces of `size` bytes. */
function read(text: string | Uint8Array[], size = 65_536, maxEventBytes = 1_000_000) {
  const plain: Plain[] = [];
  const isOpen: boolean[] = [];
  const lines: string[] = [];
  const taker: EventTaker = {
    take(data, name, open) {
      plain.push([name, data]);
      isOpen.push(open);
    },
    takeStrayLine: (line) => void lines.push(line),
  };
  const reader = serverEvents(taker, maxEventBytes);
  for (const piece of typeof text === 'string' ? cutBytes(text, size) : text) reader.push(piece);
  reader.end();
  return { plain, isOpen, stray: lines.join('\n') };
}

const sizes = [1, 2, 3, 7, 4096] as const;

describe('server-sent events', () => {
  test.each(sizes)(
    'server-sent events are read with every line ending, in chunks of %d bytes',
    (size) => {
      for (const end of ['\n', '\r\n', '\r']) {
        const text = ['data: {"a":1}', '', 'event: x', 'data:b', 'data: c', '', ''].join(end);

        expect(read(text, size).plain).toEqual([
          [undefined, '{"a":1}'],
          ['x', 'b\nc'],
        ]);
      }
    },
  );

  test.each(sizes)(
    'server-sent events keep multibyte characters, in chunks of %d bytes',
    (size) => {
      const data = 'Grüße 世界 🌍 \u2028 ﷽';

      expect(read(`data: ${data}\n\n`, size).plain).toEqual([[undefined, data]]);
    },
  );

  test.each(sizes)('server-sent events skip a byte order mark, in chunks of %d bytes', (size) => {
    expect(read('\uFEFFdata: a\n\n', size).plain).toEqual([[undefined, 'a']]);
  });

  test.each(sizes)(
    'server-sent events skip comments, ids and retries, in chunks of %d bytes',
    (size) => {
      const text = ': PING\n\nid: 4\n\n:\n\nretry: 10\n\ndata: a\n\n: keepalive\n\n';

      expect(read(text, size)).toEqual({ plain: [[undefined, 'a']], isOpen: [false], stray: '' });
    },
  );

  test.each(['data: a', 'data: a\n', 'data: a\r', 'data: a\r\n'])(
    'the last one needs no blank line: %j',
    (text) => {
      for (const size of sizes) {
        expect(read(text, size)).toMatchObject({ plain: [[undefined, 'a']], isOpen: [true] });
      }
    },
  );

  test.each(['\n', '\r\n', '\r'])(
    'server-sent events are yielded with their last byte: %j',
    (end) => {
      const taken: string[] = [];
      const reader = serverEvents({
        take: (data) => void taken.push(data),
        takeStrayLine: () => {},
      });
      const taking = [`data: a${end}`, end.charAt(0), end.slice(1), `data: b${end}`, end.charAt(0)];

      const after = taking.map((text) => {
        reader.push(new TextEncoder().encode(text));
        return taken.join('');
      });

      expect(after).toEqual(['', 'a', 'a', 'a', 'ab']);
    },
  );

  test('server-sent events take linear time with a carriage return among many lines', () => {
    const events = 'data: 1\n\n'.repeat(200_000);
    const [usual, mixed] = [events, `: PING\r\n\r\n${events}`].map((text) => {
      const startedAt = performance.now();
      expect(read(text, text.length).plain).toHaveLength(200_000);
      return performance.now() - startedAt;
    });

    expect(mixed).toBeLessThan(10 * Number(usual) + 1_000);
  });

  test('server-sent events with empty data are events', () => {
    expect(read('data:\n\ndata: \n\ndata\n\n').plain).toEqual([
      [undefined, ''],
      [undefined, ''],
      [undefined, ''],
    ]);
  });

  test('server-sent events are the same wherever the bytes are split', () => {
    const line = fc.constantFrom('\n', '\r\n', '\r');
    const word = fc
      .string({ unit: 'grapheme', maxLength: 12 })
      .filter((text) => !/[\r\n]/.test(text));
    const event = fc.record({
      name: fc.option(fc.constantFrom('error', 'message', 'ping'), { nil: undefined }),
      data: fc.array(word, { minLength: 1, maxLength: 3 }),
      comment: fc.boolean(),
      space: fc.boolean(),
    });
    const stream = fc.tuple(fc.array(event, { maxLength: 8 }), line, fc.boolean());

    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 40 }), ([events, end, mark], cuts) => {
        const expected = events.map(({ name, data }): Plain => [name, data.join('\n')]);
        const text = events
          .map(({ name, data, comment, space }) => {
            const gap = space ? ' ' : '';
            const lines = [
              ...(comment ? [`:${gap}PING`, ''] : []),
              ...(name === undefined ? [] : [`event:${gap}${name}`]),
              // A space that belongs to the data needs one more in front of it.
              ...data.map((part) => `data:${space || part.startsWith(' ') ? ' ' : ''}${part}`),
              '',
              '',
            ];
            return lines.join(end);
          })
          .join('');
        const bytes = new TextEncoder().encode((mark ? '\uFEFF' : '') + text);
        const pieces: Uint8Array[] = [];
        let start = 0;
        for (const cut of cuts) {
          pieces.push(bytes.slice(start, start + cut));
          start = Math.min(bytes.length, start + cut);
        }
        pieces.push(bytes.slice(start));

        const result = read(pieces);

        expect(result.plain).toEqual(expected);
        expect(result.stray).toBe('');
      }),
      { numRuns: 300 },
    );
  });
});

describe('text outside events', () => {
  const error = '{"error":{"message":"Grüße: too long","code":null}}';

  test.each(sizes)('text outside events is kept in any position, in chunks of %d bytes', (size) => {
    expect(read(`: PING\n\n${error}`, size).stray).toBe(error);
    expect(read(`${error}\n`, size).stray).toBe(error);
    expect(read(`data: a\n\n${error}\n\ndata: b\n\n`, size)).toMatchObject({
      plain: [
        [undefined, 'a'],
        [undefined, 'b'],
      ],
      stray: error,
    });
  });

  test.each(sizes)(
    'text outside events is kept over several lines, in chunks of %d bytes',
    (size) => {
      const pretty = JSON.stringify(JSON.parse(error), undefined, 2);

      expect(JSON.parse(read(`data: a\r\n\r\n${pretty}`, size).stray)).toEqual(JSON.parse(error));
    },
  );

  test('text outside events does not include the start of a field', () => {
    for (const text of ['d', 'da', 'dat', 'data', 'event', 'ret', ':', ': PI']) {
      expect(read(`data: a\n\n${text}`).stray).toBe('');
    }
  });
});

describe('maxEventBytes', () => {
  test.each([
    { name: 'in one piece', text: `data: ${'x'.repeat(3_000)}\n\n`, size: 65_536 },
    { name: 'in many pieces', text: `data: ${'x'.repeat(3_000)}\n\n`, size: 100 },
    { name: 'without an end', text: `data: ${'x'.repeat(3_000)}`, size: 100 },
    { name: 'in many lines', text: `${`data: ${'x'.repeat(100)}\n`.repeat(30)}\n`, size: 70 },
    {
      name: 'in characters of several bytes, in one piece',
      text: `data: ${'世'.repeat(800)}\n\n`,
      size: 65_536,
    },
    { name: 'in characters of several bytes', text: `data: ${'世'.repeat(800)}\n\n`, size: 100 },
  ])('rejects a larger event $name', ({ text, size }) => {
    expect(() => read(text, size, 2_000)).toThrow(
      'an event is larger than 2000 bytes (maxEventBytes).',
    );
  });

  test('accepts any number of smaller events', () => {
    const text = `data: ${'x'.repeat(900)}\n\n`.repeat(50);

    for (const size of [64, 1_000, 65_536]) expect(read(text, size, 1_000).plain).toHaveLength(50);
  });
});
