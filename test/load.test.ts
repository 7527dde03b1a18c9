import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { APIConnectionError } from '../src/errors/api-errors.ts';
import { later } from '../src/load.ts';
import type { Fetch, GatewayOptions } from '../src/options.ts';

/** What browsers say of a chunk that they cannot get. */
const offline = new TypeError('Failed to fetch dynamically imported module: /assets/part.js');

describe('a part that is loaded later', () => {
  test('is loaded once', async () => {
    const load = vi.fn(() => Promise.resolve({ name: 'part' }));
    const part = later('videos', load);

    expect(await Promise.all([part(), part()])).toEqual([{ name: 'part' }, { name: 'part' }]);
    expect(load).toHaveBeenCalledTimes(1);
  });

  test('names itself and the fix when it does not come', async () => {
    const part = later('videos', () => Promise.reject(offline));

    const error = await part().catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(APIConnectionError);
    expect(error).toMatchObject({
      name: 'APIConnectionError',
      outcome: 'not_sent',
      cause: offline,
    });
    expect(error).toHaveProperty(
      'message',
      'The part of model-gateway for videos could not be loaded: Failed to fetch dynamically imported module: /assets/part.js. Nothing was sent. Try again once there is a connection, and reload the page if that does not help: some browsers do not ask for such a file a second time, and a new deployment may have taken it away.',
    );
  });

  test('is asked for again after a failure', async () => {
    const load = vi.fn(() => Promise.resolve('part')).mockRejectedValueOnce(offline);
    const part = later('videos', load);

    await expect(part()).rejects.toThrow('could not be loaded');
    expect(await part()).toBe('part');
  });
});

/** A client whose parts do not come, and its `fetch`. */
async function cutOff() {
  const parts = [
    '../src/videos/operations.ts',
    '../src/chat/engine.ts',
    '../src/chat/operations.ts',
    '../src/generate/operations.ts',
    '../src/rare.ts',
  ];
  for (const part of parts) {
    vi.doMock(part, () => {
      throw offline;
    });
  }
  const { Gateway } = await import('../src/gateway.ts');
  const fetch = vi.fn(() => Promise.resolve(new Response('{}')));
  const gateway = new Gateway({ apiKey: 'key', baseURL: 'https://gateway.test', fetch });
  return { gateway, fetch };
}

test('observers that do not come are done without, and the log tells', async () => {
  vi.resetModules();
  vi.doMock('../src/observing/observe.ts', () => {
    throw offline;
  });
  const { Gateway } = await import('../src/gateway.ts');
  const error = vi.fn();
  const start = vi.fn();
  const gateway = new Gateway({
    apiKey: 'key',
    baseURL: 'https://gateway.test',
    fetch: () => Promise.resolve(Response.json({ data: [] })),
    logger: { ...console, error },
    observer: { start },
  });

  expect((await gateway.models.list()).data).toEqual([]);
  expect(start).not.toHaveBeenCalled();
  expect(error).toHaveBeenCalledWith('[model-gateway] Not observed', {
    error: expect.stringContaining('could not be loaded'),
  });
});

test('a call sends what was given, also when observers come after that was used again', async () => {
  vi.resetModules();
  vi.doUnmock('../src/observing/observe.ts');
  const { Gateway } = await import('../src/gateway.ts');
  const texts: unknown[] = [];
  const gateway = new Gateway({
    apiKey: 'key',
    baseURL: 'https://gateway.test',
    maxRetries: 0,
    fetch: async (input, init) => {
      texts.push((await new Request(input, init).json()).messages[0].content);
      return Response.json({}, { status: 400 });
    },
    observer: { start: () => ({}) },
  });
  const message = { role: 'user' as const, content: 'one' };
  const ask = () => gateway.chat.completions.create({ model: 'm', messages: [message] });
  const first = ask();
  message.content = 'two';
  const second = ask();
  message.content = 'three';

  await Promise.allSettled([first, second]);
  expect(texts).toEqual(['one', 'two']);
});

