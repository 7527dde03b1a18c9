import { describe, expect, test } from 'vitest';
import { StreamError, StreamTruncatedError } from '../../src/index.ts';
import { generateProtocol } from '../../src/resources/generate/accumulator.ts';
import { imageGenProtocol } from '../../src/resources/images/schema.ts';
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
} from '../helpers/sse.ts';

describe('an error inside a stream', () => {
  /** How errors come; test/doors asks for the forms of their JSON. */
  const shapes = [
    ['an error object', encode({ error: { message: 'Too long', type: 'x', code: 'context' } })],
    ['a null code', encode({ error: { message: 'Too long', type: '', param: null, code: null } })],
    ['an event named error', 'event: error\ndata: {"message":"Too long"}\n\n'],
    ['an event named error with text', 'event: error\ndata: Too long\n\n'],
    ['an error in a list', encode([{ error: { code: 400, message: 'Too long' } }])],
    ['an error next to choices', encode({ ...chunk({}), error: { message: 'Too long' } })],
    ['data that is not JSON', 'data: Too long\n\n'],
    ['data that is JSON text', 'data: "Too long"\n\n'],
  ] as const;
  const bare = [
    ['bare JSON', '{"error":{"message":"Too long","code":null}}'],
    ['bare JSON with a line end', '{"error":{"message":"Too long"}}\n'],
    ['bare JSON over lines', JSON.stringify({ error: { message: 'Too long' } }, undefined, 2)],
    ['bare JSON in a list', '[{"error":{"code":400,"message":"Too long"}}]'],
    ['bare JSON between text', 'oops\n{"error":{"message":"Too long"}}\n'],
  ] as const;
  const before = encode(chunk({ content: 'Hel' }));
  const after = encode(chunk({ content: 'lo' }), chunk({}, 'stop'));

  test.each(shapes)(
    'an error inside a stream is thrown at any position in the stream: %s',
    async (_, error) => {
      for (const text of [
        error,
        `${error}data: [DONE]\n\n`,
        before + error + after,
        before + after + error,
        `: PING\n\n${error}`,
      ]) {
        for (const size of [5, 65_536]) {
          const watched = watchedContext();
          const result = await readStream(openChat(respond(cutBytes(text, size)), watched));

          expect(result.error).toBeInstanceOf(StreamError);
          expect(result.error).not.toBeInstanceOf(StreamTruncatedError);
          expect(String(result.error)).toContain('Too long');
          expect(result.verdict).toBe('truncated');
          expect(watched.releases).toBe(1);
        }
      }
    },
  );

  test.each(bare)(
    'an error inside a stream is thrown at any position in the stream: %s',
    async (_, error) => {
      for (const text of [
        error,
        `: PING\n\n${error}`,
        before + error,
        `${before}${after}${error}`,
      ]) {
        for (const size of [1, 5, 65_536]) {
          const result = await readStream(openChat(respond(cutBytes(text, size))));

          expect(result.error).toBeInstanceOf(StreamError);
          expect(String(result.error)).toContain('Too long');
        }
      }
    },
  );

  test.each(bare)(
    'an error inside a stream is thrown between events, before the events that follow: %s',
    async (_, error) => {
      const done = encode('[DONE]');
      for (const [ahead, behind, given] of [
        ['', before + after + done, ''],
        [before, after + done, 'Hel'],
        [before, after, 'Hel'],
        [before + after, done, 'Hello'],
      ] as const) {
        for (const gap of ['\n', '\n\n', '\r\n\r\n', '\r']) {
          for (const size of [1, 5, 65_536]) {
            const watched = watchedContext({ onTruncated: 'allow' });
            const text = ahead + error + gap + behind;

            const result = await readStream(openChat(respond(cutBytes(text, size)), watched));

            expect(result.error).toBeInstanceOf(StreamError);
            expect(String(result.error)).toContain('Too long');
            expect(textOf(result.items)).toBe(given);
            expect(watched.releases).toBe(1);
          }
        }
      }
    },
  );

  test('an error inside a stream is not assumed for text between events of a complete response', async () => {
    for (const text of ['oops\n', '{"ok":true}\n', '{"error":null}\n\n', '[1]\r\n']) {
      const result = await readStream(openChat(before + text + after + encode('[DONE]')));

      expect(result).toMatchObject({ error: undefined, verdict: 'complete' });
      expect(textOf(result.items)).toBe('Hello');
    }
  });

  test.each([
    { name: 'text', text: 'upstream connect error\n', message: 'upstream connect error' },
    {
      name: 'text without a line end',
      text: 'upstream connect error',
      message: 'upstream connect error',
    },
    {
      name: 'a page',
      text: '<html><title>502 Bad Gateway</title></html>',
      message: 'the gateway sent an HTML page (502 Bad Gateway)',
    },
    {
      name: 'a page without a title',
      text: '<html></html>',
      message: 'the gateway sent an HTML page (<html></html>)',
    },
    { name: 'JSON that says nothing', text: '{"ok":false}', message: '{"ok":false}' },
  ])(
    'an error inside a stream is created from $name in place of events',
    async ({ text, message }) => {
      const done = `\n\n${encode('[DONE]')}`;
      for (const around of [text, before + text, text + done, before + text + done]) {
        const stream = openChat(around);
        const { error } = await readStream(stream);

        expect(error).toBeInstanceOf(StreamError);
        expect(error).not.toBeInstanceOf(StreamTruncatedError);
        expect(String(error)).toContain(message);
      }
    },
  );

  test.each([
    ['in one line', `{"a":"${'x'.repeat(3_000)}"}\n`],
    ['over lines', `{\n${'"a":1,\n'.repeat(500)}`],
  ])('an error inside a stream is read up to a limit: %s', async (_, text) => {
    for (const size of [100, 65_536]) {
      const watched = watchedContext({ maxEventBytes: 2_000 });
      const { error } = await readStream(openChat(respond(cutBytes(text, size)), watched));

      expect(String(error)).toContain('an event is larger than 2000 bytes (maxEventBytes).');
    }
  });

  test('an error inside a stream is found after much text', async () => {
    const text = `${'x'.repeat(1_000)}\n`.repeat(100) + encode({ error: 'Too long' }).slice(6);

    const { error } = await readStream(openChat(respond(cutBytes(text, 333))));

    expect(String(error)).toContain('Too long');
  });

  test("an error inside a stream has the gateway's message and the partial response", async () => {
    const error = { message: 'Too long', type: 'invalid', code: 429, param: 'messages' };

    const result = await readStream(openChat(before + encode(usageChunk, { error })));

    expect(result.error).toMatchObject({
      code: 429,
      type: 'invalid',
      param: 'messages',
      error,
      outcome: 'unknown',
      status: 200,
      requestID: 'request-1',
      usage,
      partial: { choices: [{ message: { content: 'Hel' } }] },
    });
    expect(textOf(result.items)).toBe('Hel');
  });

  test('an error inside a stream keeps the usage and text of its event', async () => {
    const error = { message: 'Too long' };
    for (const [event, content] of [
      [{ error, usage }, 'Hel'],
      [{ ...chunk({ content: 'lo' }, 'error'), error, usage }, 'Hello'],
      [{ error, choices: [{ usage, delta: { content: 'lo' } }] }, 'Hello'],
    ] as const) {
      const { error: thrown } = await readStream(openChat(before + encode(event)));

      expect(thrown).toMatchObject({ usage, partial: { choices: [{ message: { content } }] } });
      expect(thrown).toMatchObject({ partial: expect.not.objectContaining({ error }) });
    }
  });

  test('an error inside a stream keeps the usage of a generation', async () => {
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 };
    const text = encode({ error: { code: 503, message: 'Too long' }, usageMetadata });
    const stream = createStream(respond(text), watchedContext().context, generateProtocol);

    expect((await readStream(stream)).error).toMatchObject({ usage: usageMetadata });
  });

  test('an error inside a stream is not an image in a stream of images', async () => {
    const text = encode({ error: { message: 'Too long' }, usage: { total_tokens: 4 } });
    const stream = createStream(respond(text), watchedContext().context, imageGenProtocol(1));

    expect((await readStream(stream)).error).toMatchObject({
      usage: { total_tokens: 4 },
      partial: undefined,
    });
  });

  test('an error inside a stream does not complete the stream, unlike a finish reason', async () => {
    for (const [text, verdict] of [
      [before + encode(chunk({}, 'error'), usageChunk, '[DONE]'), 'no_finish_reason'],
      [before + encode(chunk({}, 'error')), 'no_terminator'],
      [before + encode(chunk({}, 'stop'), chunk({}, 'error')), 'no_terminator'],
    ] as const) {
      const { error, partial } = await readStream(openChat(text));

      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect(error).toMatchObject({ verdict });
      expect(partial?.choices).toMatchObject([{ finish_reason: 'error' }]);
    }
  });

  test('an error inside a stream has the request id of its message if headers cannot be read, as in browsers', async () => {
    const event = encode({ error: { message: 'Too long (request id: r-7)' } });
    const watched = watchedContext({
      describe: () => ({ operation: 'chat.completions.create' }),
    });

    const result = await readStream(openChat(event, watched));

    expect(result.error).toMatchObject({ requestID: 'r-7' });
  });

  test('an error inside a stream causes no unhandled rejection if the stream is not read', async () => {
    const watched = watchedContext();

    openChat(encode({ error: 'no' }), watched);
    openChat(respond([], new TypeError('terminated')), watched);
    await new Promise<void>((resolve) => setImmediate(resolve));

    expect(watched.releases).toBe(2);
  });

  test('an error inside a stream is not assumed for a notice with a type and a message', async () => {
    const news = { type: 'status', message: 'thinking' };

    const result = await readStream(openChat(encode(news, chunk({ content: 'a' }, 'stop'))));

    expect(result).toMatchObject({ error: undefined, verdict: 'complete' });
  });

  test('an error inside a stream is not assumed for an empty error field', async () => {
    for (const error of [null, '', {}]) {
      const result = await readStream(openChat(encode({ ...chunk({}, 'stop'), error })));

      expect(result).toMatchObject({ error: undefined, verdict: 'complete' });
    }
  });

  test('an error without content is an error if nothing follows it', async () => {
    const hollow = {
      id: '',
      object: '',
      created: 0,
      model: '',
      system_fingerprint: null,
      choices: null,
      usage: null,
    };

    const failed = await readStream(openChat(encode(chunk({ content: 'a' }), hollow, '[DONE]')));
    const whole = await readStream(
      openChat(encode(hollow, chunk({ content: 'a' }, 'stop'), '[DONE]')),
    );

    expect(failed.error).toBeInstanceOf(StreamError);
    expect(failed.error).not.toBeInstanceOf(StreamTruncatedError);
    expect(whole).toMatchObject({ error: undefined, verdict: 'complete' });
  });

  test('an error inside a stream is thrown with every onTruncated', async () => {
    const watched = watchedContext({ onTruncated: 'allow' });

    const result = await readStream(openChat(encode({ error: 'no' }), watched));

    expect(result.error).toBeInstanceOf(StreamError);
  });

  test('an error inside a stream closes the connection', async () => {
    const { response, send, isCancelled } = openResponse();
    const watched = watchedContext();
    send(encode({ error: 'no' }));

    await readStream(openChat(response, watched));

    await expect(isCancelled()).resolves.toBe(true);
    expect(watched.context.controller.signal.aborted).toBe(true);
  });

  test('an error inside a stream is thrown for an event larger than maxEventBytes', async () => {
    const watched = watchedContext({ maxEventBytes: 1_024 });

    const result = await readStream(
      openChat(encode(chunk({ content: 'x'.repeat(2_000) })), watched),
    );

    expect(result.error).toBeInstanceOf(StreamError);
    expect(String(result.error)).toContain('maxEventBytes');
  });
});
