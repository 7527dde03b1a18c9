import { describe, expect, test } from 'vitest';
import {
  APIConnectionError,
  APIError,
  APIConnectionTimeoutError,
  APIUserAbortError,
  Gateway,
  UnexpectedResponseError,
} from '../../src/index.ts';
import type { Fetch } from '../../src/options/options.ts';
import { failureOf, scripted } from '../helpers/clients.ts';
import { chat, completion, draw, list, logged, messages, speak } from '../helpers/transport.ts';
import { untyped } from '../helpers/untyped.ts';

function createClient(answer: () => unknown) {
  let calls = 0;
  const fetch = untyped<Fetch>(() => {
    calls += 1;
    return answer();
  });
  const client = new Gateway({
    apiKey: 'sk-test',
    baseURL: 'https://gateway.test',
    logLevel: 'off',
    maxRetries: 0,
    fetch,
  });
  return { client, calls: () => calls };
}

describe("the caller's fetch", () => {
  test.each([
    ['nothing', () => undefined],
    ['nothing, later', () => Promise.resolve()],
    ['null', () => Promise.resolve(null)],
    ['text', () => Promise.resolve('hello')],
    ['a parsed answer', () => Promise.resolve(completion)],
    ['half a response', () => Promise.resolve({ ok: true, status: 200 })],
    ['headers that are none', () => Promise.resolve({ status: 400, headers: { get: () => null } })],
    ['an error response', () => Promise.resolve(Response.error())],
  ])("the caller's fetch that returns %s fails with an error that names it", async (_, answer) => {
    const { client, calls } = createClient(answer);

    const failure = await failureOf(draw(client));

    expect(failure).toBeInstanceOf(APIConnectionError);
    expect(failure).toMatchObject({ outcome: 'unknown' });
    expect(failure).toHaveProperty('message', expect.stringContaining('no Response'));
    expect(calls()).toBe(1);
  });

  test.each([
    ['as fields, like whatwg-fetch', (headers: object) => Object.entries(headers)],
    ['by get()', (headers: Headers) => ['accept'].map((name) => [name, headers.get(name)])],
    ['one by one', (headers: Headers) => [...headers]],
    ['as another Headers', (headers: Headers) => [...new Headers(headers)]],
    ['as those of a request', (headers: Headers) => [...new Request('a:', { headers }).headers]],
  ])("the caller's fetch that reads its headers %s gets all of them", async (_, read) => {
    const seen: unknown[] = [];
    const fetch = untyped<Fetch>((_url: string, { headers }: { readonly headers: Headers }) => {
      seen.push(Object.fromEntries(untyped<[string, string][]>(read(headers))));
      return Promise.resolve(Response.json(completion));
    });
    const { client } = scripted([], { fetch, defaultHeaders: { 'x-tenant': 'a', get: 'b' } });

    await chat(client);

    expect(seen).toEqual([expect.objectContaining({ accept: 'application/json' })]);
    const given = Object.keys(Object(seen[0]));
    if (given.length > 1) {
      expect(given).toEqual(expect.arrayContaining(['authorization', 'content-type', 'x-tenant']));
    }
  });

  test.each([
    ['text', () => Promise.reject('nope')],
    ['nothing', () => Promise.reject(undefined)],
    [
      'an error at once',
      () => {
        throw new Error('sync');
      },
    ],
  ])("the caller's fetch that throws %s fails with an error of this package", async (_, answer) => {
    const failure = await failureOf(chat(createClient(answer).client));

    expect(failure).toBeInstanceOf(APIConnectionError);
    expect(failure).not.toBeInstanceOf(APIConnectionTimeoutError);
  });

  test.each([
    ['TimeoutError', new DOMException('The operation timed out.', 'TimeoutError')],
    ['AbortError of its own', new DOMException('This operation was aborted', 'AbortError')],
    ['words', new Error('network timeout at: https://gateway.test')],
    ['a cause', new TypeError('fetch failed', { cause: new Error('request timed out') })],
    ['a code', Object.assign(new Error('late'), { code: 'UND_ERR_HEADERS_TIMEOUT' })],
  ])("the caller's fetch that times out by its %s has the outcome unknown", async (_, error) => {
    const failure = await failureOf(chat(createClient(() => Promise.reject(error)).client));

    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure).toMatchObject({ outcome: 'unknown', timeout: undefined });
  });

  test("the caller's fetch is not blamed for the caller's abort", async () => {
    const abort = new DOMException('This operation was aborted', 'AbortError');
    const controller = new AbortController();
    const { client } = createClient(() => {
      controller.abort();
      return Promise.reject(abort);
    });

    const failure = await failureOf(client.models.list({ signal: controller.signal }));

    expect(failure).toBeInstanceOf(APIUserAbortError);
  });
});