test('a call ends at once when it is aborted while its observers come', async () => {
  vi.resetModules();
  vi.doMock('../src/observing/observe.ts', () => new Promise(() => {}));
  const { Gateway } = await import('../src/gateway.ts');
  const fetch = vi.fn<Fetch>();
  const observer = { start: () => ({}) };
  const gateway = new Gateway({ apiKey: 'key', baseURL: 'https://gateway.test', fetch, observer });
  const image = new Readable({ read: () => {} });
  const controller = new AbortController();
  const { signal } = controller;
  await gateway.images.edit({ model: 'm', prompt: '', image: '' }, { signal }).catch(() => {});
  const call = gateway.images.edit({ model: 'm', prompt: 'A hat', image }, { signal });
  controller.abort();

  await expect(call).rejects.toMatchObject({ name: 'APIUserAbortError', outcome: 'not_sent' });
  expect(image.destroyed).toBe(true);
  expect(fetch).not.toHaveBeenCalled();
  vi.doUnmock('../src/observing/observe.ts');
});

describe('a call whose part does not come', () => {
  beforeEach(() => {
    vi.resetModules();
  });

  type Cut = Awaited<ReturnType<typeof cutOff>>['gateway'];
  const order = { model: 'm', prompt: 'A paper boat' };
  const question = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };

  const calls: Record<string, (gateway: Cut) => PromiseLike<unknown>> = {
    'videos.create': ({ videos }) => videos.create(order),
    'videos.remix': ({ videos }) => videos.remix('task', order),
    'videos.createAndWait': ({ videos }) => videos.createAndWait(order),
    'videos.remixAndWait': ({ videos }) => videos.remixAndWait('task', order),
    'videos.wait': ({ videos }) => videos.wait('task'),
    'videos.step': ({ videos }) => videos.step('task'),
    'videos.watch': ({ videos }) => videos.watch('task').next(),
    'videos.waitAll': ({ videos }) => videos.waitAll(['task']).next(),
    'videos.downloadContent': ({ videos }) => videos.downloadContent('task'),
    'images.generate': ({ images }) => images.generate(order),
    'images.generate, streamed': ({ images }) => images.generate({ ...order, stream: true }),
    'images.edit': ({ images }) => images.edit({ ...order, image: 'https://example.com/a.png' }),
    'generate.content': ({ generate }) => generate.content({ model: 'm', contents: 'Hi' }),
    'generate.contentStream': ({ generate }) =>
      generate.contentStream({ model: 'm', contents: 'Hi' }),
    'generate.runTools': ({ generate }) =>
      generate.runTools({ model: 'm', contents: 'Hi', functions: [] }),
    'chat.completions.parse': ({ chat }) => chat.completions.parse(question),
    'chat.completions.stream': ({ chat }) => chat.completions.stream(question).done(),
    'chat.completions.stream, with a format': ({ chat }) =>
      chat.completions.stream({ ...question, response_format: { type: 'json_object' } }).done(),
    'chat.completions.runTools': ({ chat }) =>
      chat.completions.runTools({ ...question, tools: [] }).done(),
    'embeddings.create': ({ embeddings }) => embeddings.create({ model: 'm', input: 'Hi' }),
    'embeddings.createForEngine': ({ embeddings }) =>
      embeddings.createForEngine({ model: 'm', input: 'Hi' }),
    'embeddings.createMany': ({ embeddings }) =>
      embeddings.createMany({ model: 'm', input: ['Hi'] }),
    'audio.speech.create': ({ audio }) =>
      audio.speech.create({ model: 'm', voice: 'alloy', input: 'Hi' }),
    'audio.transcriptions.create': ({ audio }) =>
      audio.transcriptions.create({ model: 'm', file: new File(['ID3'], 'a.mp3') }),
    'audio.translations.create': ({ audio }) =>
      audio.translations.create({ model: 'm', file: new File(['ID3'], 'a.mp3') }),
    'models.list': ({ models }) => models.list(),
    'models.retrieve': ({ models }) => models.retrieve('m'),
    post: (gateway) => gateway.post('/v1/responses', { body: { model: 'm' } }),
  };

  test('leaves no rejection that nobody hears when its options are wrong too', async () => {
    const { gateway, fetch } = await cutOff();
    const unheard = vi.fn();
    process.on('unhandledRejection', unheard);

    const call = gateway.images.generate(order, { timeout: -1 });

    await expect(call).rejects.toMatchObject({ name: 'InvalidInputError', field: 'timeout' });
    // Another part that does not come takes as long.
    await gateway.videos.step('task').catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', unheard);
    expect(unheard).not.toHaveBeenCalled();
    expect(fetch).not.toHaveBeenCalled();
  });

  test('tells listeners and loops of a helper', async () => {
    const { gateway } = await cutOff();
    const stream = gateway.chat.completions.stream(question);
    const names: string[] = [];
    stream.on('error', ({ name }) => names.push(name)).on('end', () => names.push('end'));

    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      name: 'APIConnectionError',
      outcome: 'not_sent',
    });
    expect(names).toEqual(['APIConnectionError', 'end']);
    expect(stream).toMatchObject({ ended: true, errored: true, aborted: false });
    expect(stream.currentChatCompletionSnapshot).toBeUndefined();
  });

  test('closes what it was to read, whose call may have been charged', async () => {
    await cutOff();
    const { ChatCompletionStream } = await import('../src/stream.ts');
    const cancel = vi.fn();

    const stream = ChatCompletionStream.fromReadableStream(new ReadableStream({ cancel }));

    await expect(stream.done()).rejects.toMatchObject({ name: 'GatewayError', outcome: 'unknown' });
    expect(cancel).toHaveBeenCalled();
  });

  test.each(Object.entries(calls))('%s sends nothing', async (_, call) => {
    const { gateway, fetch } = await cutOff();

    const error = await Promise.resolve(call(gateway)).catch((caught: unknown) => caught);

    expect(error).toMatchObject({ name: 'APIConnectionError', outcome: 'not_sent' });
    expect(fetch).not.toHaveBeenCalled();
  });
});

