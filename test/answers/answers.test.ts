// Answers with a success status that are errors, and empty ones that are valid.
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  Gateway,
  type Stream,
  StreamError,
  StreamTruncatedError,
  UnexpectedResponseError,
} from '../../src/index.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';
import { cutResponse } from '../helpers/failures.ts';
import { rawServer } from '../helpers/raw-server.ts';
import { chunk, encode, readStream, usage } from '../helpers/sse.ts';

const model = 'm';
const messages = [{ role: 'user' as const, content: 'Hi' }];
const image = new File([new Uint8Array([137, 80, 78, 71])], 'a.png', { type: 'image/png' });

const calls: Readonly<Record<string, (client: Gateway) => PromiseLike<unknown>>> = {
  'chat.completions.create': (client) => client.chat.completions.create({ model, messages }),
  'a chat stream': (client) => client.chat.completions.create({ model, messages, stream: true }),
  'chat.completions.parse': (client) => client.chat.completions.parse({ model, messages }),
  'generate.content': (client) => client.generate.content({ model, contents: 'Hi' }),
  'generate.contentStream': (client) => client.generate.contentStream({ model, contents: 'Hi' }),
  'embeddings.create': (client) => client.embeddings.create({ model, input: ['a', 'b'] }),
  'images.generate': (client) => client.images.generate({ model, prompt: 'A cat' }),
  'an image stream': (client) => client.images.generate({ model, prompt: 'A cat', stream: true }),
  'images.edit': (client) => client.images.edit({ model, prompt: 'A hat', image }),
  'audio.speech.create': (client) => client.audio.speech.create({ model, voice: 'v', input: 'Hi' }),
  'a speech stream': (client) =>
    client.audio.speech.create({ model, voice: 'v', input: 'Hi', stream_format: 'sse' }),
  'models.list': (client) => client.models.list(),
};

/** Answers without a message. What gateways say is tested in `doors`. */
const foreign: readonly { body: unknown }[] = [
  { body: {} },
  { body: [] },
  { body: { id: null, object: null, choices: null, data: null, candidates: null, models: null } },
  { body: { choices: [null], data: [null], candidates: [null], models: [null] } },
  { body: { choices: [{}], data: [{}], candidates: [{}], models: [{}] } },
  { body: { id: 'x1', status: 'ok', result: { answer: 42 } } },
];

describe.each(Object.entries(calls))('%s', (name, call) => {
  test.each(foreign)('an answer with $body is rejected', async ({ body }) => {
    const text = JSON.stringify(body);
    const { client, requests } = scripted([json(body)], { maxRetries: 0 });

    const error = await failureOf(call(client));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ outcome: 'unknown', status: 200, body: text, code: undefined });
    expect(String(error)).toContain('JSON');
    expect(requests).toHaveLength(1);
  });

  test('a call is sent once if its response is unusable, unless it is free', async () => {
    const { client, requests } = scripted([() => new Response('<!doctype html>')], {
      maxRetries: 1,
    });

    await failureOf(call(client));

    expect(requests).toHaveLength(name === 'models.list' ? 2 : 1);
  });

  test('a call is sent once if its response lacks the result, unless it is free', async () => {
    const { client, requests } = scripted([json({})], { maxRetries: 1 });

    await failureOf(call(client));

    expect(requests).toHaveLength(name === 'models.list' ? 2 : 1);
  });
});

const hollowChoice = { index: 0, message: { role: 'assistant', content: '' }, finish_reason: '' };