interface Sent {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const encode = (text: string) => new TextEncoder().encode(text);
const headersOf = ({ type }: Sent) =>
  new Headers({ 'content-type': type, 'x-request-id': 'req-1' });
const fields = (sent: Sent) => ({ status: sent.status, headers: headersOf(sent) });

/** A body of chunks that `fetch` would never return, cut within every character of two units. */
const streamOf = (sent: Sent, toChunk: (text: string) => unknown) =>
  new Response(
    untyped<ReadableStream<Uint8Array>>(
      new ReadableStream<unknown>({
        start(controller) {
          for (let at = 0; at < sent.text.length; at += 1) {
            controller.enqueue(toChunk(sent.text.charAt(at)));
          }
          controller.close();
        },
      }),
    ),
    fields(sent),
  );

async function* pieces({ text }: Sent) {
  const bytes = encode(text);
  for (let at = 0; at < bytes.length; at += 5) yield bytes.slice(at, at + 5);
}

/** What functions called `fetch` resolve with instead of a `Response` of the runtime. */
const sorts: Readonly<Record<string, (sent: Sent) => unknown>> = {
  'without a body, as React Native': (sent) => ({
    ...fields(sent),
    text: () => Promise.resolve(sent.text),
    json: () => Promise.resolve(JSON.parse(sent.text)),
    blob: () => Promise.resolve(new Blob([sent.text])),
    arrayBuffer: () => Promise.resolve(encode(sent.text).buffer),
  }),
  'with body: null and text()': (sent) => ({
    ...fields(sent),
    body: null,
    text: () => Promise.resolve(sent.text),
  }),
  'with only arrayBuffer()': (sent) => ({
    ...fields(sent),
    arrayBuffer: () => Promise.resolve(encode(sent.text).buffer),
  }),
  'with only blob()': (sent) => ({
    ...fields(sent),
    blob: () => Promise.resolve(new Blob([sent.text])),
  }),
  'with only text() and json()': (sent) => ({
    ...fields(sent),
    text: () => Promise.resolve(sent.text),
    json: () => Promise.resolve(JSON.parse(sent.text)),
  }),
  'with a getter of body that throws': (sent) => ({
    ...fields(sent),
    get body(): never {
      throw new Error('not implemented');
    },
    text: () => Promise.resolve(sent.text),
  }),
  'with headers as a plain object': (sent) => ({
    status: sent.status,
    headers: { 'content-type': sent.type, 'x-request-id': ['req-1'], ':status': 200 },
    body: new Response(sent.text).body,
  }),
  'with headers as a Map': (sent) => ({
    status: sent.status,
    headers: new Map(headersOf(sent)),
    body: new Response(sent.text).body,
  }),
  'with headers that are only got by name': (sent) => ({
    status: sent.status,
    headers: { get: (name: string) => headersOf(sent).get(name) },
    body: new Response(sent.text).body,
  }),
  'with a stream of text': (sent) => streamOf(sent, (text) => text),
  'with a stream of lists of numbers, as Tauri': (sent) =>
    streamOf({ ...sent, text: toLatin(sent.text) }, (text) =>
      Array.from(text, (letter) => letter.charCodeAt(0)),
    ),
  'with a stream of ArrayBuffers': (sent) =>
    streamOf(
      { ...sent, text: toLatin(sent.text) },
      (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0)).buffer,
    ),
  'with a Node stream, as node-fetch': (sent) => ({ ...fields(sent), body: pieces(sent) }),
  'with a stream of another class': (sent) => ({
    ...fields(sent),
    body: {
      getReader() {
        const chunks = pieces(sent);
        return { read: () => chunks.next(), cancel: () => chunks.return() };
      },
    },
  }),
  'with a body of text': (sent) => ({ ...fields(sent), body: sent.text }),
  'with a body of bytes': (sent) => ({ ...fields(sent), body: encode(sent.text) }),
};