const slowParts = [
  '../src/chat/engine.ts',
  '../src/rare.ts',
  '../src/videos/operations.ts',
  '../src/generate/operations.ts',
  '../src/account/reader.ts',
];

/** A client most of whose parts come when they are let go, and the bodies that were sent. */
async function slow(options: GatewayOptions = {}) {
  vi.resetModules();
  const waiting: (() => void)[] = [];
  const gate = new Promise<void>((resolve) => waiting.push(resolve));
  vi.doUnmock('../src/chat/operations.ts');
  for (const part of slowParts) {
    vi.doMock(part, async (importOriginal) => {
      await gate;
      return importOriginal();
    });
  }
  const { Gateway } = await import('../src/gateway.ts');
  const bodies: unknown[] = [];
  const sent: { url: string; headers: Headers; body: string }[] = [];
  const fetch: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const body = await request.text();
    bodies.push(body);
    sent.push({ url: request.url, headers: request.headers, body });
    return Response.json({ created: 1, data: [{ url: 'https://example.com/a.png' }] });
  };
  const base = { apiKey: 'key', baseURL: 'https://gateway.test', fetch, maxRetries: 0 };
  const gateway = new Gateway({ ...base, ...options });
  return { gateway, bodies, sent, come: () => waiting.forEach((go) => go()) };
}

