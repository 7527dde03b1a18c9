import { describe, expect, test, vi } from 'vitest';
import {
  APIUserAbortError,
  ChatCompletionStream,
  GatewayError,
  InvalidInputError,
  type Stream,
  StreamError,
  StreamTruncatedError,
} from '../../../src/index.ts';
import { ChatRun } from '../../../src/resources/chat/runs/run.ts';
import { chatProtocolFor } from '../../../src/resources/chat/protocol.ts';
import type {
  ChatCompletionChunk,
  ChatCompletionStreamEvents,
} from '../../../src/resources/chat/types.ts';
import type { ChatCompletionMessageParam } from '../../../src/resources/chat/params.ts';
import {
  chunk,
  createStream,
  encode,
  openResponse,
  readAll,
  respond,
  type Watched,
  usage,
  watchedContext,
  wholeAnswer,
  wholeText,
} from '../../helpers/sse.ts';

const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hi' }];

/** A helper over a stream of this text. */
function help(
  text: string | Response,
  watched: Watched = watchedContext(),
): ChatCompletionStream<unknown> {
  const response = typeof text === 'string' ? respond(text) : text;
  return open((signal) =>
    Promise.resolve(createStream(response, { ...watched.context, signal }, chatProtocolFor(1))),
  );
}

/** A helper over what a request gives. */
function open(
  request: (signal: AbortSignal) => Promise<Stream<ChatCompletionChunk>>,
): ChatCompletionStream<unknown> {
  const run = new ChatRun<unknown>(messages);
  run.start(async () => {
    await run.read(request(run.controller.signal));
  });
  return new ChatCompletionStream(run);
}

const names = [
  'connect',
  'content',
  'content.delta',
  'content.done',
  'refusal.delta',
  'refusal.done',
  'tool_calls.function.arguments.delta',
  'tool_calls.function.arguments.done',
  'logprobs.content.delta',
  'logprobs.content.done',
  'logprobs.refusal.delta',
  'logprobs.refusal.done',
  'chatCompletion',
  'message',
  'functionToolCall',
  'finalChatCompletion',
  'finalMessage',
  'finalContent',
  'finalFunctionToolCall',
  'totalUsage',
  'error',
  'abort',
  'end',
] as const satisfies readonly (keyof ChatCompletionStreamEvents)[];

/** Notes every event but `chunk`, with a copy of what it brings. */
function record(stream: ChatCompletionStream<unknown>) {
  const events: { name: string; values: unknown[] }[] = [];
  for (const name of names) {
    stream.on(name, (...values: unknown[]) => {
      const isError = values[0] instanceof Error;
      events.push({ name, values: isError ? values : structuredClone(values) });
    });
  }
  return events;
}

/** A piece of a tool call. */
function toolCall(index: number, id: string, name: string, text: string) {
  return chunk({ tool_calls: [{ index, id, function: { name, arguments: text } }] });
}

const token = (text: string) => ({ token: text, bytes: null, logprob: -1, top_logprobs: [] });