/** Each byte of UTF-8 as a character. */
const toLatin = (text: string) => String.fromCharCode(...encode(text));

const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const hello = 'h€llo 🐱';
const answered = {
  ...completion,
  choices: [{ index: 0, message: { role: 'assistant', content: hello }, finish_reason: 'stop' }],
};
const chunk = {
  ...completion,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { role: 'assistant', content: hello }, finish_reason: 'stop' }],
};
const candidate = { content: { role: 'model', parts: [{ text: hello }] }, finishReason: 'STOP' };
const generated = { candidates: [candidate] };

async function join<T>(
  stream: AsyncIterable<T>,
  toText: (item: T) => string | null | undefined,
): Promise<string> {
  let text = '';
  for await (const item of stream) text += toText(item) ?? '';
  return text;
}

interface Door {
  readonly type?: string;
  readonly text: string;
  readonly call: (client: Gateway) => PromiseLike<unknown>;
  readonly result: unknown;
}

const contents = [{ parts: [{ text: 'hi' }] }];

const doors: Readonly<Record<string, Door>> = {
  'chat.completions.create': {
    text: JSON.stringify(answered),
    call: async (client) => (await chat(client)).choices[0]?.message.content,
    result: hello,
  },
  'chat.completions.create, streamed': {
    type: 'text/event-stream',
    text: `${event(chunk)}data: [DONE]\n\n`,
    call: async (client) =>
      join(
        await client.chat.completions.create({ model: 'm', messages: [...messages], stream: true }),
        ({ choices }) => choices[0]?.delta.content,
      ),
    result: hello,
  },
  'chat.completions.stream': {
    type: 'text/event-stream',
    text: `${event(chunk)}data: [DONE]\n\n`,
    call: (client) =>
      client.chat.completions.stream({ model: 'm', messages: [...messages] }).finalContent(),
    result: hello,
  },
  'generate.content': {
    text: JSON.stringify(generated),
    call: async (client) => (await client.generate.content({ model: 'm', contents })).text,
    result: hello,
  },
  'generate.contentStream': {
    type: 'text/event-stream',
    text: event(generated),
    call: async (client) =>
      join(await client.generate.contentStream({ model: 'm', contents }), ({ text }) => text),
    result: hello,
  },
  'responses.create': {
    text: JSON.stringify({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: hello, annotations: [] }],
        },
      ],
    }),
    call: async (client) =>
      (await client.responses.create({ model: 'm', input: 'hi' })).output_text,
    result: hello,
  },
  'embeddings.create': {
    text: JSON.stringify({ object: 'list', data: [{ index: 0, embedding: [0.5] }], model: 'm' }),
    call: async (client) =>
      (await client.embeddings.create({ model: 'm', input: 'hi' })).data[0]?.embedding,
    result: [0.5],
  },
  'images.generate': {
    text: JSON.stringify({ created: 1, data: [{ url: 'https://files.test/1.png' }] }),
    call: async (client) => (await draw(client)).data[0]?.url,
    result: 'https://files.test/1.png',
  },
  'audio.speech.create': {
    type: 'audio/mpeg',
    text: hello,
    call: async (client) => (await speak(client)).text(),
    result: hello,
  },
  'models.list': {
    text: JSON.stringify({ object: 'list', data: [{ id: hello, object: 'model' }] }),
    call: async (client) => (await list(client)).data[0]?.id,
    result: hello,
  },
  'chat.completions.create, asResponse()': {
    text: JSON.stringify(answered),
    call: async (client) => (await chat(client).asResponse()).text(),
    result: JSON.stringify(answered),
  },
  post: {
    text: JSON.stringify({ hello }),
    call: (client) => client.post('/v1/some/route', { body: {} }),
    result: { hello },
  },
};

