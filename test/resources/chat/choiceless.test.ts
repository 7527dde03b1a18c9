// Chunks without choices: their fields reach loops on chunks that have a choice, and nothing is lost.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ChatCompletionStream, StreamError, StreamTruncatedError } from '../../../src/index.ts';
import { chatProtocolFor } from '../../../src/resources/chat/protocol.ts';
import { deliverWithChoices } from '../../../src/resources/chat/delivery.ts';
import type { ChatCompletionChunk } from '../../../src/resources/chat/types.ts';
import { collect, eventStream, scripted } from '../../helpers/clients.ts';
import {
  chunk,
  createStream,
  encode,
  openChat,
  openResponse,
  readAll,
  readStream,
  usage,
  usageChunk,
  watchedContext,
} from '../../helpers/sse.ts';

const params = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const withUsage = { stream_options: { include_usage: true } };
const streamed = { ...params, stream: true } as const;

/** A chunk without choices. */
const choiceless = <Fields extends object>(fields: Fields) => ({
  ...usageChunk,
  usage: null,
  ...fields,
});

const filters = choiceless({ prompt_filter_results: [{ prompt_index: 0 }] });
const moderation = choiceless({ moderation: { input: { type: 'moderation' } } });

type Way = (events: readonly unknown[], asked: object) => Promise<ChatCompletionChunk[]>;

/** Each way to read the chunks of a stream by a loop. */
const ways: Readonly<Record<string, Way>> = {
  create: async (events, asked) => {
    const { client } = scripted([eventStream(...events)]);
    return collect(await client.chat.completions.create({ ...streamed, ...asked }));
  },
  tee: async (events, asked) => {
    const { client } = scripted([eventStream(...events)]);
    const [left, right] = (await client.chat.completions.create({ ...streamed, ...asked })).tee();
    const chunks = await collect(left);
    expect(await collect(right)).toEqual(chunks);
    return chunks;
  },
  'the helper': (events, asked) => {
    const { client } = scripted([eventStream(...events)]);
    return collect(client.chat.completions.stream({ ...params, ...asked }));
  },
  'events of the helper': async (events, asked) => {
    const { client } = scripted([eventStream(...events)]);
    const chunks: ChatCompletionChunk[] = [];
    const helper = client.chat.completions.stream({ ...params, ...asked });
    await helper.on('chunk', (item) => chunks.push(item)).done();
    return chunks;
  },
  'a run of tools': (events, asked) => {
    const { client } = scripted([eventStream(...events)]);
    return collect(client.chat.completions.runTools({ ...streamed, ...asked, tools: [] }));
  },
  'lines that were sent on': async (events, asked) => {
    const { client } = scripted([eventStream(...events)]);
    const helper = client.chat.completions.stream({ ...params, ...asked });
    return collect(ChatCompletionStream.fromReadableStream(helper.toReadableStream()));
  },
};

const content = [chunk({ content: 'o' }), chunk({ content: 'k' }), chunk({}, 'stop')];

describe.each(Object.entries(ways))('a loop over %s', (_, read) => {
  test.each([{}, { stream_options: { include_usage: false } }, { stream_options: null }])(
    'yields usage that was not requested on the finish chunk: %j',
    async (asked) => {
      const chunks = await read([...content, usageChunk, '[DONE]'], asked);

      expect(chunks).toMatchObject([content[0], content[1], { ...content[2], usage }]);
      expect(chunks).toHaveLength(3);
    },
  );

  test('yields requested usage as a separate chunk', async () => {
    const chunks = await read([...content, usageChunk, '[DONE]'], withUsage);

    expect(chunks).toMatchObject([...content, usageChunk]);
    expect(chunks).toHaveLength(4);
  });

  test.each([{}, withUsage])('yields other fields on a neighbouring chunk: %j', async (asked) => {
    const [first, second, finish] = content;

    const chunks = await read([filters, first, second, finish, moderation, '[DONE]'], asked);

    const { prompt_filter_results } = filters;
    expect(chunks).toMatchObject([
      { ...first, prompt_filter_results },
      second,
      { ...finish, moderation: moderation.moderation },
    ]);
    expect(chunks).toHaveLength(3);
  });

  test('yields nothing for an empty chunk', async () => {
    const empty = choiceless({ prompt_filter_results: null, system_fingerprint: '' });

    const chunks = await read([empty, ...content, empty, { choices: null }, '[DONE]'], {});

    expect(chunks).toMatchObject(content);
    expect(chunks).toHaveLength(3);
  });

  test('yields both usages of a stream that sends two', async () => {
    const finish = chunk({}, 'stop', { usage: { ...usage, total_tokens: 1 } });

    const chunks = await read([content[0], finish, usageChunk, '[DONE]'], {});

    expect(chunks.map((item) => item.usage?.total_tokens)).toEqual([undefined, 1, 12]);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, 'stop']);
  });
});