describe('the events of a chat completion stream', () => {
  test('the events of a chat completion stream report text as it grows and at the end', async () => {
    const stream = help(wholeAnswer);
    const events = record(stream);

    await stream.done();

    expect(events.map(({ name }) => name)).toEqual([
      'connect',
      'content',
      'content.delta',
      'content',
      'content.delta',
      'content.done',
      'chatCompletion',
      'message',
      'finalChatCompletion',
      'finalMessage',
      'finalContent',
      'totalUsage',
      'end',
    ]);
    const eventValues = (name: string) =>
      events.filter((event) => event.name === name).map(({ values }) => values);
    expect(eventValues('content')).toEqual([
      ['Grüße, ', 'Grüße, '],
      ['世界 🌍', wholeText],
    ]);
    expect(eventValues('content.delta')[1]).toEqual([
      { delta: '世界 🌍', snapshot: wholeText, parsed: null },
    ]);
    expect(eventValues('content.done')).toEqual([[{ content: wholeText, parsed: null }]]);
    expect(eventValues('finalContent')).toEqual([[wholeText]]);
    expect(eventValues('totalUsage')).toEqual([[usage]]);
  });

  test('the events of a chat completion stream contain each chunk with its snapshot', async () => {
    const stream = help(wholeAnswer);
    const texts: (string | null | undefined)[] = [];
    stream.on('chunk', (_, snapshot) => texts.push(snapshot.choices[0]?.message.content));

    await stream.done();

    expect(texts).toEqual(['', 'Grüße, ', wholeText, wholeText, wholeText]);
    expect(stream.currentChatCompletionSnapshot?.choices[0]?.message.content).toBe(wholeText);
  });

  test('the events of a chat completion stream report tool calls one after the other', async () => {
    const stream = help(
      encode(
        chunk({ content: 'So:' }),
        toolCall(0, 'c0', 'f', ''),
        toolCall(0, '', '', '{"a":'),
        toolCall(0, '', '', '1}'),
        toolCall(1, 'c1', 'g', '{"b":'),
        toolCall(1, '', '', '2}'),
        chunk({}, 'tool_calls'),
      ),
    );
    const events = record(stream);

    await stream.done();

    const told = events.filter(({ name }) => /tool_calls|content\.done|unctionToolCall/.test(name));
    expect(told.map(({ name }) => name)).toEqual([
      'content.done',
      ...Array.from({ length: 3 }, () => 'tool_calls.function.arguments.delta'),
      'tool_calls.function.arguments.done',
      ...Array.from({ length: 2 }, () => 'tool_calls.function.arguments.delta'),
      'tool_calls.function.arguments.done',
      'functionToolCall',
      'functionToolCall',
      'finalFunctionToolCall',
    ]);
    expect(told[2]?.values).toEqual([
      { name: 'f', index: 0, arguments: '{"a":', parsed_arguments: null, arguments_delta: '{"a":' },
    ]);
    expect(told[4]?.values).toEqual([
      { name: 'f', index: 0, arguments: '{"a":1}', parsed_arguments: null },
    ]);
    await expect(stream.finalFunctionToolCall()).resolves.toEqual({
      name: 'g',
      arguments: '{"b":2}',
    });
  });

  test('the events of a chat completion stream report the arguments of interleaved tool calls once, when complete', async () => {
    const stream = help(
      encode(
        toolCall(0, 'c0', 'f', '{"a":'),
        toolCall(1, 'c1', 'g', '{"b":'),
        toolCall(0, 'c0', '', '1}'),
        toolCall(1, 'c1', '', '2}'),
        chunk({}, 'tool_calls'),
      ),
    );
    const done: unknown[] = [];
    stream.on('tool_calls.function.arguments.done', (event) => done.push(event));

    await stream.done();

    expect(done).toMatchObject([
      { index: 0, arguments: '{"a":1}' },
      { index: 1, arguments: '{"b":2}' },
    ]);
  });

  test('the events of a chat completion stream report refusals and log probabilities', async () => {
    const piece = (refusal: string, text: string) => ({
      choices: [
        {
          index: 0,
          delta: { refusal },
          logprobs: { content: [token(text)], refusal: [token(refusal)] },
          finish_reason: null,
        },
      ],
    });
    const stream = help(encode(piece('I ', 'a'), piece('refuse', 'b'), chunk({}, 'stop')));
    const events = record(stream);

    await stream.done();

    const last = (name: string) => events.findLast((event) => event.name === name)?.values[0];
    expect(last('refusal.delta')).toEqual({ delta: 'refuse', snapshot: 'I refuse' });
    expect(last('refusal.done')).toEqual({ refusal: 'I refuse' });
    expect(last('logprobs.content.delta')).toEqual({
      content: [token('b')],
      snapshot: [token('a'), token('b')],
    });
    expect(last('logprobs.content.done')).toEqual({ content: [token('a'), token('b')] });
    expect(last('logprobs.refusal.done')).toEqual({ refusal: [token('I '), token('refuse')] });
    await expect(stream.finalContent()).resolves.toBeNull();
  });

  test('the events of a chat completion stream reach listeners until they are removed, or once', async () => {
    const stream = help(wholeAnswer);
    const always = vi.fn<(delta: string) => void>();
    const once = vi.fn<(delta: string) => void>();
    const removed = vi.fn<(delta: string) => void>();
    stream.on('content', always).once('content', once).on('content', removed);
    stream.off('content', removed);

    await stream.done();

    expect(always).toHaveBeenCalledTimes(2);
    expect(once).toHaveBeenCalledTimes(1);
    expect(removed).not.toHaveBeenCalled();
  });

  test.each(['chatCompletion', 'message'] as const)(
    'a listener added after %s receives the end of the run',
    async (event) => {
      const stream = help(wholeAnswer);
      const heard: string[] = [];

      await Promise.all([stream.emitted(event), stream.emitted('connect')]);
      for (const last of ['finalChatCompletion', 'finalMessage', 'finalContent'] as const) {
        stream.on(last, () => void heard.push(last));
      }
      await stream.done();

      expect(heard).toEqual(['finalChatCompletion', 'finalMessage', 'finalContent']);
    },
  );

  test('the events of a chat completion stream can be awaited', async () => {
    const stream = help(wholeAnswer);

    const [connected, content, done, end] = await Promise.all([
      stream.emitted('connect'),
      stream.emitted('content'),
      stream.emitted('content.done'),
      stream.emitted('end'),
    ]);

    expect(connected).toBeUndefined();
    expect(content).toEqual(['Grüße, ', 'Grüße, ']);
    expect(done.content).toBe(wholeText);
    expect(end).toBeUndefined();
  });

  test('events of a chat completion stream that cannot occur any more reject', async () => {
    const stream = help(wholeAnswer);

    await expect(stream.emitted('refusal.done')).rejects.toBeInstanceOf(GatewayError);
    await expect(stream.emitted('content')).rejects.toThrow('"content"');
  });
});