function clientOf(answer: () => unknown) {
  let calls = 0;
  const fetch = untyped<Fetch>(() => {
    calls += 1;
    return Promise.resolve(answer());
  });
  const { client } = scripted([], { fetch, maxRetries: 2 });
  return { client, calls: () => calls };
}

describe('objects that fetch resolves with', () => {
  const pairs = Object.entries(doors).flatMap(
    ([door, { text, type = 'application/json', ...rest }]) =>
      Object.entries(sorts).map(([sort, make]) => ({ door, sort, make, text, type, ...rest })),
  );

  test.each(pairs)('$sort is read by $door', async ({ make, text, type, call, result }) => {
    const { client, calls } = clientOf(() => make({ status: 200, type, text }));

    await expect(call(client)).resolves.toEqual(result);

    expect(calls()).toBe(1);
  });

  test.each(pairs)('$sort keeps the words of an error: $door', async ({ make, call }) => {
    const text = JSON.stringify({ error: { message: 'wrong key', code: 'no_key' } });
    const { client, calls } = clientOf(() => make({ status: 401, type: 'application/json', text }));

    const failure = await failureOf(Promise.resolve().then(() => call(client)));

    expect(failure).toMatchObject({ status: 401, code: 'no_key', requestID: 'req-1' });
    expect(calls()).toBe(1);
  });

  const taken = { status: 200, type: 'application/json', text: JSON.stringify(answered) };
  const unreadable: Readonly<Record<string, () => unknown>> = {
    nothing: () => undefined,
    null: () => null,
    text: () => 'hello',
    'a parsed answer': () => completion,
    'half a response': () => ({ ok: true, status: 200 }),
    'an error response': () => Response.error(),
    'a response that was read before': async () => {
      const response = new Response(taken.text, fields(taken));
      await response.text();
      return response;
    },
    'a response whose body is locked': () => {
      const response = new Response(taken.text, fields(taken));
      response.body?.getReader();
      return response;
    },
    'a response with text() that rejects': () => ({
      ...fields(taken),
      text: () => Promise.reject(new TypeError('Already read')),
    }),
    'a stream of objects': () =>
      new Response(
        untyped<ReadableStream<Uint8Array>>(
          new ReadableStream({ start: (controller) => controller.enqueue({ some: 'object' }) }),
        ),
        fields(taken),
      ),
  };

  const refused = Object.entries(doors)
    .filter(([door]) => !/asResponse|models|speech/.test(door))
    .flatMap(([door, { call }]) =>
      Object.entries(unreadable).map(([sort, answer]) => ({ door, sort, answer, call })),
    );

  test.each(refused)('$sort is an error that is not repeated: $door', async ({ answer, call }) => {
    const { client, calls } = clientOf(answer);

    const failure = await failureOf(Promise.resolve().then(() => call(client)));

    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ outcome: 'unknown' });
    expect(calls()).toBe(1);
  });

  test('a response that was read before is an error that says so', async () => {
    const { client } = clientOf(async () => {
      const response = new Response(taken.text, fields(taken));
      await response.json();
      return response;
    });

    const failure = await failureOf(chat(client));

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure).toMatchObject({ status: 200, requestID: 'req-1' });
    expect(failure).toHaveProperty('message', expect.stringContaining('was read before'));
  });

  test('a call whose fetch returns nothing is never paid again by another model', async () => {
    const { client, calls } = clientOf(() => undefined);

    await failureOf(
      client.chat.completions.create(
        { model: 'm', messages: [...messages] },
        { fallback: ['other'] },
      ),
    );

    expect(calls()).toBe(1);
  });

  test('a response without a body warns once that events arrive together', async () => {
    const { type = '', text, call } = doors['chat.completions.create, streamed'] ?? {};
    const sent = { status: 200, type, text: text ?? '' };
    const { client, lines } = logged([], {
      logLevel: 'warn',
      fetch: untyped<Fetch>(() => Promise.resolve(sorts['with only text() and json()']?.(sent))),
    });

    await call?.(client);
    await call?.(client);

    expect(lines.map(({ message }) => message)).toEqual([
      expect.stringContaining('arrive together at its end'),
    ]);
  });
});