describe('a call whose part takes a while to come', () => {
  afterEach(() => {
    vi.useRealTimers();
    for (const part of slowParts) vi.doUnmock(part);
  });

  test('sends what was given, also when that is used for another call', async () => {
    const { gateway, bodies, come } = await slow();
    const params = { model: 'm', prompt: 'one' };
    const first = gateway.images.generate(params);
    params.prompt = 'two';
    const second = gateway.images.generate(params);
    const body = { input: ['one'] };
    const third = gateway.post('/v1/responses', { body });
    body.input[0] = 'three';
    come();

    await Promise.all([first, second, third]);

    expect(bodies.map((text) => JSON.parse(String(text)))).toEqual([
      { model: 'm', prompt: 'one' },
      { model: 'm', prompt: 'two' },
      { input: ['one'] },
    ]);
  });

  test('goes by the options as they were, so that no key stands for two calls', async () => {
    const { gateway, sent, come } = await slow({ idempotency: { header: 'idempotency-key' } });
    const given = { idempotencyKey: '', headers: new Headers(), extraBody: { user: '' } };
    const ask = (user: string, call: (options: typeof given) => PromiseLike<unknown>) => {
      given.idempotencyKey = `key-${user}`;
      given.headers.set('x-user', user);
      given.extraBody.user = user;
      return call(given);
    };
    const { images, chat, embeddings } = gateway;
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const calls = [
      ask('a', (own) => images.generate({ model: 'm', prompt: 'A boat' }, own)),
      ask('b', (own) => chat.completions.create({ model: 'm', messages }, own).asResponse()),
      ask('c', (own) => chat.completions.stream({ model: 'm', messages }, own).done()),
      ask('d', (own) => chat.completions.runTools({ model: 'm', messages, tools: [] }, own).done()),
      ask('e', (own) => embeddings.create({ model: 'm', input: 'Hi' }, own)),
      ask('f', (own) => gateway.post('/v1/responses', { ...own, body: {} })),
    ];
    given.idempotencyKey = 'nobody';
    come();

    await Promise.allSettled(calls);

    expect(sent).toHaveLength(calls.length);
    expect(new Set(sent.map(({ headers }) => headers.get('x-user'))).size).toBe(calls.length);
    for (const { headers, body } of sent) {
      const user = headers.get('x-user');
      expect(headers.get('idempotency-key')).toBe(`key-${user}`);
      expect(JSON.parse(body)).toMatchObject({ user });
    }
  });

  test('goes to the gateway that the client had', async () => {
    const { gateway, sent, come } = await slow();
    const call = gateway.embeddings.createMany({ model: 'm', input: ['Hi'] });
    gateway.baseURL = 'https://other.test';
    come();

    await expect(call).rejects.toThrow();
    expect(sent.map(({ url }) => new URL(url).host)).toEqual(['gateway.test']);
  });

  test('hears of a stream that fails meanwhile', async () => {
    const { gateway, bodies, come } = await slow();
    const image = new Readable({ read: () => {} });
    const call = gateway.images.edit({ model: 'm', prompt: 'A hat', image });
    image.destroy(new Error('the disk is gone'));
    await finished(image).catch(() => {});
    come();

    await expect(call).rejects.toMatchObject({ name: 'InvalidInputError', field: 'image' });
    expect(bodies).toEqual([]);
  });

  test('ends at once when it is aborted', async () => {
    const { gateway, bodies } = await slow();
    const controller = new AbortController();
    const { signal } = controller;
    const call = gateway.images.generate({ model: 'm', prompt: 'A boat' }, { signal });
    controller.abort(new Error('enough'));

    await expect(call).rejects.toMatchObject({
      name: 'APIUserAbortError',
      outcome: 'not_sent',
      cause: new Error('enough'),
    });
    expect(bodies).toEqual([]);
  });

  test('ends at once when its helper is aborted', async () => {
    const { gateway, bodies, come } = await slow();
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const stream = gateway.chat.completions.stream({ model: 'm', messages });
    const aborted = stream.emitted('abort');
    stream.abort();

    await expect(stream.done()).rejects.toMatchObject({
      name: 'APIUserAbortError',
      outcome: 'not_sent',
    });
    await expect(aborted).resolves.toMatchObject({ outcome: 'not_sent' });
    come();
    await new Promise((resolve) => setImmediate(resolve));
    expect(bodies).toEqual([]);
  });

  test('ends when its time is over', async () => {
    vi.useFakeTimers();
    const { gateway, bodies } = await slow();
    const call = gateway.images.generate({ model: 'm', prompt: 'A boat' }, { totalTimeout: 5_000 });
    const error = call.catch((caught: unknown) => caught);
    await vi.advanceTimersByTimeAsync(5_000);

    expect(await error).toMatchObject({
      name: 'APIConnectionTimeoutError',
      outcome: 'not_sent',
      message: expect.stringContaining('5000 ms'),
    });
    expect(bodies).toEqual([]);
  });

  test('has no more time because it waited', async () => {
    vi.useFakeTimers();
    const { gateway, come } = await slow({ fetch: () => new Promise<Response>(() => {}) });
    const call = gateway.images.generate({ model: 'm', prompt: 'A boat' }, { totalTimeout: 5_000 });
    const over = vi.fn();
    call.catch(over);
    await vi.advanceTimersByTimeAsync(4_000);
    come();
    await vi.dynamicImportSettled();
    await vi.advanceTimersByTimeAsync(999);
    expect(over).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);

    expect(over).toHaveBeenCalledWith(
      expect.objectContaining({
        name: 'APIConnectionTimeoutError',
        message: expect.stringContaining('5000 ms'),
      }),
    );
  });

  type Slow = Awaited<ReturnType<typeof slow>>['gateway'];
  const order = { model: 'm', prompt: 'A paper boat' };
  const waits: Record<string, (gateway: Slow, signal: AbortSignal) => PromiseLike<unknown>> = {
    'embeddings.createMany': ({ embeddings }, signal) =>
      embeddings.createMany({ model: 'm', input: ['Hi'] }, { signal }),
    'images.generateMany': ({ images }, signal) => images.generateMany([order], { signal }).next(),
    'generate.runTools': ({ generate }, signal) =>
      generate.runTools({ model: 'm', contents: 'Hi', functions: [] }, { signal }),
    'videos.create': ({ videos }, signal) => videos.create(order, { signal }),
    'videos.createAndWait': ({ videos }, signal) => videos.createAndWait(order, { signal }),
    'videos.createAndWaitAll': ({ videos }, signal) =>
      videos.createAndWaitAll([order], { signal }).next(),
    'videos.remixAndWait': ({ videos }, signal) => videos.remixAndWait('task', order, { signal }),
    'videos.wait': ({ videos }, signal) => videos.wait('task', { signal }),
    'videos.waitAll': ({ videos }, signal) => videos.waitAll(['task'], { signal }).next(),
    'videos.watch': ({ videos }, signal) => videos.watch('task', { signal }).next(),
    'videos.step': ({ videos }, signal) => videos.step('task', undefined, { signal }),
    'account.balance': ({ account }, signal) => account.balance({ signal }),
  };

  test.each(Object.entries(waits))('%s ends at once when it is aborted', async (_, call) => {
    const { gateway, bodies } = await slow();
    const controller = new AbortController();
    const ended = Promise.resolve(call(gateway, controller.signal)).catch(
      (error: unknown) => error,
    );
    controller.abort(new Error('enough'));

    expect(await ended).toMatchObject({
      name: 'APIUserAbortError',
      outcome: 'not_sent',
      cause: new Error('enough'),
    });
    expect(bodies).toEqual([]);
  });

  test.each(['create', 'createAndWait'] as const)(
    'videos.%s closes the stream that it was given when it is aborted',
    async (method) => {
      const { gateway } = await slow();
      const controller = new AbortController();
      const stream = new Readable({ read: () => {} });
      const { signal } = controller;
      const call = gateway.videos[method]({ ...order, input_reference: stream }, { signal });
      controller.abort();

      await expect(call).rejects.toMatchObject({ name: 'APIUserAbortError' });
      expect(stream.destroyed).toBe(true);
    },
  );
});