describe('the promises of a chat completion stream', () => {
  test('the promises of a chat completion stream resolve with the result of the stream', async () => {
    const stream = help(wholeAnswer);

    expect(stream.allChatCompletions()).toEqual([]);
    const completion = await stream.finalChatCompletion();

    expect(completion.choices[0]?.message.content).toBe(wholeText);
    await expect(stream.finalCompletion()).resolves.toBe(completion);
    await expect(stream.finalMessage()).resolves.toMatchObject({ role: 'assistant' });
    await expect(stream.finalContent()).resolves.toBe(wholeText);
    await expect(stream.finalFunctionToolCall()).resolves.toBeUndefined();
    await expect(stream.totalUsage()).resolves.toEqual(usage);
    expect(stream.allChatCompletions()).toEqual([completion]);
    expect(stream.messages).toEqual([...messages, completion.choices[0]?.message]);
    expect(messages).toHaveLength(1);
    expect(stream).toMatchObject({ ended: true, errored: false, aborted: false });
    expect(stream.verdict).toBe('complete');
  });

  test.each([
    {
      name: 'without a finish reason',
      text: encode(chunk({ content: 'a' }), '[DONE]'),
      kind: StreamTruncatedError,
    },
    {
      name: 'with an error',
      text: encode(chunk({ content: 'a' }), { error: 'no' }),
      kind: StreamError,
    },
  ])('all reject if the stream ends $name', async ({ text, kind }) => {
    const stream = help(text);
    const events = record(stream);
    const looped = readAll(stream);
    const early = stream.finalContent();

    await expect(early).rejects.toBeInstanceOf(kind);
    for (const late of [
      stream.done(),
      stream.finalChatCompletion(),
      stream.finalMessage(),
      stream.finalFunctionToolCall(),
      stream.totalUsage(),
      stream.emitted('content'),
    ]) {
      await expect(late).rejects.toBeInstanceOf(kind);
    }
    const { items, error } = await looped;
    expect(items).toHaveLength(1);
    expect(error).toBeInstanceOf(kind);
    expect((await readAll(stream)).error).toBeInstanceOf(kind);
    expect(events.slice(-2).map(({ name }) => name)).toEqual(['error', 'end']);
    expect(events.map(({ name }) => name)).not.toContain('finalContent');
    expect(stream.errored).toBe(true);
  });

  test('the promises of a chat completion stream return the partial answer when incomplete streams are allowed', async () => {
    const watched = watchedContext({ onTruncated: 'allow' });
    const stream = help(encode(chunk({ content: 'a' }), '[DONE]'), watched);
    const done = stream.emitted('content.done');

    await expect(stream.finalContent()).resolves.toBe('a');
    await expect(done).resolves.toMatchObject({ content: 'a' });
    expect(stream.verdict).toBe('no_finish_reason');
  });

  test('the promises of a chat completion stream reject if the request fails', async () => {
    const failure = new InvalidInputError('messages', 'is empty.');
    const rejected = open(() => Promise.reject(failure));
    const thrown = open(() => {
      throw failure;
    });

    await expect(rejected.finalContent()).rejects.toBe(failure);
    await expect(thrown.emitted('connect')).rejects.toBe(failure);
  });

  test('cause no unhandled rejection if they are not awaited', async () => {
    const stream = help(encode({ error: 'no' }));
    void stream.finalContent();
    void stream.emitted('content');
    void stream.done();

    await expect(stream.emitted('end')).resolves.toBeUndefined();
    await new Promise<void>((resolve) => setImmediate(resolve));
  });

  test('the promises of a message reject without a choice', async () => {
    const watched = watchedContext({ onTruncated: 'allow' });
    const stream = help(encode({ id: 'x', choices: [] }), watched);

    await expect(stream.finalMessage()).rejects.toThrow('no choices');
    await expect(help('', watched).finalChatCompletion()).rejects.toThrow('without a completion');
  });
});