describe('an empty response', () => {
  test.each<{ readonly call: string; readonly body: unknown; readonly message?: string }>([
    // A provider's error that a gateway has made an answer of, and charged for.
    { call: 'chat.completions.create', body: { id: '', choices: [hollowChoice], usage } },
    {
      call: 'chat.completions.create',
      body: { id: 'c1', choices: [{ ...hollowChoice, finish_reason: null }] },
    },
    { call: 'chat.completions.create', body: { choices: [] } },
    {
      call: 'chat.completions.create',
      body: {
        choices: [{ ...hollowChoice, finish_reason: 'error', error: { message: 'Overloaded' } }],
      },
      message: 'Overloaded',
    },
    ...['error', 'Error'].flatMap((reason) =>
      ['chat.completions.create', 'chat.completions.parse'].map((call) => ({
        call,
        body: {
          id: 'c1',
          choices: [{ message: { content: 'Half' }, finish_reason: reason }],
          usage,
        },
      })),
    ),
    { call: 'a chat stream', body: { id: '', choices: [hollowChoice], usage } },
    { call: 'a chat stream', body: { choices: [] } },
    { call: 'generate.content', body: { candidates: [], usageMetadata: { promptTokenCount: 9 } } },
    {
      call: 'generate.content',
      body: { candidates: [{ content: { role: 'model', parts: [] }, index: 0 }] },
    },
    { call: 'generate.contentStream', body: { candidates: [], promptFeedback: null } },
    {
      call: 'images.generate',
      body: { created: 1, data: [{ url: '', b64_json: '', revised_prompt: 'A cat' }] },
    },
    { call: 'images.generate', body: { created: 1 } },
    {
      call: 'images.generate',
      body: { data: [{ error: { message: 'blocked' } }] },
      message: 'blocked',
    },
    { call: 'images.edit', body: { data: [{ error: 'x-rated' }] }, message: 'x-rated' },
    { call: 'an image stream', body: { created: 1, data: [{ url: '', b64_json: '' }] } },
    { call: 'embeddings.create', body: { object: 'list', data: [{ index: 0, embedding: null }] } },
    { call: 'embeddings.create', body: { object: 'list' } },
    { call: 'embeddings.create', body: { object: 'list', data: [], usage } },
    {
      call: 'chat.completions.create',
      body: { id: 'c1', object: 'chat.completion', choices: null, usage },
    },
    { call: 'embeddings.create', body: { object: 'list', data: [{ index: 0, embedding: [] }] } },
    { call: 'models.list', body: { data: null } },
    { call: 'models.list', body: { id: 'm-large', object: 'model' } },
  ])('an empty response is rejected by $call: $body', async ({ call, body, message = 'JSON' }) => {
    const { client } = scripted([json(body)], { maxRetries: 0 });

    const error = await failureOf(calls[call]?.(client) ?? Promise.resolve());

    expect(UnexpectedResponseError.isInstance(error)).toBe(message === 'JSON');
    expect(error).toMatchObject({ outcome: 'unknown', body: JSON.stringify(body) });
    expect(String(error)).toContain(message);
  });

  test.each<{ name: string; body: unknown; expected: object }>([
    // A prompt that was blocked, and pictures that a filter took out, are charged answers.
    { name: 'chat.completions.create', body: { id: 'c1', choices: [] }, expected: { choices: [] } },
    { name: 'chat.completions.create', body: { choices: [], usage }, expected: { choices: [] } },
    {
      name: 'chat.completions.create',
      body: { choices: [{ ...hollowChoice, finish_reason: 'content_filter' }] },
      expected: { choices: [{ finish_reason: 'content_filter' }] },
    },
    {
      name: 'chat.completions.create',
      body: { choices: [{ message: { reasoning_content: 'Hm' } }], base_resp: { status_code: 0 } },
      expected: { choices: [{ message: { reasoning_content: 'Hm' } }] },
    },
    {
      name: 'generate.content',
      body: { prompt_feedback: { block_reason: 'OTHER' } },
      expected: { blockReason: 'OTHER' },
    },
    {
      name: 'generate.content',
      body: { candidates: [{ finish_reason: 'SAFETY' }] },
      expected: { candidates: [{ finishReason: 'SAFETY' }] },
    },
    { name: 'images.generate', body: { created: 1, data: [] }, expected: { data: [] } },
    {
      name: 'images.generate',
      body: { data: [{ image_base64: 'AA==' }] },
      expected: { data: [{ image_base64: 'AA==' }] },
    },
    { name: 'models.list', body: { data: [] }, expected: { data: [] } },
    { name: 'models.list', body: { object: 'list', data: null }, expected: { data: [] } },
    { name: 'models.list', body: { models: [] }, expected: { data: [] } },
  ])('an empty response is accepted from $name: $body', async ({ name, body, expected }) => {
    const { client } = scripted([json(body)], { maxRetries: 0 });

    expect(await calls[name]?.(client)).toMatchObject(expected);
  });
});