test('a call whose part is there copies nothing of what it was given', async () => {
  vi.resetModules();
  const { Gateway } = await import('../src/gateway.ts');
  const answer = { data: [{ index: 0, embedding: [1] }] };
  const fetch: Fetch = async () => Response.json(answer);
  const gateway = new Gateway({ apiKey: 'key', baseURL: 'https://gateway.test', fetch });
  const user = vi.fn(() => 'me');
  const params = {
    model: 'm',
    input: 'Hi',
    metadata: Object.defineProperty({}, 'user', { get: user, enumerable: true }),
  };
  await gateway.embeddings.create({ model: 'm', input: 'Hi' });

  await gateway.embeddings.create(params);

  expect(user).toHaveBeenCalledTimes(1);
});

test('a form sends the bytes that it was given, also when these are used again', async () => {
  const { Gateway } = await import('../src/gateway.ts');
  const sent: string[] = [];
  const gateway = new Gateway({
    apiKey: 'key',
    baseURL: 'https://gateway.test',
    fetch: async (input, init) => {
      sent.push(await new Request(input, init).text());
      return Response.json({ created: 1, data: [{ url: 'https://example.com/a.png' }] });
    },
  });
  const image = new TextEncoder().encode('first');
  const edit = () => gateway.images.edit({ model: 'm', prompt: 'A hat', image });
  await edit();
  image.set(new TextEncoder().encode('other'));
  const call = edit();
  image.fill(0);
  await call;

  expect(sent.map((body) => /first|other/.exec(body)?.[0])).toEqual(['first', 'other']);
});

test('calls that nobody can count are forgotten, and told of as calls without a price', async () => {
  vi.resetModules();
  vi.doMock('../src/account/costs.ts', () => {
    throw offline;
  });
  const { Gateway } = await import('../src/gateway.ts');
  const gateway = new Gateway({
    apiKey: 'key',
    baseURL: 'https://gateway.test',
    fetch: () => Promise.resolve(Response.json({ ok: true })),
  });

  for (let times = 0; times < 3_001; times += 1) await gateway.post('/v1/things', { body: {} });

  const { calls } = gateway.transport();
  await vi.waitFor(() => expect(calls.lost).toBe(1_500), { timeout: 10_000 });
  expect(calls.records.length).toBe(1_501);
  vi.doUnmock('../src/account/costs.ts');
  const { spent } = await import('../src/account/costs.ts');
  expect(spent(gateway.transport())).toMatchObject({
    lines: [{ operation: 'POST', calls: 1_501 }],
    unpriced: 3_001,
  });
});