describe('aborting a chat completion stream', () => {
  test('aborting a chat completion stream closes the connection and rejects with the partial response', async () => {
    const { response, send, isCancelled } = openResponse();
    send(encode(chunk({ content: 'Hel' })));
    const stream = help(response);
    const events = record(stream);
    await stream.emitted('content');

    stream.abort();

    await expect(stream.finalContent()).rejects.toBeInstanceOf(APIUserAbortError);
    await expect(stream.done()).rejects.toMatchObject({
      partial: { choices: [{ message: { content: 'Hel' } }] },
    });
    await expect(isCancelled()).resolves.toBe(true);
    expect(events.slice(-2).map(({ name }) => name)).toEqual(['abort', 'end']);
    expect(stream).toMatchObject({ ended: true, errored: true, aborted: true });
  });

  test('aborting a chat completion stream passes its signal to the request', async () => {
    const stream = open((signal) => {
      const context = watchedContext({ signal }).context;
      return Promise.resolve(createStream(openResponse().response, context, chatProtocolFor(1)));
    });

    stream.controller.abort();

    await expect(stream.done()).rejects.toBeInstanceOf(APIUserAbortError);
  });

  test('a chat completion stream is aborted if a loop over its chunks is left', async () => {
    const { response, send, isCancelled } = openResponse();
    send(encode(chunk({ content: 'a' }), chunk({ content: 'b' })));
    const stream = help(response);

    for await (const { choices } of stream) {
      expect(choices[0]?.delta.content).toBe('a');
      break;
    }

    await expect(isCancelled()).resolves.toBe(true);
    expect(stream.controller.signal.aborted).toBe(true);
  });

  test('aborting a chat completion stream after the end has no effect', async () => {
    const stream = help(wholeAnswer);
    await stream.done();

    stream.abort();

    await expect(stream.finalContent()).resolves.toBe(wholeText);
  });
});

describe('the chunks of a chat completion stream', () => {
  test('the chunks of a chat completion stream can be iterated', async () => {
    const { items, error } = await readAll(help(wholeAnswer));

    expect(error).toBeUndefined();
    expect(items.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(wholeText);
  });

  test('the chunks of a chat completion stream can be forwarded and read', async () => {
    const readable = help(wholeAnswer).toReadableStream();

    const copy = ChatCompletionStream.fromReadableStream(readable);
    const texts: string[] = [];
    copy.on('content', (delta) => texts.push(delta));

    await expect(copy.finalContent()).resolves.toBe(wholeText);
    await expect(copy.totalUsage()).resolves.toEqual(usage);
    expect(texts).toEqual(['Grüße, ', '世界 🌍']);
    expect(copy.messages).toHaveLength(1);
  });

  test('forwarded without a finish reason are truncated at the receiver too', async () => {
    const lines = `${JSON.stringify(chunk({ content: 'a' }))}\n`;
    const { body } = new Response(lines);

    const copy = ChatCompletionStream.fromReadableStream(body ?? new ReadableStream());

    await expect(copy.finalContent()).rejects.toBeInstanceOf(StreamTruncatedError);
  });

  test('the chunks of a chat completion stream reject at the receiver if they fail here', async () => {
    const readable = help(encode(chunk({ content: 'a' }), { error: 'no' })).toReadableStream();

    const copy = ChatCompletionStream.fromReadableStream(readable);

    await expect(copy.finalContent()).rejects.toBeInstanceOf(GatewayError);
  });

  test('the receiver can abort', async () => {
    const copy = ChatCompletionStream.fromReadableStream(new ReadableStream());
    await copy.emitted('connect');

    copy.abort();

    await expect(copy.done()).rejects.toBeInstanceOf(APIUserAbortError);
  });
});

test('a listener that throws fails the call and closes the connection', async () => {
  const { response, send, isCancelled } = openResponse();
  send(encode(chunk({ content: 'a' })));
  const stream = help(response);
  const mine = new Error('mine');
  stream.on('content', () => {
    throw mine;
  });

  await expect(stream.done()).rejects.toBe(mine);
  await expect(isCancelled()).resolves.toBe(true);
});

test('a throwing listener of the end does not block other listeners', async () => {
  const uncaught: unknown[] = [];
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error));
  const mine = new Error('mine');
  const stream = help(wholeAnswer);
  const ended = vi.fn<() => void>();
  stream.on('end', ended).on('end', () => {
    throw mine;
  });

  await expect(stream.finalContent()).resolves.toBe(wholeText);
  await new Promise<void>((resolve) => setImmediate(resolve));
  process.removeAllListeners('uncaughtException');
  for (const listener of before) process.on('uncaughtException', listener);

  expect(ended).toHaveBeenCalledTimes(1);
  expect(uncaught).toEqual([mine]);
});