const params = { model, messages, stream: true as const };
const piece = (text: string, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text }] }, finishReason }],
});

const lines = (...values: readonly unknown[]) =>
  values.map((value) => JSON.stringify(value)).join('\n');

/** The same text with each label that a gateway may give it. */
async function readEach<Item>(
  body: string,
  call: (client: Gateway) => PromiseLike<Stream<Item>>,
): Promise<Awaited<ReturnType<typeof readStream<Item>>>[]> {
  const labels = ['application/json', 'text/event-stream', 'application/x-ndjson'];
  return Promise.all(
    labels.map(async (type) => {
      const answer = () => new Response(body, { headers: { 'content-type': type } });
      return readStream(await call(scripted([answer]).client));
    }),
  );
}

describe('JSON in place of a stream', () => {
  const error = { error: { message: 'Too long', code: 503 } };

  test('a list and lines of JSON are read as a stream if they have its end', async () => {
    const pieces = [
      chunk({ content: 'a' }),
      chunk({ content: 'b' }, 'stop'),
      { choices: [], usage },
    ];
    for (const body of [JSON.stringify(pieces), lines(...pieces), `${lines(...pieces)}\n`]) {
      const chats = await readEach(body, (client) => client.chat.completions.create(params));

      for (const { verdict, partial } of chats) {
        expect(verdict).toBe('complete');
        expect(partial).toMatchObject({ choices: [{ message: { content: 'ab' } }], usage });
      }
    }
    const body = JSON.stringify([piece('a'), piece('b', 'STOP')]);
    for (const { verdict, partial } of await readEach(body, (client) =>
      client.generate.contentStream({ model, contents: 'Hi' }),
    )) {
      expect([verdict, partial?.text]).toEqual(['complete', 'ab']);
    }
  });

  test('an error at their end is thrown after the earlier events', async () => {
    for (const body of [
      JSON.stringify([chunk({ content: 'a' }), error]),
      lines(chunk({ content: 'a' }), error),
    ]) {
      for (const read of await readEach(body, (client) => client.chat.completions.create(params))) {
        expect(read.error).toBeInstanceOf(StreamError);
        expect(String(read.error)).toContain('Too long');
        expect(read.items).toHaveLength(1);
        expect(read.error).toMatchObject({ partial: { choices: [{ message: { content: 'a' } }] } });
      }
    }
    for (const read of await readEach(JSON.stringify([piece('a'), error]), (client) =>
      client.generate.contentStream({ model, contents: 'Hi' }),
    )) {
      expect(String(read.error)).toContain('Too long');
      expect(read.verdict).toBe('truncated');
    }
  });

  test.each(['error', 'ERROR'])('a whole response that ends in %s is truncated', async (reason) => {
    const choice = { index: 0, message: { content: 'Half' }, finish_reason: reason };
    const body = JSON.stringify({ id: 'c1', choices: [choice] });

    for (const read of await readEach(body, (client) => client.chat.completions.create(params))) {
      expect(read.error).toBeInstanceOf(StreamTruncatedError);
      expect(read.error).toMatchObject({
        partial: { choices: [{ message: { content: 'Half' } }] },
      });
      expect(read.verdict).not.toBe('complete');
    }
  });

  test('a list and lines of JSON are not complete without a finish reason', async () => {
    for (const body of [
      JSON.stringify([chunk({ content: 'a' })]),
      JSON.stringify([chunk({ content: 'a' }), chunk({ content: 'b' })]),
      lines(chunk({ content: 'a' }), chunk({ content: 'b' })),
      lines(chunk({ content: 'a' })),
    ]) {
      for (const read of await readEach(body, (client) => client.chat.completions.create(params))) {
        expect(read.error).toBeInstanceOf(StreamTruncatedError);
        expect(read.error).toMatchObject({ partial: { choices: [{ finish_reason: '' }] } });
        expect(read.verdict).not.toBe('complete');
      }
    }
    for (const read of await readEach(JSON.stringify([piece('a'), piece('b')]), (client) =>
      client.generate.contentStream({ model, contents: 'Hi' }),
    )) {
      expect(read.error).toBeInstanceOf(StreamTruncatedError);
    }
  });
});

