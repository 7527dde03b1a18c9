import { describe, expect, test } from 'vitest';
import { StreamTruncatedError, type StreamVerdict, usageOf } from '../../../src/index.ts';
import type { Quirks } from '../../../src/testing/index.ts';
import type { ChatCompletionCreateParamsBase } from '../../../src/resources/chat/params.ts';
import {
  bodyOf,
  collect,
  emulated,
  eventStream,
  failureOf,
  scripted,
} from '../../helpers/clients.ts';
import { chunk, readStream, usage, usageChunk } from '../../helpers/sse.ts';

const model = 'm-large';
const messages = [{ role: 'user' as const, content: 'What is tea?' }];
const answered = 'You said: "What is tea?" This is the answer of m-large.';
const whole = eventStream(chunk({ content: 'ok' }, 'stop'), usageChunk, '[DONE]');

/** A piece of the second choice. */
function chunk2(content: string) {
  return { ...chunk({}), choices: [{ index: 1, delta: { content }, finish_reason: null }] };
}

describe('chat.completions.create() with a stream', () => {
  test.each<[name: string, quirks: Partial<Quirks>]>([
    ['as it usually comes', {}],
    ['with an empty first chunk', { chatEmptyFirstChunk: true }],
    ['with bare chunks', { chatBareChunks: true }],
    ['with two finish chunks', { chatFinishTwice: true }],
    ['with choices that are null', { chatNullChoices: true }],
    ['with usage in a choice', { chatUsage: 'in-choice' }],
    ['with usage on the finish chunk', { chatUsage: 'finish-chunk' }],
    ['without [DONE]', { chatDone: false }],
    ['with heartbeats', { heartbeatEvery: 1 }],
    ['in small pieces with CR', { streamChunkBytes: 3, lineEnding: 'cr' }],
    ['with content in parts', { chatContent: 'parts' }],
    ['as JSON', { chatMode: 'always-json' }],
  ])('a chat completion stream is read %s', async (_, quirks) => {
    const { client } = emulated({}, { quirks });

    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const chunks = await collect(stream);

    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(answered);
    expect(stream.verdict).toBe('complete');
    expect(stream.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('throws when it ends without a finish reason', async () => {
    const { client } = scripted([eventStream(chunk({ content: 'Tea is' }), '[DONE]')]);

    const stream = await client.chat.completions.create({ model, messages, stream: true });
    const error = await failureOf(collect(stream));

    expect(error).toBeInstanceOf(StreamTruncatedError);
    expect(error).toMatchObject({
      verdict: 'no_finish_reason',
      partial: { choices: [{ message: { content: 'Tea is' } }] },
    });
  });

  test.each<{
    name: string;
    given: Pick<ChatCompletionCreateParamsBase, 'stream_options'>;
    sent: unknown;
  }>([
    { name: 'nothing', given: {}, sent: undefined },
    { name: 'null', given: { stream_options: null }, sent: null },
    {
      name: 'other options',
      given: { stream_options: { include_obfuscation: false } },
      sent: { include_obfuscation: false },
    },
    {
      name: 'true',
      given: { stream_options: { include_usage: true } },
      sent: { include_usage: true },
    },
    {
      name: 'false',
      given: { stream_options: { include_usage: false } },
      sent: { include_usage: true },
    },
    {
      name: 'false beside others',
      given: { stream_options: { include_usage: false, include_obfuscation: true } },
      sent: { include_usage: true, include_obfuscation: true },
    },
  ])('never sends include_usage: false for $name', async ({ given, sent }) => {
    const { client, requests } = scripted([whole]);
    const params = { model, messages, ...given };

    await collect(await client.chat.completions.create({ ...params, stream: true }));
    await client.chat.completions.stream(params).done();

    for (const request of requests) {
      const body = await bodyOf(request);
      expect(body).toMatchObject({ model, stream: true });
      expect(Object(body).stream_options).toEqual(sent);
    }
    expect(requests).toHaveLength(2);
  });

  test('keeps the finish reason if the caller turns usage off', async () => {
    const { client } = emulated({}, { quirks: { chatUsage: 'finish-chunk' } });
    const quiet = { stream_options: { include_usage: false } };

    const stream = await client.chat.completions.create({
      model,
      messages,
      ...quiet,
      stream: true,
    });
    await collect(stream);

    expect(stream.verdict).toBe('complete');
  });

  test('a chat completion stream is retried before its first byte, and never after it', async () => {
    const { client, emulator } = emulated({ maxRetries: 1 });
    emulator.fail({ fault: { type: 'error', status: 503 }, times: 1 });

    await collect(await client.chat.completions.create({ model, messages, stream: true }));
    expect(emulator.requests).toHaveLength(2);

    emulator.fail({ fault: { type: 'cut-events', after: 1 }, times: 1 });
    const stream = await client.chat.completions.create({ model, messages, stream: true });
    await failureOf(collect(stream));
    expect(emulator.requests).toHaveLength(3);
  });

  test.each(['data:  [DONE]  ', 'data:\t[DONE]', 'data:[DONE] '])(
    'a terminator may have spaces around it: %j',
    async (line) => {
      const text = `data: ${JSON.stringify(chunk({ content: 'ok' }, 'stop'))}\n\n${line}\n\n`;
      const headers = { 'content-type': 'text/event-stream' };
      const { client } = scripted([() => new Response(text, { headers })]);

      const stream = await client.chat.completions.create({ model, messages, stream: true, n: 2 });

      // Only a terminator settles for one of two answers.
      expect(await collect(stream)).toHaveLength(1);
      expect(stream.verdict).toBe('complete');
    },
  );

  test.each([
    { name: 'by default', asked: {}, seen: [[0], [0]] },
    {
      name: 'by `include_usage: false`',
      asked: { stream_options: { include_usage: false } },
      seen: [[0], [0]],
    },
    {
      name: 'by `include_usage: true`',
      asked: { stream_options: { include_usage: true } },
      seen: [[0], [0], []],
    },
  ])('yields the usage-only chunk when requested: $name', async ({ asked, seen }) => {
    const answer = eventStream(chunk({ content: 'ok' }), chunk({}, 'stop'), usageChunk, '[DONE]');
    const { client } = scripted([answer]);

    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      ...asked,
    });
    const chunks = await collect(stream);

    expect(chunks.map(({ choices }) => choices.map(({ index }) => index))).toEqual(seen);
    expect(stream.usage).toMatchObject(usageChunk.usage);
    expect(stream.partial?.usage).toEqual(stream.usage);
    expect(stream.verdict).toBe('complete');
  });

  test('stream() returns usage that was not requested', async () => {
    const { client } = scripted([whole]);

    const stream = client.chat.completions.stream({ model, messages });

    expect((await collect(stream)).at(-1)?.usage).toMatchObject(usageChunk.usage);
    expect(await stream.totalUsage()).toMatchObject(usageChunk.usage);
  });
});

/** A choice that comes whole in one chunk. */
function finished(index: number) {
  const delta = { content: `answer ${index}` };
  return { ...chunk({}), choices: [{ index, delta, finish_reason: 'stop' }] };
}

describe('several choices', () => {
  test.each<{ name: string; n: number | undefined; events: unknown[]; verdict: StreamVerdict }>([
    { name: 'all of them', n: 2, events: [finished(0), finished(1)], verdict: 'complete' },
    {
      name: 'all of them, in any order',
      n: 2,
      events: [finished(1), finished(0), '[DONE]'],
      verdict: 'complete',
    },
    { name: 'cut between two', n: 2, events: [finished(0)], verdict: 'no_terminator' },
    {
      name: 'cut between two, with usage',
      n: 2,
      events: [finished(0), usageChunk],
      verdict: 'no_terminator',
    },
    {
      name: 'cut within the second',
      n: 2,
      events: [finished(0), chunk2('b')],
      verdict: 'no_terminator',
    },
    {
      name: 'ended within the second',
      n: 2,
      events: [finished(0), chunk2('b'), '[DONE]'],
      verdict: 'no_finish_reason',
    },
    {
      name: 'one, from a gateway that does not know n',
      n: 2,
      events: [finished(0), '[DONE]'],
      verdict: 'complete',
    },
    {
      name: 'more than asked for',
      n: undefined,
      events: [finished(0), finished(1)],
      verdict: 'complete',
    },
    {
      name: 'more than asked for, cut',
      n: undefined,
      events: [finished(0), chunk2('b')],
      verdict: 'no_terminator',
    },
  ])('$name', async ({ n, events, verdict }) => {
    const { client } = scripted([eventStream(...events)]);
    const params = { model, messages, ...(n === undefined ? {} : { n }) };

    const stream = await client.chat.completions.create({ ...params, stream: true });
    const looped = await collect(stream).then(() => undefined, String);
    const helped = await client.chat.completions
      .stream(params)
      .done()
      .then(() => undefined, String);
    const plain = await client.chat.completions.create(params).then(() => undefined, String);

    expect(stream.verdict).toBe(verdict);
    // A loop, the helper and a plain call that is answered by events agree.
    for (const failure of [looped, helped, plain]) {
      if (verdict === 'complete') expect(failure).toBeUndefined();
      else expect(failure).toContain('StreamTruncatedError');
    }
  });
});

/** A delta that calls a function. */
const call = (index: number, id: string) => ({
  tool_calls: [{ index, id, function: { name: 'f', arguments: '{}' } }],
});

describe('partial: false', () => {
  const events = [
    chunk({ content: 'Tea is', reasoning: 'Hm', refusal: 'no' }),
    chunk(call(0, 'c1')),
    chunk(call(0, 'c2')),
  ];
  const end = [chunk({}, 'stop'), usageChunk, '[DONE]'];
  const params = { model, messages, stream: true as const };

  test('stores no chat, with the same chunks and verdict', async () => {
    const { client } = scripted([eventStream(...events, ...end)]);

    const read = await readStream(await client.chat.completions.create(params, { partial: false }));

    expect(read).toMatchObject({ verdict: 'complete', usage, error: undefined });
    expect(read.partial).toBeUndefined();
    const indexes = read.items.map(({ choices }) => choices[0]?.delta.tool_calls?.[0]?.index);
    expect(indexes).toEqual([undefined, 0, 1, undefined]);
  });

  test('leaves the partial response out of errors', async () => {
    const { client } = scripted([eventStream(...events, usageChunk)], { partial: false });

    const lost = await readStream(await client.chat.completions.create(params));
    const kept = await readStream(await client.chat.completions.create(params, { partial: true }));

    expect(lost.error).toBeInstanceOf(StreamTruncatedError);
    expect(lost.error).toMatchObject({ verdict: 'no_terminator', partial: undefined, usage });
    expect(String(lost.error)).not.toContain('"partial"');
    expect(kept.error).toMatchObject({
      partial: { choices: [{ message: { content: 'Tea is' } }] },
    });
    expect(String(kept.error)).toContain('"partial"');
  });

  test('stores no generation and no images', async () => {
    const piece = { candidates: [{ content: { parts: [{ text: 'Tea' }] }, finishReason: 'STOP' }] };
    const picture = { type: 'image_generation.completed', b64_json: 'AAAA', usage };
    const generation = scripted([eventStream(piece)], { partial: false }).client;
    const pictures = scripted([eventStream(picture)], { partial: false }).client;

    const streams = [
      await generation.generate.contentStream({ model, contents: 'Hi' }),
      await pictures.images.generate({ model, prompt: 'Tea', stream: true }),
    ];
    for (const stream of streams) {
      expect(await collect<unknown>(stream)).toHaveLength(1);
      expect([stream.verdict, stream.partial]).toEqual(['complete', undefined]);
    }
    expect(streams[1]?.usage).toMatchObject(usage);
  });

  test('partial: false does not affect stream() and a response that arrives as events', async () => {
    const { client } = scripted([eventStream(chunk({ content: 'Tea' }), ...end)], {
      partial: false,
    });

    const helper = client.chat.completions.stream({ model, messages });
    expect(await helper.finalContent()).toBe('Tea');
    const { choices } = await client.chat.completions.create({ model, messages });
    expect(choices[0]?.message.content).toBe('Tea');
  });
});

test.each([true, false])(
  'counts that are not numbers are not added, stream: %s',
  async (stream) => {
    const counts = { prompt_tokens: { toString: 1, valueOf: 1 }, completion_tokens: 2 };
    const head = { id: 'c', model: 'm', created: 1, usage: counts };
    const message = { role: 'assistant', content: 'Hi' };
    const body = { ...head, choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const { client } = scripted([() => Response.json(body)]);

    const completion = stream
      ? await client.chat.completions.stream({ model, messages }).finalChatCompletion()
      : await client.chat.completions.create({ model, messages });

    expect(completion.usage?.total_tokens).toBe(2);
  },
);

test('the usage that Groq puts into x_groq is that of the stream, and counts', async () => {
  const counts = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const answer = eventStream(
    { id: 'c', model: 'm', choices: [{ index: 0, delta: { content: 'Hi' } }] },
    {
      id: 'c',
      model: 'm',
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      x_groq: { id: 'req_1', usage: counts },
    },
    '[DONE]',
  );
  const { client } = scripted([answer]);

  const stream = await client.chat.completions.create({
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    stream: true,
  });
  await collect(stream);

  expect(stream.usage).toMatchObject(counts);
  expect(usageOf({ x_groq: { usage: counts } })).toMatchObject({ totalTokens: 7 });
});
