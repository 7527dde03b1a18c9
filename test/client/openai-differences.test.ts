// The table "Differences" of the guide "Coming from openai": each program runs with both packages.
import { inspect } from 'node:util';
import TheirOpenAI, { toFile as toTheirFile } from 'openai';
import { Stream as TheirStream } from 'openai/streaming';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { asOpenAI, Gateway, InvalidInputError, Stream } from '../../src/index.ts';
import { fakeWaitingTime, settle, takeTurn } from '../helpers/fake-time.ts';
import { eventStream, json } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';

fakeWaitingTime();

type Answer = (
  request: Request,
  signal: AbortSignal | null | undefined,
) => Response | Promise<Response>;

/** What a program saw: its result or the name of its error, and the requests that it sent. */
interface Seen {
  readonly value?: unknown;
  readonly error?: unknown;
  readonly errorName?: unknown;
  readonly requests: readonly { readonly url: string; readonly body: unknown }[];
  readonly headers: Headers | undefined;
}

interface Row {
  readonly answer?: Answer | readonly Answer[];
  readonly options?: object;
  readonly run: (client: TheirOpenAI) => PromiseLike<unknown>;
  readonly theirs: object;
  readonly ours: object;
}

const messages = [{ role: 'user' as const, content: 'Hello' }];
const chat = { model: 'm', messages };
const message = { role: 'assistant', content: 'Hi', refusal: null };
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const withMessage = (fields: object, reason = 'stop') => ({
  ...completion,
  choices: [
    { index: 0, message: { ...message, ...fields }, finish_reason: reason, logprobs: null },
  ],
});
const chunk = (delta: object, reason: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: reason }],
});
const usageChunk = { ...chunk({}), choices: [], usage: completion.usage };
const failed =
  (status: number, fields: object = {}, headers: Record<string, string> = {}): Answer =>
  () =>
    Response.json({ error: { message: 'Failed', ...fields } }, { status, headers });
const unreachable = (code: string) => (): never => {
  const cause = Object.assign(new Error(code), { code });
  throw new TypeError('fetch failed', { cause });
};
const lost = unreachable('ECONNRESET');
/** Never answers. */
const silent: Answer = (_, signal) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new DOMException('Aborted', 'AbortError')));
  });