test('usage after tool calls without a finish reason is on a chunk with an empty delta', async () => {
  const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } };
  const events = [chunk({ tool_calls: [call] }), usageChunk, '[DONE]'];
  const { client } = scripted([eventStream(...events)]);

  const chunks = await collect(await client.chat.completions.create(streamed));

  expect(chunks).toHaveLength(2);
  expect(chunks[1]).toMatchObject({
    usage,
    choices: [{ index: 0, delta: {}, finish_reason: null }],
  });
});

test("OpenAI's padding creates no extra chunk", async () => {
  const { client } = scripted([
    eventStream(
      chunk({ content: 'a' }, 'stop', { obfuscation: 'x' }),
      { ...usageChunk, obfuscation: 'y' },
      '[DONE]',
    ),
  ]);

  const chunks = await collect(await client.chat.completions.create(streamed));

  expect(chunks).toMatchObject([{ usage, choices: [{ finish_reason: 'stop' }] }]);
});

test('the finish chunk is yielded before a later error', async () => {
  const { client } = scripted([eventStream(...content, usageChunk, { error: { message: 'No' } })]);

  const { items, error } = await readAll(await client.chat.completions.create(streamed));

  expect(items).toMatchObject([content[0], content[1], { ...content[2], usage }]);
  expect(error).toBeInstanceOf(StreamError);
});

test('usage of a truncated stream is on a chunk with an empty delta', async () => {
  const { client } = scripted([eventStream(chunk({ content: 'a' }), usageChunk)]);

  const { items, error } = await readAll(await client.chat.completions.create(streamed));

  expect(items).toMatchObject([{ choices: [{ delta: { content: 'a' } }] }, { usage }]);
  expect(items[1]?.choices).toEqual([{ index: 0, delta: {}, finish_reason: null }]);
  expect(error).toBeInstanceOf(StreamTruncatedError);
});

test('usage without a choice creates no message, also in a forwarded stream', async () => {
  const { client } = scripted([eventStream(usageChunk, '[DONE]')], { onTruncated: 'allow' });

  const helper = client.chat.completions.stream(params);
  const forwarded = ChatCompletionStream.fromReadableStream(
    (await client.chat.completions.create(streamed)).toReadableStream(),
  );

  expect(await helper.finalChatCompletion()).toMatchObject({ choices: [], usage });
  expect(helper.messages).toEqual(params.messages);
  await expect(helper.finalMessage()).rejects.toThrow('no choices');
  await expect(forwarded.done()).rejects.toMatchObject({
    verdict: 'truncated',
    partial: { choices: [], usage },
  });
});

test('accepts any `object` of a chunk', async () => {
  const { client } = scripted([
    eventStream({ ...usageChunk, object: 5 }, chunk({ content: 'a' }, 'stop'), '[DONE]'),
  ]);

  expect(await collect(await client.chat.completions.create(streamed))).toMatchObject([{ usage }]);
});

/** A stream that is being read while its body is written by the test. */
function open(limits: object = {}) {
  const body = openResponse();
  const { context } = watchedContext(limits);
  const chunks: ChatCompletionChunk[] = [];
  const stream = createStream(body.response, context, {
    ...chatProtocolFor(1),
    deliver: (emit) => deliverWithChoices(emit, false),
  });
  const read = async (): Promise<void> => {
    for await (const item of stream) chunks.push(item);
  };
  return { ...body, stream, chunks, done: read() };
}

describe('the finish chunk', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('the finish chunk is held until the next event, unlike other chunks', async () => {
    const { send, chunks, done } = open();

    send(encode(chunk({ content: 'a' })));
    await vi.advanceTimersByTimeAsync(1);
    expect(chunks).toHaveLength(1);
    send(encode(chunk({}, 'stop')));
    await vi.advanceTimersByTimeAsync(1);
    expect(chunks).toHaveLength(1);
    // A provider that goes on after its finish reason.
    send(encode(chunk({ content: 'b' })));
    await vi.advanceTimersByTimeAsync(1);
    expect(chunks).toHaveLength(3);
    send(encode(chunk({}, 'stop'), usageChunk));
    await vi.advanceTimersByTimeAsync(1);
    expect(chunks).toHaveLength(3);
    send(encode('[DONE]'));
    await done;
    expect(chunks).toHaveLength(4);
    expect(chunks[3]?.usage).toMatchObject(usage);
  });

  test.each(['idleTimeout', 'chunkTimeout', 'totalTimeout'])(
    'the finish chunk is held no longer than until %s',
    async (limit) => {
      const { send, chunks, done, stream } = open({ [limit]: 1_000 });
      send(encode(chunk({ content: 'a' }), chunk({}, 'stop')));

      await vi.advanceTimersByTimeAsync(999);
      expect(chunks).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1_000);
      await done;

      expect(chunks).toHaveLength(2);
      expect(stream.verdict).toBe('complete');
    },
  );
});

