import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { GatewayError, StreamTruncatedError } from '../../src/index.ts';
import { chatProtocolFor } from '../../src/resources/chat/protocol.ts';
import {
  chunk,
  createStream,
  cutBytes,
  encode,
  openChat,
  openResponse,
  readStream,
  respond,
  textOf,
  usage,
  usageChunk,
  watchedContext,
  wholeAnswer,
  wholeText,
} from '../helpers/sse.ts';

describe('a complete stream', () => {
  test.each([1, 2, 7, 4096])(
    'a complete stream yields every chunk, in network chunks of %d bytes',
    async (size) => {
      const watched = watchedContext();

      const result = await readStream(openChat(respond(cutBytes(wholeAnswer, size)), watched));

      expect(result.error).toBeUndefined();
      expect(textOf(result.items)).toBe(wholeText);
      expect(result.verdict).toBe('complete');
      expect(result.usage).toEqual(usage);
      expect(result.partial?.choices[0]?.message.content).toBe(wholeText);
      expect(watched.releases).toBe(1);
      expect(watched.warnings).toEqual([]);
    },
  );

  test('a complete stream ignores events after its terminator', async () => {
    const late = encode(chunk({ content: 'late' }), { error: { message: 'Late', code: 'busy' } });

    const result = await readStream(openChat(wholeAnswer + late));

    expect(result.error).toBeUndefined();
    expect(textOf(result.items)).toBe(wholeText);
    expect(result.verdict).toBe('complete');
  });

  test('a complete stream may have chunks without choices', async () => {
    const { items } = await readStream(openChat(wholeAnswer));

    expect(items.at(-1)?.choices).toEqual([]);
    expect(items.at(-1)?.usage).toEqual(usage);
  });

  test.each([
    ['without a terminator', encode(chunk({ content: 'a' }), chunk({}, 'stop'))],
    ['without a blank line', encode(chunk({ content: 'a' }, 'stop')).trimEnd()],
    [
      'with the terminator in two places',
      encode('[DONE]', chunk({ content: 'a' }, 'stop'), '[DONE]'),
    ],
    ['with empty data', `data:\n\n${encode(chunk({ content: 'a' }, 'stop'))}data: \n\n`],
    ['with pings', `event: ping\ndata: {}\n\n${encode({ type: 'ping' }, chunk({}, 'stop'))}`],
    ['with a ping that is not JSON', `event: ping\ndata: now\n\n${encode(chunk({}, 'stop'))}`],
    ['with data that says nothing', `data: null\n\ndata: 1\n\n${encode(chunk({}, 'stop'))}`],
    ['with a late ping of text', `${encode(chunk({}, 'stop'))}OK\n`],
    ['cut within its terminator', `${encode(chunk({}, 'stop'))}data: [DO`],
  ])('a stream is complete %s', async (_, text) => {
    const result = await readStream(openChat(text));

    expect(result.error).toBeUndefined();
    expect(result.verdict).toBe('complete');
  });

  test('a stream is complete if the connection breaks after its finish reason', async () => {
    const pieces = cutBytes(encode(chunk({ content: 'a' }, 'stop')), 4096);

    const result = await readStream(openChat(respond(pieces, new TypeError('terminated'))));

    expect(result).toMatchObject({ error: undefined, verdict: 'complete' });
  });

  test('a complete stream ends at its terminator, even if the connection stays open', async () => {
    const { response, send, isCancelled } = openResponse();
    const watched = watchedContext();
    send(wholeAnswer);

    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());

    const result = await readStream(openChat(response, watched));
    await vi.runAllTimersAsync();

    expect(result.verdict).toBe('complete');
    expect(watched.releases).toBe(1);
    await expect(isCancelled()).resolves.toBe(true);
  });
});