/** An answer that begins so and never ends, in blocks of `size`; and what became of it. */
function endless(start: string, type = 'application/json', size = 4_096) {
  const seen = { sent: 0, isCancelled: false };
  const block = new TextEncoder().encode(' '.repeat(size));
  const body = () =>
    new ReadableStream<Uint8Array>(
      {
        start: (controller) => controller.enqueue(new TextEncoder().encode(start)),
        pull(controller) {
          seen.sent += size;
          controller.enqueue(block);
        },
        cancel() {
          seen.isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
  return { seen, answer: () => new Response(body(), { headers: { 'content-type': type } }) };
}

describe('a response that does not end', () => {
  const audio = new File([new Uint8Array([73, 68, 51])], 'a.mp3');
  const bounded: typeof calls = {
    ...calls,
    'audio.translations.create': (client) =>
      client.audio.translations.create({ model, file: audio, response_format: 'text' }),
    'audio.transcriptions.create': (client) =>
      client.audio.transcriptions.create({ model, file: audio, response_format: 'text' }),
    'models.retrieve': (client) => client.models.retrieve('m'),
    'videos.retrieve': (client) => client.videos.retrieve('task_1'),
    'request()': (client) => client.request('GET', '/v1/other'),
  };

  test.each(Object.entries(bounded))(
    'a response of %s that does not end fails at maxResponseBytes',
    async (_, call) => {
      const { seen, answer } = endless('{');
      const { client, requests } = scripted([answer], { maxRetries: 2, maxResponseBytes: 50_000 });

      const error = await failureOf(call(client));

      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error).toMatchObject({ outcome: 'unknown', status: 200 });
      expect(String(error)).toContain('larger than 50000 bytes (maxResponseBytes)');
      expect(error).toHaveProperty('body.length', 50_000);
      expect(requests).toHaveLength(1);
      expect(seen.sent).toBeLessThan(70_000);
      expect(seen.isCancelled).toBe(true);
    },
  );

  test('a response that does not end closes its connection', async () => {
    await using server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{');
      const timer = setInterval(() => socket.write(' '.repeat(8_192)), 1);
      socket.on('close', () => clearInterval(timer));
    });
    const client = new Gateway({ apiKey: 'sk-test', baseURL: server.url, logLevel: 'off' });

    const options = { maxResponseBytes: 20_000 };
    const error = await failureOf(client.images.generate({ model, prompt: 'A cat' }, options));

    expect(String(error)).toContain('maxResponseBytes');
    await expect.poll(() => server.open()).toBe(0);
    expect(server.requests).toHaveLength(1);
  });

  test('a response that does not end fails at 128 MiB by default', async () => {
    const { seen, answer } = endless('{', 'application/json', 1 << 20);
    const { client } = scripted([answer]);

    const error = await failureOf(client.chat.completions.create({ model, messages }));

    expect(String(error)).toContain('larger than 134217728 bytes');
    expect(seen.sent).toBeLessThan(130 * (1 << 20));
  });

  test('a response that does not end is also limited if it consists of events that were not requested', async () => {
    const { seen, answer } = endless(encode(chunk({ content: 'a' })), 'text/event-stream');
    const { client } = scripted([answer], { maxResponseBytes: 50_000 });

    const error = await failureOf(client.chat.completions.create({ model, messages }));

    expect(String(error)).toContain('maxResponseBytes');
    expect(error).toMatchObject({ partial: { choices: [{ message: { content: 'a' } }] } });
    expect(seen.isCancelled).toBe(true);
  });

  test('a response that does not end is not limited if it is a file or a stream', async () => {
    const options = { maxResponseBytes: 1_024 };
    const file = scripted([() => new Response(new Uint8Array(5_000))], options).client;
    const text = encode(chunk({ content: 'a'.repeat(5_000) }, 'stop'));
    const headers = { 'content-type': 'text/event-stream' };
    const stream = scripted([() => new Response(text, { headers })], options).client;

    const speech = await file.audio.speech.create({ model, voice: 'v', input: 'Hi' });
    expect((await speech.arrayBuffer()).byteLength).toBe(5_000);
    expect(await readStream(await stream.chat.completions.create(params))).toMatchObject({
      verdict: 'complete',
    });
  });
});

describe('a paid response that is unusable', () => {
  const picture = 'No image. '.repeat(30_000);

  test.each([
    { name: 'JSON', text: JSON.stringify({ picture }), type: 'application/json' },
    { name: 'text', text: picture, type: 'text/plain' },
    { name: 'cut JSON', text: JSON.stringify({ picture }).slice(0, -1), type: 'application/json' },
    { name: 'a page', text: `<html>${picture}`, type: 'text/html' },
  ])(
    'an unusable paid response is kept in full on the error, but not logged: $name',
    async ({ text, type }) => {
      const answer = () => new Response(text, { headers: { 'content-type': type } });
      for (const name of [
        'chat.completions.create',
        'generate.content',
        'images.generate',
      ] as const) {
        const error = await failureOf(Promise.resolve(calls[name]?.(scripted([answer]).client)));

        expect(error).toBeInstanceOf(UnexpectedResponseError);
        expect(error).toHaveProperty('body', text);
        expect(inspect(error).length).toBeLessThan(8_000);
        expect(JSON.stringify(error).length).toBeLessThan(8_000);
      }
    },
  );

  test('an unusable paid response in place of speech is also kept in full', async () => {
    const body = { audio: picture };
    const { client } = scripted([json(body)]);

    const error = await failureOf(client.audio.speech.create({ model, voice: 'v', input: 'Hi' }));

    expect(error).toMatchObject({ body: JSON.stringify(body) });
    expect(String(error)).toContain('JSON instead of a file');
  });

  test.each<{ name: string; body: unknown; kind: string }>([
    {
      name: 'images.generate',
      body: { success: false, message: 'No', data: { picture } },
      kind: 'APIError',
    },
    {
      name: 'embeddings.create',
      body: { code: 'bad', message: 'No', data: { picture } },
      kind: 'APIError',
    },
    {
      name: 'chat.completions.create',
      body: { error: { message: 'No', picture } },
      kind: 'APIError',
    },
    { name: 'videos.create', body: { hello: picture }, kind: 'VideoSubmitUnknownError' },
    {
      name: 'videos.create',
      body: { code: 'fail_to_fetch_task', message: 'No', data: { picture } },
      kind: 'VideoSubmitUnknownError',
    },
    {
      name: 'videos.create',
      body: { error: { message: 'No', picture } },
      kind: 'VideoSubmitUnknownError',
    },
  ])(
    'an unusable paid response is not logged if it is an error: $name',
    async ({ name, body, kind }) => {
      const { client } = scripted([json(body)], { maxRetries: 0 });
      const call = calls[name] ?? (() => client.videos.create({ model, prompt: 'A cat' }));

      const error = await failureOf(Promise.resolve(call(client)));

      expect(error).toHaveProperty('name', kind);
      expect(error).toHaveProperty('body', JSON.stringify(body));
      expect(inspect(error).length).toBeLessThan(9_000);
      expect(JSON.stringify(error).length).toBeLessThan(8_000);
    },
  );

  test.each(['audio/mpeg', 'application/json'])(
    'an unusable paid response is not speech: %s',
    async (type) => {
      for (const text of ['null', '""', ' null\n']) {
        const answer = () => new Response(text, { headers: { 'content-type': type } });
        const call = calls['audio.speech.create']?.(scripted([answer]).client);

        const error = await failureOf(Promise.resolve(call));

        expect(error).toBeInstanceOf(UnexpectedResponseError);
        expect(error).toHaveProperty('body', text);
      }
    },
  );

  test('an unusable paid response is kept as far as it was received', async () => {
    const answer = () => cutResponse(`{"picture":"${picture}`);
    const { client } = scripted([answer]);

    const error = await failureOf(client.images.generate({ model, prompt: 'A cat' }));

    expect(error).toMatchObject({ outcome: 'unknown', body: `{"picture":"${picture}` });
  });

  test('an unusable paid response is kept in strict mode, parsed and unparsed', async () => {
    const body = { created: 'never', data: [{ b64_json: picture }] };
    const { client } = scripted([json(body)], { validation: 'strict' });

    const error = await failureOf(client.images.generate({ model, prompt: 'A cat' }));

    expect(error).toMatchObject({ body: JSON.stringify(body), data: body });
    expect(inspect(error).length).toBeLessThan(8_000);
  });
});