type Kind =
  | 'text'
  | 'textAndUsage'
  | 'finish'
  | 'finishAndUsage'
  | 'usage'
  | 'filters'
  | 'both'
  | 'empty';
const kinds: readonly Kind[] = [
  'text',
  'textAndUsage',
  'finish',
  'finishAndUsage',
  'usage',
  'filters',
  'both',
  'empty',
];

/** A chunk of a kind; its values tell it from every other chunk. */
function make(kind: Kind, at: number): object {
  const counted = { usage: { ...usage, total_tokens: 100 + at } };
  const filtered = { prompt_filter_results: [{ prompt_index: at }] };
  const of = {
    text: chunk({ content: `${at} ` }),
    textAndUsage: chunk({ content: `${at} ` }, null, counted),
    finish: chunk({}, 'stop'),
    finishAndUsage: chunk({}, 'stop', counted),
    usage: choiceless(counted),
    filters: choiceless(filtered),
    both: choiceless({ ...counted, ...filtered }),
    empty: choiceless({}),
  };
  return of[kind];
}

/** Everything that chunks carry, field by field and in order. */
function carriedBy(chunks: readonly unknown[]) {
  const all = chunks.map((item) => Object(item));
  const found = (name: string): unknown[] => all.map((item) => item[name]).filter(Boolean);
  const choices: { delta: { content?: string }; finish_reason: string | null }[] = all.flatMap(
    (item) => item.choices,
  );
  return {
    usage: found('usage'),
    filters: found('prompt_filter_results'),
    text: choices.map(({ delta }) => delta.content ?? '').join(''),
    finishes: choices.filter(({ finish_reason: reason }) => reason === 'stop').length,
  };
}

const sequences = fc.array(fc.constantFrom(...kinds), { maxLength: 12 });

describe('any sequence of chunks', () => {
  test('any sequence of chunks is yielded completely, each chunk with a choice, with the same verdict', async () => {
    await fc.assert(
      fc.asyncProperty(sequences, fc.boolean(), fc.boolean(), async (sequence, asks, ends) => {
        const sent = sequence.map(make);
        const events = [...sent, ...(ends ? ['[DONE]'] : [])];
        const { client } = scripted([eventStream(...events)]);
        const asked = { stream_options: { include_usage: asks } };

        const raw = await readStream(openChat(encode(...events)));
        const stream = await client.chat.completions.create({ ...streamed, ...asked });
        const loop = await readStream(stream);
        const helper = await readAll(client.chat.completions.stream({ ...params, ...asked }));

        expect(carriedBy(loop.items)).toEqual(carriedBy(sent));
        for (const item of loop.items) {
          expect(item.choices.length > 0 || (asks && item.usage)).toBeTruthy();
        }
        expect([loop.verdict, loop.partial]).toEqual([raw.verdict, raw.partial]);
        expect(Object(loop.error).constructor).toBe(Object(raw.error).constructor);
        expect(helper.items).toEqual(loop.items);
        expect(Object(helper.error).constructor).toBe(Object(loop.error).constructor);
      }),
    );
  });

  test('any sequence of chunks holds back at most the finish chunk', () => {
    fc.assert(
      fc.property(sequences, fc.boolean(), (sequence, asks) => {
        const out: ChatCompletionChunk[] = [];
        const delivery = deliverWithChoices((item) => out.push(item), asks);
        sequence.forEach((kind, at) => {
          const item = chatProtocolFor(1).read(make(kind, at), watchedContext().context.check);

          const isOwn = delivery.add(item);

          expect(isOwn).toBe(item.choices.length > 0 || (asks && Boolean(item.usage)));
          const soFar = sequence.slice(0, at + 1);
          const texts = soFar.filter((one) => one.startsWith('text'));
          const finishes = soFar.filter((one) => one.startsWith('finish'));
          const last = soFar.findLast((one) => one.startsWith('text') || one.startsWith('finish'));
          const held = Number(last?.startsWith('finish') === true);
          const given = carriedBy(out);
          expect(given.text.split(' ').length - 1).toBe(texts.length);
          expect(given.finishes).toBeGreaterThanOrEqual(finishes.length - held);
        });
        delivery.flush(true);
        expect(carriedBy(out)).toEqual(carriedBy(sequence.map(make)));
      }),
    );
  });
});

test('lines of another package yield no chunk without choices and usage', async () => {
  const lines = [filters, ...content, moderation, usageChunk]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
  const helper = ChatCompletionStream.fromReadableStream(new Blob([lines]).stream());

  expect(await collect(helper)).toMatchObject([...content, usageChunk]);
  const { prompt_filter_results } = filters;
  expect(await helper.finalChatCompletion()).toMatchObject({ usage, prompt_filter_results });
});