describe('a truncated stream', () => {
  const started = encode(chunk({ role: 'assistant' }), chunk({ content: 'Hello' }));

  test('a truncated stream yields the received chunks before it throws', async () => {
    const result = await readStream(openChat(started));

    expect(textOf(result.items)).toBe('Hello');
    expect(result.error).toMatchObject({
      partial: { choices: [{ message: { role: 'assistant', content: 'Hello' } }] },
    });
  });

  test('a truncated stream throws with the cause if the connection breaks', async () => {
    const failure = new TypeError('terminated');

    const result = await readStream(openChat(respond(cutBytes(started, 4096), failure)));

    expect(result.verdict).toBe('truncated');
    expect(result.error).toMatchObject({ verdict: 'truncated', cause: failure });
    expect(textOf(result.items)).toBe('Hello');
  });

  test('a truncated stream throws errors of this package unchanged', async () => {
    const failure = new GatewayError('Too slow.', { outcome: 'unknown' });

    const result = await readStream(openChat(respond(cutBytes(started, 4096), failure)));

    expect(result.error).toBe(failure);
  });

  test('a truncated stream throws with fewer choices than requested and no terminator', async () => {
    const protocol = chatProtocolFor(2);
    const one = encode(chunk({ content: 'a' }, 'stop'));

    const cut = await readStream(createStream(respond(one), watchedContext().context, protocol));
    // Some gateways do not know `n`, and end what they gave all the same.
    const whole = await readStream(
      createStream(respond(`${one}data: [DONE]\n\n`), watchedContext().context, protocol),
    );

    expect(cut.verdict).toBe('no_terminator');
    expect(cut.error).toBeInstanceOf(StreamTruncatedError);
    expect(whole).toMatchObject({ error: undefined, verdict: 'complete' });
  });

  test('truncated anywhere throws or returns the whole text', async () => {
    const bytes = new TextEncoder().encode(wholeAnswer);
    const finishEnds = new TextEncoder().encode(
      wholeAnswer.slice(0, wholeAnswer.indexOf('"finish_reason":"stop"}]}') + 25),
    ).length;

    for (let length = 0; length < bytes.length; length++) {
      const cut = await readStream(openChat(respond([bytes.slice(0, length)])));
      const broken = await readStream(
        openChat(
          respond(cutBytes(wholeAnswer, length || 1).slice(0, 1), new TypeError('terminated')),
        ),
      );

      for (const result of length === 0 ? [cut] : [cut, broken]) {
        if (length < finishEnds) {
          expect(result.error, `cut at ${length}`).toBeInstanceOf(StreamTruncatedError);
        } else {
          expect(result.error, `cut at ${length}`).toBeUndefined();
          expect(textOf(result.items)).toBe(wholeText);
        }
        expect(result.verdict === 'complete').toBe(length >= finishEnds);
      }
    }
  });
});

describe('a stream of any kind', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 20 });
  const event = fc.oneof(
    { weight: 8, arbitrary: text.map((content) => encode(chunk({ content }))) },
    { weight: 1, arbitrary: fc.constant(': PING\n\n') },
    { weight: 1, arbitrary: fc.constant('data:\n\n') },
    { weight: 1, arbitrary: fc.constant(encode(usageChunk)) },
    { weight: 1, arbitrary: fc.constant(encode({ id: '', choices: null })) },
    { weight: 1, arbitrary: fc.constant(encode(chunk({ tool_calls: [{ id: 'c' }] }))) },
  );
  const ending = fc.constantFrom(
    encode(chunk({}, 'stop'), usageChunk, '[DONE]'),
    encode(chunk({}, 'stop')).trimEnd(),
    encode('[DONE]'),
    encode({ error: { message: 'no', code: null } }, '[DONE]'),
    '{"error":{"message":"no"}}',
    'upstream failed',
    'data: {"choices":[{"del',
    '',
  );

  test('a stream of any kind is read the same wherever its bytes are split', async () => {
    const streams = fc.tuple(
      fc.array(event, { maxLength: 6 }),
      ending,
      fc.constantFrom('\n', '\r\n'),
    );

    await fc.assert(
      fc.asyncProperty(
        streams,
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 8 }),
        async ([events, last, lineEnd], sizes) => {
          const whole = (events.join('') + last).replaceAll('\n', lineEnd);
          const bytes = new TextEncoder().encode(whole);
          const pieces: Uint8Array[] = [];
          for (let start = 0, turn = 0; start < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            pieces.push(bytes.slice(start, start + size));
            start += size;
          }

          const one = await readStream(openChat(respond([bytes])));
          const many = await readStream(openChat(respond(pieces)));

          expect(many.items).toEqual(one.items);
          expect(many.verdict).toBe(one.verdict);
          expect(many.partial).toEqual(one.partial);
          expect(String(many.error)).toBe(String(one.error));
        },
      ),
      { numRuns: 200 },
    );
  });
});

test('events that say nothing are not parsed as JSON', async () => {
  const parse = vi.spyOn(JSON, 'parse');
  try {
    const idle = 'data:\n\ndata: \n\ndata: : keepalive\n\ndata: ping\n\n'.repeat(1_000);

    const { items, verdict } = await readStream(openChat(idle + wholeAnswer));

    expect(textOf(items)).toBe(wholeText);
    expect(verdict).toBe('complete');
    expect(parse.mock.calls.length).toBeLessThan(10);
  } finally {
    parse.mockRestore();
  }
});
