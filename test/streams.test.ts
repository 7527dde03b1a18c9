import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { APIUserAbortError } from '../src/errors/connection-error.ts';
import { GatewayError } from '../src/errors/gateway-error.ts';
import { UnexpectedResponseError } from '../src/errors/response-error.ts';
import { StreamError, StreamTruncatedError } from '../src/errors/stream-error.ts';
import { chatProtocol, chatProtocolFor } from '../src/streams/chat-protocol.ts';
import { collectChatCompletion } from '../src/streams/collect-chat.ts';
import { createStream, Stream, streamFromValues } from '../src/streams/stream.ts';
import type { ChatCompletionChunk } from '../src/types/chat-stream.ts';
import {
  chunk,
  cutBytes,
  encode,
  openResponse,
  readAll,
  readStream,
  respond,
  usage,
  usageChunk,
  type Watched,
  watchedContext,
  wholeAnswer,
  wholeText,
} from './helpers/sse.ts';

function open(text: string | Response, watched: Watched = watchedContext()) {
  const response = typeof text === 'string' ? respond(text) : text;
  return createStream(response, watched.context, chatProtocol);
}

function textOf(items: readonly ChatCompletionChunk[]): string {
  return items.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
}

describe('a stream that is whole', () => {
  test.each([1, 2, 7, 4096])('gives every chunk, %d bytes at a time', async (size) => {
    const watched = watchedContext();

    const result = await readStream(open(respond(cutBytes(wholeAnswer, size)), watched));

    expect(result.error).toBeUndefined();
    expect(textOf(result.items)).toBe(wholeText);
    expect(result.verdict).toBe('complete');
    expect(result.usage).toEqual(usage);
    expect(result.partial?.choices[0]?.message.content).toBe(wholeText);
    expect(watched.releases).toBe(1);
    expect(watched.warnings).toEqual([]);
  });

  test('trap 1: has chunks without choices', async () => {
    const { items } = await readStream(open(wholeAnswer));

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
  ])('rule 24: is complete %s', async (_, text) => {
    const result = await readStream(open(text));

    expect(result.error).toBeUndefined();
    expect(result.verdict).toBe('complete');
  });

  test('is complete when the connection breaks behind its finish reason', async () => {
    const pieces = cutBytes(encode(chunk({ content: 'a' }, 'stop')), 4096);

    const result = await readStream(open(respond(pieces, new TypeError('terminated'))));

    expect(result).toMatchObject({ error: undefined, verdict: 'complete' });
  });

  test('ends at its terminator, although the connection stays open', async () => {
    const { response, send, isCancelled } = openResponse();
    const watched = watchedContext();
    send(wholeAnswer);

    const result = await readStream(open(response, watched));

    expect(result.verdict).toBe('complete');
    expect(watched.releases).toBe(1);
    await expect(isCancelled()).resolves.toBe(true);
  });
});