/** Sends events, then breaks or falls silent. */
const open =
  (end: 'breaks' | 'silent', ...events: object[]): Answer =>
  (_, signal) => {
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    let count = 0;
    const body = new ReadableStream({
      start(controller) {
        signal?.addEventListener('abort', () => {
          controller.error(new DOMException('Aborted', 'AbortError'));
        });
      },
      pull(controller) {
        count += 1;
        if (count === 1) controller.enqueue(new TextEncoder().encode(text));
        else if (end === 'breaks') controller.error(new TypeError('terminated'));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };

const generate = (client: TheirOpenAI, options?: object) =>
  client.images.generate({ model: 'm', prompt: 'A cat' }, options);
const create = (client: TheirOpenAI, options?: object) =>
  client.chat.completions.create(chat, options);
async function read(client: TheirOpenAI, fields: object = {}, options?: object) {
  let text = '';
  let empty = 0;
  const params = { ...chat, ...fields, stream: true } as const;
  for await (const { choices } of await client.chat.completions.create(params, options)) {
    text += choices[0]?.delta.content ?? '';
    if (choices.length === 0) empty += 1;
  }
  return { text, empty };
}
const signalAfter = (milliseconds: number): AbortSignal => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), milliseconds);
  return controller.signal;
};
const tool = {
  type: 'function' as const,
  function: {
    name: 'look',
    parameters: { type: 'object', properties: {} },
    description: 'Looks',
    function: (): string => {
      throw new Error('Broken');
    },
  },
};
const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{"a":' } };
const schema = {
  type: 'json_schema' as const,
  json_schema: { name: 's', strict: true, schema: { type: 'object', properties: {} } },
};
const sent = (count: number) => ({
  requests: Array.from({ length: count }, () => expect.anything()),
});
const wav = new TextEncoder().encode('RIFF\0\0\0\0WAVEfmt ');
const vectors = (...indexes: number[]) =>
  json({
    object: 'list',
    model: 'm',
    data: indexes.map((index) => ({ object: 'embedding', index, embedding: [index] })),
    usage: { prompt_tokens: 1, total_tokens: 1 },
  });

const rows: Readonly<Record<string, Row>> = {
  'a connection lost during an image request': {
    answer: lost,
    run: generate,
    theirs: { ...sent(3), errorName: 'APIConnectionError' },
    ours: { ...sent(1), error: { outcome: 'unknown', unsafeToReplay: true } },
  },
  'maxRetries and an image': {
    answer: failed(500),
    options: { maxRetries: 5 },
    run: generate,
    theirs: sent(6),
    ours: sent(1),
  },
  'a chat call that exceeds timeout': {
    answer: silent,
    run: (client) => create(client, { timeout: 1_000 }),
    theirs: sent(3),
    ours: { ...sent(1), errorName: 'APIConnectionTimeoutError' },
  },
  409: {
    answer: failed(409),
    run: create,
    theirs: sent(3),
    ours: { ...sent(1), errorName: 'ConflictError' },
  },
  425: { answer: failed(425), run: create, theirs: sent(1), ours: sent(3) },
  'a permanent error code': {
    answer: failed(429, { code: 'insufficient_quota' }),
    run: create,
    theirs: sent(3),
    ours: sent(1),
  },
  'a Retry-After of more than a minute': {
    answer: failed(429, {}, { 'retry-after': '90' }),
    run: create,
    theirs: { errorName: 'RateLimitError', ...sent(3) },
    ours: { errorName: 'RateLimitError', ...sent(1) },
  },
  'a 401 with a function as apiKey': {
    answer: [failed(401), json(completion)],
    options: { apiKey: () => Promise.resolve('sk-new') },
    run: create,
    theirs: { errorName: 'AuthenticationError', ...sent(1) },
    ours: { value: expect.objectContaining({ id: 'c' }), ...sent(2) },
  },
  'x-should-retry: true': {
    answer: failed(500, {}, { 'x-should-retry': 'true' }),
    run: generate,
    theirs: sent(3),
    ours: sent(1),
  },
  'post() to another path': {
    answer: failed(500),
    run: (client) => client.post('/things', { body: {} }),
    theirs: sent(3),
    ours: sent(1),
  },
  'post() to another path with retryUnknownOutcome': {
    answer: failed(500),
    options: { retryUnknownOutcome: true },
    run: (client) => client.post('/things', { body: {} }),
    theirs: sent(3),
    ours: sent(3),
  },
  'a redirect': {
    answer: (request) =>
      request.redirect === 'follow'
        ? Response.json(completion)
        : new Response(null, { status: 307, headers: { location: 'https://other.test/' } }),
    run: create,
    theirs: { value: { id: 'c' } },
    ours: { errorName: 'UnexpectedRedirectError' },
  },
  'a stream without a finish reason': {
    answer: eventStream(chunk({ content: 'Hel' })),
    run: read,
    theirs: { value: { text: 'Hel' } },
    ours: {
      errorName: 'StreamTruncatedError',
      error: {
        partial: { choices: [{ message: { content: 'Hel' } }] },
      },
    },
  },
  'a stream whose connection breaks': {
    answer: open('breaks', chunk({ content: 'Hel' })),
    run: read,
    theirs: { errorName: 'TypeError' },
    ours: { errorName: 'StreamTruncatedError' },
  },
  'a stream without data': {
    answer: open('silent', chunk({ content: 'Hel' })),
    run: (client) =>
      Promise.race([
        read(client),
        new Promise((resolve) => {
          const wait = setTimeout(() => resolve('waiting'), 400_000);
          if (client instanceof Gateway) clearTimeout(wait);
        }),
      ]),
    theirs: { value: 'waiting' },
    ours: { errorName: 'StreamTimeoutError' },
  },
  'a stream whose signal is aborted': {
    answer: open('silent', chunk({ content: 'Hel' })),
    run: (client) => read(client, {}, { signal: signalAfter(1_000) }),
    theirs: { value: { text: 'Hel' } },
    ours: { errorName: 'APIUserAbortError', error: { partial: expect.anything() } },
  },
  'a stream whose controller is aborted': {
    answer: open('silent', chunk({ content: 'Hel' })),
    async run(client) {
      const stream = await client.chat.completions.create({ ...chat, stream: true });
      for await (const _ of stream) stream.controller.abort();
      return 'ended';
    },
    theirs: { value: 'ended' },
    ours: { value: 'ended' },
  },
  'include_usage: false': {
    answer: eventStream(chunk({ content: 'Hi' }, 'stop'), '[DONE]'),
    run: (client) => read(client, { stream_options: { include_usage: false } }),
    theirs: { requests: [{ body: { stream_options: { include_usage: false } } }] },
    ours: { requests: [{ body: { stream_options: { include_usage: true } } }] },
  },
  'usage in a chunk without choices': {
    answer: eventStream(chunk({ content: 'Hi' }, 'stop'), usageChunk, '[DONE]'),
    run: (client) => read(client),
    theirs: { value: { empty: 1 } },
    ours: { value: { empty: 0 } },
  },
  'requested usage': {
    answer: eventStream(chunk({ content: 'Hi' }, 'stop'), usageChunk, '[DONE]'),
    run: (client) => read(client, { stream_options: { include_usage: true } }),
    theirs: { value: { empty: 1 } },
    ours: { value: { empty: 1 } },
  },
  'a 200 with an empty object': {
    answer: json({}),
    run: create,
    theirs: { value: {} },
    ours: { errorName: 'UnexpectedResponseError' },
  },
  'a 200 with an error': {
    answer: json({ error: { message: 'Overloaded' } }),
    run: create,
    theirs: { value: { error: { message: 'Overloaded' } } },
    ours: { error: { message: expect.stringContaining('Overloaded') } },
  },
  'parse() with a model that rejects json_schema': {
    answer: [
      failed(400, {
        message:
          "'response_format.type' : value is not one of the allowed values ['text','json_object']",
      }),
      failed(400, {
        message: "'response_format.type' : value is not one of the allowed values ['text']",
      }),
      json(withMessage({ content: '{}' })),
    ],
    run: (client) => client.chat.completions.parse({ ...chat, response_format: schema }),
    theirs: { error: { status: 400 } },
    ours: { value: { choices: [{ message: { content: '{}' } }] } },
  },
  'output that parse() cannot parse': {
    answer: json(withMessage({ content: 'No.' })),
    run: (client) => client.chat.completions.parse({ ...chat, response_format: schema }),
    theirs: { errorName: 'SyntaxError' },
    ours: { errorName: 'InvalidOutputError', error: { completion: { id: 'c' } } },
  },
  'a tool call that was cut off': {
    answer: json(withMessage({ content: null, tool_calls: [call] }, 'length')),
    run: create,
    theirs: { value: { choices: [{ message: { tool_calls: [call] } }] } },
    ours: { value: { choices: [{ message: { tool_calls: [{ ...call, incomplete: true }] } }] } },
  },
  'a function of runTools() that throws': {
    answer: [
      json(
        withMessage(
          { content: null, tool_calls: [{ ...call, function: { name: 'look', arguments: '{}' } }] },
          'tool_calls',
        ),
      ),
      json(completion),
    ],
    run: (client) => client.chat.completions.runTools({ ...chat, tools: [tool] }).finalContent(),
    theirs: { ...sent(1), error: { message: expect.stringContaining('Broken') } },
    ours: { ...sent(2), value: 'Hi' },
  },
  'required fields that the gateway omits': {
    answer: json({
      choices: completion.choices,
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    }),
    run: create,
    theirs: { value: { usage: { prompt_tokens: 1, completion_tokens: 2 } } },
    ours: { value: { id: '', usage: { total_tokens: 3 } } },
  },
  'content that is an object': {
    answer: json(withMessage({ content: { a: 1 } })),
    run: create,
    theirs: { value: { choices: [{ message: { content: { a: 1 } } }] } },
    ours: { value: { choices: [{ message: { content: '{"a":1}' } }] } },
  },
  'fields of an image that are empty': {
    answer: json({
      created: 1,
      data: [{ url: '', b64_json: 'iVBORw0KGgo=', revised_prompt: null }],
    }),
    run: (client) => generate(client).then(({ data }) => Object.keys(data?.[0] ?? {})),
    theirs: { value: ['url', 'b64_json', 'revised_prompt'] },
    ours: { value: ['b64_json'] },
  },
  'embeddings out of order': {
    answer: vectors(1, 0),
    run: (client) =>
      client.embeddings
        .create({ model: 'm', input: ['a', 'b'], encoding_format: 'float' })
        .then(({ data }) => data.map(({ index }) => index)),
    theirs: { value: [1, 0] },
    ours: { value: [0, 1] },
  },
  'embeddings with the same index': {
    answer: vectors(0, 0),
    run: (client) =>
      client.embeddings
        .create({ model: 'm', input: ['a', 'b'], encoding_format: 'float' })
        .then(({ data }) => data.map(({ index }) => index)),
    theirs: { value: [0, 0] },
    ours: { value: [0, 1] },
  },
  'embeddings without encoding_format': {
    answer: vectors(0),
    run: (client) =>
      client.embeddings.create({ model: 'm', input: 'a' }).then(
        () => 'read',
        () => 'read',
      ),
    theirs: { requests: [{ body: { encoding_format: 'base64' } }] },
    ours: { requests: [{ body: { encoding_format: 'base64' } }] },
  },
  'empty messages': {
    run: (client) => client.chat.completions.create({ model: 'm', messages: [] }),
    theirs: sent(1),
    ours: { ...sent(0), errorName: 'InvalidInputError', error: { field: 'messages' } },
  },
  'a Map inside of JSON': {
    run: (client) => client.chat.completions.create(untyped({ ...chat, metadata: new Map() })),
    theirs: sent(1),
    ours: { ...sent(0), error: { field: expect.stringContaining('metadata') } },
  },
  'a misnamed option': {
    run: (client) => create(client, { abortSignal: signalAfter(0) }),
    theirs: sent(1),
    ours: { ...sent(0), error: { message: expect.stringContaining('signal') } },
  },
  'an image without a model': {
    answer: json({ created: 1, data: [{ b64_json: 'iVBORw0KGgo=' }] }),
    run: (client) => client.images.generate(untyped({ prompt: 'A cat' })),
    theirs: sent(1),
    ours: sent(1),
  },
  'a video without a model': {
    answer: json({ id: 'v', status: 'queued' }),
    run: (client) => client.videos.create({ prompt: 'A cat' }),
    theirs: sent(1),
    ours: { ...sent(0), error: { field: 'model' } },
  },
  'a file to transcribe without an extension': {
    answer: json({ text: 'Hi' }),
    run: async (client) =>
      client.audio.transcriptions.create({ model: 'm', file: await toTheirFile(wav, 'speech') }),
    theirs: { requests: [{ body: expect.stringContaining('filename="speech"') }] },
    ours: { requests: [{ body: expect.stringContaining('filename="speech.wav"') }] },
  },
  'a file to transcribe that is not audio': {
    answer: json({ text: 'Hi' }),
    run: async (client) =>
      client.audio.transcriptions.create({
        model: 'm',
        file: await toTheirFile(new TextEncoder().encode('<html>'), 'page.html'),
      }),
    theirs: sent(1),
    ours: { ...sent(0), errorName: 'InvalidInputError' },
  },
  'get() with /v1': {
    run: (client) => client.get('/v1/things'),
    theirs: { requests: [{ url: 'https://gateway.test/v1/v1/things' }] },
    ours: { requests: [{ url: 'https://gateway.test/v1/things' }] },
  },
  'get() with a full URL': {
    run: (client) => client.get('https://other.test/things'),
    theirs: { requests: [{ url: 'https://other.test/things' }] },
    ours: sent(0),
  },
  'a path in the options of a call': {
    run: (client) => create(client, { path: '/things' }),
    theirs: { requests: [{ url: 'https://gateway.test/v1/things' }] },
    ours: { ...sent(0), error: { message: expect.stringContaining('client.request(') } },
  },
  'a query parameter that is null': {
    options: { defaultQuery: { a: '1' } },
    run: (client) => client.get('/things', { query: { a: null } }),
    theirs: { requests: [{ url: 'https://gateway.test/v1/things?a=' }] },
    ours: { requests: [{ url: 'https://gateway.test/v1/things' }] },
  },
  'a response that does not end in time': {
    // A short one, with a limit to match: the client without a limit reads it all.
    answer: json({ ...completion, padding: 'x'.repeat(3_000) }),
    options: { maxResponseBytes: 2_000 },
    run: create,
    theirs: { value: { padding: expect.stringMatching(/^x{3000}$/) } },
    ours: { ...sent(1), error: { message: expect.stringContaining('maxResponseBytes') } },
  },
  'console.log(client)': {
    run: async (client) => inspect(client),
    theirs: { value: expect.stringContaining('sk-secret') },
    ours: { value: "Gateway { baseURL: 'https://gateway.test' }" },
  },
  'error.message': {
    answer: failed(400),
    run: create,
    theirs: { error: { message: '400 Failed' } },
    ours: { error: { message: expect.stringMatching(/^400 Failed\. .+/) } },
  },
};

/** Starts a helper, and handles neither its events nor its promises. */
async function abandon(client: TheirOpenAI): Promise<void> {
  const helper = client.chat.completions.stream(chat);
  while (!helper.ended) await takeTurn();
  await takeTurn();
}

async function observe(connect: (options: object) => TheirOpenAI, row: Row): Promise<Seen> {
  const requests: { url: string; body: unknown }[] = [];
  let headers: Headers | undefined;
  const answers = [row.answer ?? json(completion)].flat();
  const client = connect({
    apiKey: 'sk-secret-key',
    baseURL: 'https://gateway.test/v1',
    logLevel: 'off',
    logger: { error() {}, warn() {}, info() {}, debug() {} },
    fetch: async (input: string | URL, init: RequestInit = {}) => {
      // openai tests with one whether `fetch` can send forms.
      if (input.toString().startsWith('data:')) return new Response();
      const request = new Request(input, { ...init, signal: null });
      ({ headers } = request);
      const text = await request.clone().text();
      const isJSON = headers.get('content-type')?.includes('json');
      requests.push({ url: request.url, body: isJSON ? JSON.parse(text) : text });
      const answer = answers[Math.min(requests.length, answers.length) - 1];
      if (answer === undefined) throw new Error('No response is left.');
      return answer(request, init.signal);
    },
    ...row.options,
  });
  const end = await settle((async () => row.run(client))());
  vi.clearAllTimers();
  const errorName: unknown = Object(end.error).constructor.name;
  return { ...end, ...('error' in end && { errorName }), requests, headers };
}

const theirs = (options: object) => new TheirOpenAI(options);
const ours = (options: object) => asOpenAI<TheirOpenAI>(new Gateway(options));

describe('differences from openai', () => {
  test.each(Object.entries(rows))('%s', async (_, row) => {
    expect(await observe(theirs, row)).toMatchObject(row.theirs);
    expect(await observe(ours, row)).toMatchObject(row.ours);
  });

  test('x-stainless headers are not sent', async () => {
    const names = async (make: typeof theirs) => {
      const { headers } = await observe(make, { run: create, theirs: {}, ours: {} });
      return [...(headers ?? [])].filter(([name]) => name.startsWith('x-stainless-'));
    };

    expect(await names(theirs)).not.toEqual([]);
    expect(await names(ours)).toEqual([]);
  });

  test('variables of openai are not read', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-env');
    const other = new TheirOpenAI();
    expect([other.apiKey, other.baseURL]).toEqual(['sk-env', 'https://api.openai.com/v1']);
    expect(new Gateway().apiKey).not.toBe('sk-env');

    vi.unstubAllEnvs();
    expect(() => new TheirOpenAI({ apiKey: undefined })).toThrow('OPENAI_API_KEY');
    const client = new Gateway({ logLevel: 'off' });
    const { error } = await settle(client.models.list());
    expect(error).toBeInstanceOf(InvalidInputError);
  });

  test.each([
    { code: 'ENOTFOUND', byTheirs: 3, byOurs: 2 },
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', byTheirs: 3, byOurs: 1 },
  ])("an address that the runtime's fetch cannot reach: $code", async (row) => {
    const fetchOf = vi.fn<() => Promise<Response>>(async () => unreachable(row.code)());
    vi.stubGlobal('fetch', fetchOf);
    const attempts = async (make: typeof theirs): Promise<number> => {
      fetchOf.mockClear();
      const client = make({ apiKey: 'sk-1', baseURL: 'https://gateway.test/v1', logLevel: 'off' });
      await settle((async () => create(client))());
      return fetchOf.mock.calls.length;
    };

    expect(await attempts(theirs)).toBe(row.byTheirs);
    expect(await attempts(ours)).toBe(row.byOurs);
    vi.unstubAllGlobals();
  });

  test('a helper whose failure nobody handles', async () => {
    const unhandled = vi.fn<(reason: unknown) => void>();
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', unhandled);
    onTestFinished(() => {
      process.removeAllListeners('unhandledRejection');
      for (const listener of listeners) process.on('unhandledRejection', listener);
    });
    const fail = async (connect: typeof theirs): Promise<number> => {
      unhandled.mockClear();
      const answer = failed(400);
      await observe(connect, { answer, run: abandon, theirs: {}, ours: {} });
      return unhandled.mock.calls.length;
    };

    expect(await fail(theirs)).toBe(1);
    expect(await fail(ours)).toBe(0);
  });

  test('classes and statics', () => {
    const names = ['Chat', 'Completions', 'Embeddings', 'Images', 'Audio', 'Videos', 'Models'];
    const kindsOf = (owner: object) => names.map((name) => typeof Reflect.get(owner, name));

    expect(new Set(kindsOf(TheirOpenAI))).toEqual(new Set(['function']));
    expect(kindsOf(Gateway)).toEqual([
      ...Array.from({ length: 4 }, () => 'function'),
      ...Array.from({ length: 3 }, () => 'undefined'),
    ]);
    expect(['toStreamingFile' in TheirOpenAI, 'toStreamingFile' in Gateway]).toEqual([true, false]);
    expect(['fromSSEResponse' in TheirStream, 'fromSSEResponse' in Stream]).toEqual([true, false]);
    expect('fromReadableStream' in Stream).toBe(true);
  });
});