describe('a stream that is not whole', () => {
  const started = encode(chunk({ role: 'assistant' }), chunk({ content: 'Hello' }));
  const endings = [
    [
      'trap 2: a terminator without a finish reason',
      `${started}data: [DONE]\n\n`,
      'no_finish_reason',
    ],
    ['no terminator', started, 'no_terminator'],
    ['an event that is cut', `${started}data: {"choices":[{"ind`, 'truncated'],
    ['an empty finish reason', started + encode(chunk({}, ''), '[DONE]'), 'no_finish_reason'],
    ['only a terminator', 'data: [DONE]\n\n', 'truncated'],
    ['only usage', encode(usageChunk, '[DONE]'), 'truncated'],
    ['only heartbeats', ': PING\n\n: PING\n\n', 'truncated'],
    ['nothing', '', 'truncated'],
    [
      'one of two choices',
      encode(chunk({ content: 'a' }, 'stop'), {
        ...chunk({}),
        choices: [{ index: 1, delta: { content: 'b' }, finish_reason: null }],
      }),
      'no_terminator',
    ],
  ] as const;

  test.each(endings)('throws: %s', async (_, text, verdict) => {
    const watched = watchedContext();

    const result = await readStream(open(text, watched));

    expect(result.error).toBeInstanceOf(StreamTruncatedError);
    expect(result.error).toMatchObject({
      verdict,
      outcome: 'unknown',
      status: 200,
      requestID: 'request-1',
      callId: 'call-1',
      partial: result.partial,
      usage: result.usage,
    });
    expect(result.verdict).toBe(verdict);
    expect(watched.releases).toBe(1);
  });

  test.each(endings)('onIncomplete "warn" warns: %s', async (_, text, verdict) => {
    const watched = watchedContext({ onIncomplete: 'warn' });

    const result = await readStream(open(text, watched));

    expect(result).toMatchObject({ error: undefined, verdict });
    expect(watched.warnings).toHaveLength(1);
  });

  test.each(endings)('onIncomplete "allow" is silent: %s', async (_, text, verdict) => {
    const watched = watchedContext({ onIncomplete: 'allow' });

    const result = await readStream(open(text, watched));

    expect(result).toMatchObject({ error: undefined, verdict });
    expect(watched.warnings).toEqual([]);
  });

  test('gives what had arrived before it throws', async () => {
    const result = await readStream(open(started));

    expect(textOf(result.items)).toBe('Hello');
    expect(result.error).toMatchObject({
      partial: { choices: [{ message: { role: 'assistant', content: 'Hello' } }] },
    });
  });

  test('throws with the cause when the connection breaks', async () => {
    const failure = new TypeError('terminated');

    const result = await readStream(open(respond(cutBytes(started, 4096), failure)));

    expect(result.verdict).toBe('truncated');
    expect(result.error).toMatchObject({ verdict: 'truncated', cause: failure });
    expect(textOf(result.items)).toBe('Hello');
  });

  test('passes an error of this package on as it is', async () => {
    const failure = new GatewayError('Too slow.', { outcome: 'unknown' });

    const result = await readStream(open(respond(cutBytes(started, 4096), failure)));

    expect(result.error).toBe(failure);
  });

  test('with fewer choices than asked for and no terminator throws', async () => {
    const one = encode(chunk({ content: 'a' }, 'stop'));

    const cut = await readStream(
      createStream(respond(one), watchedContext().context, chatProtocolFor(2)),
    );
    const whole = await readStream(
      createStream(respond(`${one}data: [DONE]\n\n`), watchedContext().context, chatProtocolFor(2)),
    );

    expect(cut.verdict).toBe('no_terminator');
    expect(whole.verdict).toBe('complete');
  });

  test('cut anywhere throws or gives the whole text', async () => {
    const bytes = new TextEncoder().encode(wholeAnswer);
    const finishEnds = new TextEncoder().encode(
      wholeAnswer.slice(0, wholeAnswer.indexOf('"finish_reason":"stop"}]}') + 25),
    ).length;

    for (let length = 0; length < bytes.length; length++) {
      const cut = await readStream(open(respond([bytes.slice(0, length)])));
      const broken = await readStream(
        open(respond(cutBytes(wholeAnswer, length || 1).slice(0, 1), new TypeError('terminated'))),
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

describe('an error inside a stream', () => {
  const shapes = [
    ['an error object', encode({ error: { message: 'Too long', type: 'x', code: 'context' } })],
    ['a null code', encode({ error: { message: 'Too long', type: '', param: null, code: null } })],
    [
      'a numeric code',
      encode({ error: { message: 'Too long', code: 503, status: 'UNAVAILABLE' } }),
    ],
    ['an error string', encode({ error: 'Too long' })],
    ['code and message', encode({ code: 'context', message: 'Too long' })],
    ['message and type', encode({ message: 'Too long', type: 'x', param: '', code: '' })],
    [
      'a typed error',
      encode({ type: 'error', error: { type: 'overloaded', message: 'Too long' } }),
    ],
    ['an event named error', 'event: error\ndata: {"message":"Too long"}\n\n'],
    ['an event named error with text', 'event: error\ndata: Too long\n\n'],
    ['an error in a list', encode([{ error: { code: 400, message: 'Too long' } }])],
    ['an error next to choices', encode({ ...chunk({}), error: { message: 'Too long' } })],
    ['success: false', encode({ success: false, message: 'Too long' })],
    ['JSON in the message', encode({ error: { message: '{"error":{"message":"Too long"}}' } })],
    ['data that is no JSON', 'data: Too long\n\n'],
    ['data that is JSON text', 'data: "Too long"\n\n'],
    ['a named object', encode({ object: 'error', message: 'Too long', type: 'BadRequestError' })],
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

  test.each(shapes)('is thrown wherever it stands: %s', async (_, error) => {
    for (const text of [
      error,
      `${error}data: [DONE]\n\n`,
      before + error + after,
      before + after + error,
      `: PING\n\n${error}`,
    ]) {
      for (const size of [5, 65_536]) {
        const watched = watchedContext();
        const result = await readStream(open(respond(cutBytes(text, size)), watched));

        expect(result.error).toBeInstanceOf(StreamError);
        expect(result.error).not.toBeInstanceOf(StreamTruncatedError);
        expect(String(result.error)).toContain('Too long');
        expect(result.verdict).toBe('truncated');
        expect(watched.releases).toBe(1);
      }
    }
  });

  test.each(bare)('trap 5: is thrown wherever it stands: %s', async (_, error) => {
    for (const text of [error, `: PING\n\n${error}`, before + error, `${before}${after}${error}`]) {
      for (const size of [5, 65_536]) {
        const result = await readStream(open(respond(cutBytes(text, size))));

        expect(result.error).toBeInstanceOf(StreamError);
        expect(String(result.error)).toContain('Too long');
      }
    }
  });

  test.each([
    ['text', 'upstream connect error\n', 'upstream connect error'],
    ['text without a line end', 'upstream connect error', 'upstream connect error'],
    ['a page', '<html><title>502 Bad Gateway</title></html>', '502 Bad Gateway'],
    ['JSON that says nothing', '{"ok":false}', '{"ok":false}'],
  ])('is made of %s in place of events', async (_, text, message) => {
    for (const stream of [open(text), open(before + text)]) {
      const { error } = await readStream(stream);

      expect(error).toBeInstanceOf(StreamError);
      expect(error).not.toBeInstanceOf(StreamTruncatedError);
      expect(String(error)).toContain(message);
    }
  });

  test('carries what the gateway said and what had arrived', async () => {
    const error = { message: 'Too long', type: 'invalid', code: 429, param: 'messages' };

    const result = await readStream(open(before + encode(usageChunk, { error })));

    expect(result.error).toMatchObject({
      code: '429',
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

  test('causes no unhandled rejection when nobody reads the stream', async () => {
    const watched = watchedContext();

    open(encode({ error: 'no' }), watched);
    open(respond([], new TypeError('terminated')), watched);
    await new Promise<void>((resolve) => setImmediate(resolve));

    expect(watched.releases).toBe(2);
  });

  test('is not made of news with a type and a message', async () => {
    const news = { type: 'status', message: 'thinking' };

    const result = await readStream(open(encode(news, chunk({ content: 'a' }, 'stop'))));

    expect(result).toMatchObject({ error: undefined, verdict: 'complete' });
  });

  test('is not made of an error field with nothing in it', async () => {
    for (const error of [null, '', {}]) {
      const result = await readStream(open(encode({ ...chunk({}, 'stop'), error })));

      expect(result).toMatchObject({ error: undefined, verdict: 'complete' });
    }
  });

  test('that a gateway has emptied is an error when nothing follows it', async () => {
    const hollow = {
      id: '',
      object: '',
      created: 0,
      model: '',
      system_fingerprint: null,
      choices: null,
      usage: null,
    };

    const failed = await readStream(open(encode(chunk({ content: 'a' }), hollow, '[DONE]')));
    const whole = await readStream(open(encode(hollow, chunk({ content: 'a' }, 'stop'), '[DONE]')));

    expect(failed.error).toBeInstanceOf(StreamError);
    expect(failed.error).not.toBeInstanceOf(StreamTruncatedError);
    expect(whole).toMatchObject({ error: undefined, verdict: 'complete' });
  });

  test('is thrown whatever onIncomplete says', async () => {
    const watched = watchedContext({ onIncomplete: 'allow' });

    const result = await readStream(open(encode({ error: 'no' }), watched));

    expect(result.error).toBeInstanceOf(StreamError);
  });

  test('closes the connection', async () => {
    const { response, send, isCancelled } = openResponse();
    const watched = watchedContext();
    send(encode({ error: 'no' }));

    await readStream(open(response, watched));

    await expect(isCancelled()).resolves.toBe(true);
    expect(watched.context.controller.signal.aborted).toBe(true);
  });

  test('is an event that is larger than maxEventBytes', async () => {
    const watched = watchedContext({ maxEventBytes: 1_024 });

    const result = await readStream(open(encode(chunk({ content: 'x'.repeat(2_000) })), watched));

    expect(result.error).toBeInstanceOf(StreamError);
    expect(String(result.error)).toContain('maxEventBytes');
  });
});

describe('rule 25: answers of the other kind', () => {
  const completion = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hi',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  };

  test('a whole completion in the place of a stream is one chunk', async () => {
    for (const stream of [
      open(JSON.stringify(completion)),
      open(JSON.stringify(completion, undefined, 2)),
      streamFromValues(chatProtocol.fromAnswer(completion), watchedContext().context, chatProtocol),
    ]) {
      const result = await readStream(stream);

      expect(result.items).toHaveLength(1);
      expect(result.items[0]).toMatchObject({
        object: 'chat.completion.chunk',
        choices: [{ delta: { content: 'Hi', tool_calls: [{ index: 0, id: 'c1' }] } }],
        usage,
      });
      expect(result.verdict).toBe('complete');
      expect(result.partial).toMatchObject(completion);
    }
  });

  test('a whole completion needs no finish reason', async () => {
    const answer = { ...completion, choices: [{ message: { content: 'Hi' } }] };
    const values = chatProtocol.fromAnswer(answer);

    for (const stream of [
      open(JSON.stringify(answer)),
      streamFromValues(values, watchedContext().context, chatProtocol),
    ]) {
      expect(await readStream(stream)).toMatchObject({ error: undefined, verdict: 'complete' });
    }
  });

  test('a value that is no completion gives no events', () => {
    expect(chatProtocol.fromAnswer({ ok: true })).toEqual([]);
  });

  test('an event stream in the place of a completion is put together', async () => {
    const watched = watchedContext();

    const whole = await collectChatCompletion(respond(wholeAnswer), watched.context);

    expect(whole).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant', content: wholeText }, finish_reason: 'stop' }],
      usage,
    });
    expect(watched.releases).toBe(1);
  });

  test('an event stream that is cut is an error', async () => {
    const cut = encode(chunk({ content: 'Hel' }), '[DONE]');

    await expect(
      collectChatCompletion(respond(cut), watchedContext().context),
    ).rejects.toMatchObject({ verdict: 'no_finish_reason' });
    await expect(
      collectChatCompletion(respond(''), watchedContext({ onIncomplete: 'allow' }).context),
    ).rejects.toBeInstanceOf(StreamTruncatedError);
  });
});

/** A stream that has begun and does not end by itself. */
function openEndless() {
  const body = openResponse();
  const caller = new AbortController();
  const watched = watchedContext({ signal: caller.signal });
  body.send(encode(chunk({ content: 'Hel' })));
  return { ...body, caller, watched, stream: open(body.response, watched) };
}

describe('rule 26: leaving a stream', () => {
  test('break closes the connection and the loop ends quietly', async () => {
    const { stream, watched, isCancelled } = openEndless();

    for await (const { choices } of stream) {
      expect(choices[0]?.delta.content).toBe('Hel');
      break;
    }

    await expect(isCancelled()).resolves.toBe(true);
    expect(stream.controller.signal.aborted).toBe(true);
    expect(stream.verdict).toBe('truncated');
    expect(stream.partial?.choices[0]?.message.content).toBe('Hel');
    expect(watched.releases).toBe(1);
  });

  test.each([
    ['close()', (stream: Stream<ChatCompletionChunk>) => stream.close()],
    ['controller.abort()', (stream: Stream<ChatCompletionChunk>) => stream.controller.abort()],
  ])('%s ends a loop that waits, quietly', async (_, leave) => {
    const { stream, watched, isCancelled } = openEndless();
    const reading = readAll(stream);
    await new Promise<void>((resolve) => setImmediate(resolve));

    leave(stream);
    const { items, error } = await reading;

    expect(error).toBeUndefined();
    expect(textOf(items)).toBe('Hel');
    await expect(isCancelled()).resolves.toBe(true);
    expect(watched.releases).toBe(1);
  });

  test('an aborted signal throws with what had arrived', async () => {
    const { stream, watched, caller, isCancelled } = openEndless();
    const reading = readAll(stream);
    await new Promise<void>((resolve) => setImmediate(resolve));

    caller.abort('enough');
    const { items, error } = await reading;

    expect(textOf(items)).toBe('Hel');
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toMatchObject({
      cause: 'enough',
      partial: { choices: [{ message: { content: 'Hel' } }] },
    });
    await expect(isCancelled()).resolves.toBe(true);
    expect(watched.releases).toBe(1);
  });

  test('a signal that was aborted before throws at once', async () => {
    const watched = watchedContext({ signal: AbortSignal.abort() });

    const { items, error } = await readAll(open(wholeAnswer, watched));

    expect(items).toEqual([]);
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(watched.releases).toBe(1);
  });

  test('takes its listeners off the signal', async () => {
    const signals = { added: 0, removed: 0 };
    const { signal } = new AbortController();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...parameters: Parameters<typeof add>) => {
      signals.added += 1;
      add(...parameters);
    };
    signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
      signals.removed += 1;
      remove(...parameters);
    };

    await readAll(open(wholeAnswer, watchedContext({ signal })));

    expect(signals.added).toBe(1);
    expect(signals.removed).toBe(1);
  });

  test('await using closes it', async () => {
    const { stream, isCancelled } = openEndless();

    await (async () => {
      await using held = stream;
      expect(held.verdict).toBeUndefined();
    })();

    await expect(isCancelled()).resolves.toBe(true);
  });

  test('an error in the loop closes it', async () => {
    const { stream, isCancelled } = openEndless();

    await expect(
      (async () => {
        for await (const _ of stream) throw new Error('mine');
      })(),
    ).rejects.toThrow('mine');

    await expect(isCancelled()).resolves.toBe(true);
  });

  test('leaving after the end changes nothing', async () => {
    const watched = watchedContext();
    const stream = open(wholeAnswer, watched);
    await readAll(stream);

    stream.close();
    stream.controller.abort();

    expect(stream.verdict).toBe('complete');
    expect(watched.releases).toBe(1);
  });
});

describe('reading a stream', () => {
  test('twice throws an error that says what to do', async () => {
    const stream = open(wholeAnswer);
    await readAll(stream);

    expect(() => stream[Symbol.asyncIterator]()).toThrow('tee()');
    expect(() => stream.tee()).toThrow(GatewayError);
    expect(() => stream.toReadableStream()).toThrow(GatewayError);
  });

  test('with calls of next() that overlap keeps the order', async () => {
    const iterator = open(respond(cutBytes(wholeAnswer, 40)))[Symbol.asyncIterator]();

    const results = await Promise.all(Array.from({ length: 8 }, () => iterator.next()));

    expect(results.map(({ done }) => done)).toEqual([
      ...Array.from({ length: 5 }, () => false),
      ...Array.from({ length: 3 }, () => true),
    ]);
    const items = results.flatMap(({ value }) => (value === undefined ? [] : [value]));
    expect(textOf(items)).toBe(wholeText);
  });

  test('fails once and is over from then on', async () => {
    const iterator = open(encode({ error: 'no' }))[Symbol.asyncIterator]();

    await expect(iterator.next()).rejects.toBeInstanceOf(StreamError);
    await expect(iterator.next()).resolves.toEqual({ done: true, value: undefined });
  });

  test('takes no more from the network than one read ahead', async () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls += 1;
          controller.enqueue(new TextEncoder().encode(encode(chunk({ content: 'a' }))));
        },
      },
      { highWaterMark: 0 },
    );
    const iterator = open(new Response(body))[Symbol.asyncIterator]();

    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(pulls).toBe(1);
    await iterator.next();
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(pulls).toBe(1);
    await iterator.next();
    expect(pulls).toBe(2);
    await iterator.return?.();
  });

  test('strictly throws at the chunk that differs', async () => {
    const { context, issues } = watchedContext();
    const check = { ...context.check, validation: 'strict' } as const;
    const watched = watchedContext({ check });

    const result = await readStream(
      open(encode(chunk({ content: 'a' }), chunk({ content: 3 })), watched),
    );

    expect(textOf(result.items)).toBe('a');
    expect(result.error).toBeInstanceOf(UnexpectedResponseError);
    expect(result.error).toMatchObject({
      issues: [{ path: 'choices[0].delta.content', received: 'number' }],
      data: { choices: [{ message: { content: 'a' } }] },
    });
    expect(issues).toHaveLength(1);
  });
});

describe('tee()', () => {
  test('gives both branches everything, at their own pace', async () => {
    const watched = watchedContext();
    const [left, right] = open(respond(cutBytes(wholeAnswer, 30)), watched).tee();

    const first = await readStream(left);
    const second = await readStream(right);

    for (const result of [first, second]) {
      expect(textOf(result.items)).toBe(wholeText);
      expect(result.verdict).toBe('complete');
      expect(result.usage).toEqual(usage);
    }
    expect(watched.releases).toBe(1);
  });

  test('throws in both branches', async () => {
    const [left, right] = open(encode(chunk({ content: 'a' }), '[DONE]')).tee();

    const results = await Promise.all([readStream(left), readStream(right)]);

    for (const { error, items, verdict } of results) {
      expect(error).toBeInstanceOf(StreamTruncatedError);
      expect(textOf(items)).toBe('a');
      expect(verdict).toBe('no_finish_reason');
    }
  });

  test('closes the connection when both branches are left', async () => {
    const { response, send, isCancelled } = openResponse();
    send(encode(chunk({ content: 'a' }), chunk({ content: 'b' })));
    const [left, right] = open(response).tee();

    for await (const _ of left) break;
    const iterator = right[Symbol.asyncIterator]();
    expect(textOf([(await iterator.next()).value ?? chunkOfNothing])).toBe('a');
    expect(textOf([(await iterator.next()).value ?? chunkOfNothing])).toBe('b');
    await iterator.return?.();

    await expect(isCancelled()).resolves.toBe(true);
  });

  test('a branch that nobody reads causes no unhandled rejection', async () => {
    const [left] = open(encode({ error: 'no' })).tee();

    expect((await readAll(left)).error).toBeInstanceOf(StreamError);
  });
});

const chunkOfNothing: ChatCompletionChunk = {
  id: '',
  object: '',
  created: 0,
  model: '',
  choices: [],
};

describe('toReadableStream() and fromReadableStream()', () => {
  test.each([1, 7, 4096])('give the same chunks, %d bytes at a time', async (size) => {
    const direct = await readAll(open(wholeAnswer));
    const lines = await new Response(open(wholeAnswer).toReadableStream()).text();

    const copy = Stream.fromReadableStream<ChatCompletionChunk>(
      respond(cutBytes(lines, size)).body ?? new ReadableStream(),
    );
    const result = await readStream(copy);

    expect(lines.split('\n')).toHaveLength(direct.items.length + 1);
    expect(result.items).toEqual(direct.items);
    expect(result.verdict).toBe('complete');
  });

  test('fail where a loop throws', async () => {
    const readable = open(encode(chunk({ content: 'a' }), '[DONE]')).toReadableStream();

    const { error, items } = await readAll(Stream.fromReadableStream(readable));

    expect(items).toHaveLength(1);
    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(error).toMatchObject({ verdict: 'no_finish_reason' });
  });

  test('a line that is cut throws', async () => {
    const { error, verdict } = await readStream(
      Stream.fromReadableStream(respond('{"a":1}\n{"a":').body ?? new ReadableStream()),
    );

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(verdict).toBe('truncated');
  });

  test('take values of any kind', async () => {
    const text = '1\n"[DONE]"\n\n{"error":"mine"}\n[2]\n';

    const { items } = await readAll(
      Stream.fromReadableStream(respond(text).body ?? new ReadableStream()),
    );

    expect(items).toEqual([1, '[DONE]', { error: 'mine' }, [2]]);
  });

  test('cancelling closes the connection', async () => {
    const { response, send, isCancelled } = openResponse();
    send(encode(chunk({ content: 'a' })));
    const reader = open(response).toReadableStream().getReader();
    await reader.read();

    await reader.cancel();

    await expect(isCancelled()).resolves.toBe(true);
  });

  test('leaving the copy aborts its controller', async () => {
    const controller = new AbortController();
    const { response, send, isCancelled } = openResponse();
    send('{"a":1}\n');
    const body = response.body ?? new ReadableStream();

    for await (const _ of Stream.fromReadableStream(body, controller)) break;

    expect(controller.signal.aborted).toBe(true);
    await expect(isCancelled()).resolves.toBe(true);
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

  test('reads the same wherever its bytes are cut', async () => {
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

          const one = await readStream(open(respond([bytes])));
          const many = await readStream(open(respond(pieces)));

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
