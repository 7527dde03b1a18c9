import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type {
  CallObserver,
  ObservedCall,
  ObservedEnd,
  ObservedRequest,
  ObservedResponse,
  Observer,
} from '../../../src/index.ts';
import { Gateway, toStreamingFile } from '../../../src/index.ts';
import { collect, emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { resolved } from '../../helpers/fake-time.ts';

const ask = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hello' }] };
const asStream = { ...ask, stream: true as const };

const completion = {
  id: 'chatcmpl-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
};

interface Seen {
  readonly call: ObservedCall;
  readonly requests: ObservedRequest[];
  readonly responses: ObservedResponse[];
  readonly ends: ObservedEnd[];
  chunks: number;
}

/** An observer that writes everything down. */
function recorder(more: Partial<CallObserver> = {}): { observer: Observer; calls: Seen[] } {
  const calls: Seen[] = [];
  const observer: Observer = {
    start(call) {
      const seen: Seen = { call, requests: [], responses: [], ends: [], chunks: 0 };
      calls.push(seen);
      return {
        attempt(request) {
          seen.requests.push(request);
          return (response) => void seen.responses.push(response);
        },
        firstChunk: () => void (seen.chunks += 1),
        end: (end) => void seen.ends.push(end),
        ...more,
      };
    },
  };
  return { observer, calls };
}

/** A stream whose body is written by the test. */
function openBody() {
  let target: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      target = controller;
    },
  });
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'Hi' } }] };
  const send = (): void =>
    target?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
  return { response, send, fail: (error: Error) => target?.error(error) };
}

describe('an observer of a call', () => {
  test('an observer of a call that succeeds after a lost attempt has the evidence of that attempt', async () => {
    const { observer, calls } = recorder();
    const { client, emulator } = emulated({ observer, maxRetries: 1, budget: { limit: 1 } });
    const operation = 'chat.completions.create';
    emulator.fail({ fault: { type: 'error', status: 503, charged: true }, operation, times: 1 });

    await client.chat.completions.create({ ...ask, model: 'm-large' });

    const chat = calls.find(({ call }) => call.operation === operation);
    const [end] = chat?.ends ?? [];
    expect(end).toMatchObject({
      outcome: 'completed',
      attempts: [{ phase: 'headers', status: 503 }],
      possibleCharges: 1,
      budget: { limit: 1, spent: expect.any(Number), reserved: 0 },
    });
    expect(chat?.responses).toMatchObject([{ phase: 'headers' }, { phase: undefined }]);
  });

  test('an observer receives a call that succeeds', async () => {
    const { observer, calls } = recorder();
    const { client, emulator } = emulated({ observer });

    const answer = await client.chat.completions.create(ask, { callId: 'job-1' });

    expect(calls).toHaveLength(1);
    expect(calls[0]?.call).toEqual({
      operation: 'chat.completions.create',
      chargeClass: 'metered',
      callId: 'job-1',
      model: 'gpt-4o-mini',
      baseURL: emulator.baseURL,
      stream: false,
      params: { model: 'gpt-4o-mini' },
      trace: undefined,
    });
    expect(calls[0]?.requests).toEqual([
      {
        operation: 'chat.completions.create',
        callId: 'job-1',
        attempt: 1,
        delayMs: 0,
        method: 'POST',
        url: `${emulator.baseURL}/v1/chat/completions`,
        headers: expect.objectContaining({
          authorization: '[key]',
          'content-type': 'application/json',
        }),
        body: JSON.stringify(ask),
      },
    ]);
    expect(calls[0]?.responses).toEqual([
      expect.objectContaining({ status: 200, requestId: answer._request_id, code: undefined }),
    ]);
    expect(calls[0]?.ends).toEqual([
      {
        outcome: 'completed',
        error: undefined,
        answer,
        usage: answer.usage,
        finishReasons: ['stop'],
        responseId: answer.id,
        responseModel: answer.model,
        requestId: answer._request_id,
        attempts: [],
        possibleCharges: 0,
      },
    ]);
  });

  test('an observer receives a retried call as one, with an attempt and a pause for each request', async () => {
    const { observer, calls } = recorder();
    const { client, emulator } = emulated({ observer });
    emulator.fail({ fault: { type: 'rate-limit', retryAfter: 0 } });

    await client.chat.completions.create(ask);

    const [{ requests, responses, ends } = { requests: [], responses: [], ends: [] }] = calls;
    expect(calls).toHaveLength(1);
    expect(requests.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(responses.map(({ status }) => status)).toEqual([429, 200]);
    expect(responses[0]?.message).toBeTypeOf('string');
    expect(ends.map(({ outcome }) => outcome)).toEqual(['completed']);
  });

  test('an observer receives the pauses of a retried call, before and after each', async () => {
    const retry = vi.fn<NonNullable<CallObserver['retry']>>();
    const { observer, calls } = recorder({ retry });
    const limited = new Response('', { status: 429, headers: { 'retry-after-ms': '15' } });
    const { client } = scripted([limited, json(completion)], { observer });
    vi.useFakeTimers();

    const answer = client.chat.completions.create(ask);
    await vi.waitFor(() => expect(retry).toHaveBeenCalledOnce());
    expect(calls[0]?.requests).toHaveLength(1);
    await resolved(answer);
    vi.useRealTimers();

    const [[waited] = []] = retry.mock.calls;
    expect(waited).toEqual({ retry: 1, maxRetries: 2, delayMs: expect.any(Number) });
    expect(waited?.delayMs).toBeGreaterThanOrEqual(15);
    const [before = NaN, between = NaN] = calls[0]?.requests.map(({ delayMs }) => delayMs) ?? [];
    expect(before).toBe(0);
    expect(between).toBeGreaterThanOrEqual(14);
    expect(between).toBeLessThan(1_000);
  });

  test('an observer receives a call that fails', async () => {
    const { observer, calls } = recorder();
    const { client, emulator } = emulated({ observer });
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' } });

    const error = await failureOf(client.images.generate({ model: 'm', prompt: 'A boat' }));

    expect(calls[0]?.call.chargeClass).toBe('charged');
    expect(calls[0]?.responses).toEqual([
      expect.objectContaining({ status: undefined, headers: {}, code: expect.any(String) }),
    ]);
    expect(calls[0]?.ends).toEqual([expect.objectContaining({ outcome: 'unknown', error })]);
  });

  test('an observer receives an unusable response, and the following attempt', async () => {
    const { observer, calls } = recorder();
    const page = new Response('<!doctype html>');
    const { client } = scripted([page, json({ data: [] })], { observer });

    await client.models.list();

    expect(calls[0]?.responses.length).toBeGreaterThan(0);
    expect(calls[0]?.ends).toHaveLength(1);
  });

  test('an observer receives the fields and the model of a form', async () => {
    const { observer, calls } = recorder();
    const { client } = emulated({ observer });

    const task = await client.videos.create({
      model: 'sora-2',
      prompt: 'A boat',
      seconds: 4,
      metadata: { a: 1 },
    });

    expect(calls[0]?.call).toMatchObject({
      operation: 'videos.create',
      model: 'sora-2',
      params: { prompt: 'A boat' },
    });
    expect(calls[0]?.requests[0]?.body).toEqual([
      ['model', 'sora-2'],
      ['prompt', 'A boat'],
      ['seconds', '4'],
      ['metadata', '{"a":1}'],
    ]);
    expect(calls[0]?.ends[0]).toMatchObject({ outcome: 'completed', responseId: task.id });
  });

  test('an observer receives files, and a description of streams', async () => {
    const { observer, calls } = recorder();
    const { client } = emulated({ observer });
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3, 4]);
    const file = new File([png], 'a.png', { type: 'image/png' });
    const streamed = { name: 'b.png', stream: () => new Blob([png]).stream() };

    await client.images.edit({ model: 'm', prompt: 'A boat', image: [file, file] });
    await client.images
      .edit({ model: 'm', prompt: 'A boat', image: toStreamingFile(streamed.stream(), 'b.png') })
      .catch(() => undefined);

    expect(calls[0]?.requests[0]?.body).toEqual([
      ['model', 'm'],
      ['prompt', 'A boat'],
      ['image[]', file],
      ['image[]', file],
    ]);
    expect(calls[1]?.requests[0]?.body).toContainEqual(['image', '[file]']);
  });

  test('an observer receives the model of the path, usage and finish reasons of a call to Gemini', async () => {
    const { observer, calls } = recorder();
    const { client } = emulated({ observer });

    const answer = await client.generate.content({ model: 'gemini-2.5-flash', contents: 'Hi' });

    expect(calls[0]?.call).toMatchObject({
      model: 'gemini-2.5-flash',
      params: { model: 'gemini-2.5-flash' },
    });
    expect(calls[0]?.ends[0]).toMatchObject({
      usage: answer.usageMetadata,
      finishReasons: ['STOP'],
      responseModel: answer.modelVersion,
    });
  });
});

describe('the end of a stream', () => {
  test('an observer receives the end of a complete stream', async () => {
    const { observer, calls } = recorder();
    const { client } = emulated({ observer });
    const stream = await client.chat.completions.create({
      ...asStream,
      stream_options: { include_usage: true },
    });

    expect(calls[0]?.call.stream).toBe(true);
    expect(calls[0]?.ends).toEqual([]);
    for await (const _ of stream);

    expect(calls[0]?.chunks).toBe(1);
    expect(calls[0]?.ends).toEqual([
      expect.objectContaining({
        outcome: 'completed',
        usage: stream.usage,
        answer: stream.partial,
        finishReasons: ['stop'],
        responseId: stream.partial?.id,
      }),
    ]);
  });

  test('an observer receives the end of a truncated stream', async () => {
    const { observer, calls } = recorder();
    const { client, emulator } = emulated({ observer });
    emulator.fail({ fault: { type: 'cut-events', after: 2 } });

    const stream = await client.chat.completions.create(asStream);
    const error = await failureOf(collect(stream));

    expect(calls[0]?.ends).toEqual([expect.objectContaining({ outcome: 'unknown', error })]);
  });

  test('an observer receives the end of a truncated stream with onTruncated: "allow"', async () => {
    const { observer, calls } = recorder();
    const { client, emulator } = emulated({ observer, onTruncated: 'allow' });
    emulator.fail({ fault: { type: 'cut-events', after: 2 } });

    await collect(await client.chat.completions.create(asStream));

    expect(calls[0]?.ends).toEqual([
      expect.objectContaining({ outcome: 'incomplete', error: undefined }),
    ]);
  });

  const ways: Record<string, (stream: AsyncIterable<unknown> & { close(): void }) => unknown> = {
    'close()': (stream) => stream.close(),
    break: async (stream) => {
      for await (const _ of stream) break;
    },
    'controller.abort()': (stream) => {
      const controller: unknown = Reflect.get(stream, 'controller');
      if (controller instanceof AbortController) controller.abort();
    },
  };

  test.each(Object.entries(ways))(
    'an observer receives the end of a stream that is left by %s',
    async (_, leave) => {
      const { observer, calls } = recorder();
      const { response, send } = openBody();
      const { client } = scripted([response], { observer });

      const stream = await client.chat.completions.create(asStream);
      send();
      await leave(stream);
      stream.close();

      expect(calls[0]?.ends).toEqual([
        expect.objectContaining({ outcome: 'incomplete', error: undefined }),
      ]);
    },
  );

  test("an observer receives the end of a stream that the caller's signal aborts", async () => {
    const { observer, calls } = recorder();
    const { response, send } = openBody();
    const { client } = scripted([response], { observer });
    const { signal, abort } = abortable();

    const stream = await client.chat.completions.create(asStream, { signal });
    send();
    abort();
    const error = await failureOf(collect(stream));

    expect(error).toHaveProperty('name', 'APIUserAbortError');
    expect(calls[0]?.ends).toEqual([expect.objectContaining({ error })]);
  });
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

describe('the end of a response', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('an observer receives the end of a response that stalls', async () => {
    const { observer, calls } = recorder();
    const { response, send } = openBody();
    const { client } = scripted([response], { observer });

    const stream = await client.chat.completions.create(asStream, { idleTimeout: 50 });
    send();
    const failure = failureOf(collect(stream));
    await vi.advanceTimersByTimeAsync(100);

    expect(calls[0]?.ends).toEqual([expect.objectContaining({ error: await failure })]);
  });

  test('an observer receives the end of a stream without a reader', async () => {
    const { observer, calls } = recorder();
    const { response, send } = openBody();
    const { client } = scripted([response], { observer });

    const stream = await client.chat.completions.create(asStream, { idleTimeout: 50 });
    send();
    await vi.advanceTimersByTimeAsync(100);

    expect(calls[0]?.ends).toHaveLength(1);
    await failureOf(collect(stream));
    expect(calls[0]?.ends).toHaveLength(1);
  });

  test('an observer receives the end of a response that is not awaited', async () => {
    const { observer, calls } = recorder();
    const { client } = scripted([json(completion)], { observer });

    void client.chat.completions.create(ask, { timeout: 1_000 });
    await vi.advanceTimersByTimeAsync(900);
    expect(calls[0]?.ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);

    expect(calls[0]?.ends).toEqual([expect.objectContaining({ outcome: 'incomplete' })]);
  });

  test.each([
    ['a file', 'a file'],
    ['asResponse()', 'raw'],
  ])(
    'an observer receives the end of a response that is returned and not read: %s',
    async (_, kind) => {
      const { observer, calls } = recorder();
      const { client } = scripted([() => new Response('ID3 and more')], { observer });
      const speak = client.audio.speech.create({ model: 'm', input: 'Hi' }, { timeout: 1_000 });

      const response = await (kind === 'raw' ? speak.asResponse() : speak);
      await vi.advanceTimersByTimeAsync(1_100);

      expect(calls[0]?.ends).toEqual([expect.objectContaining({ outcome: 'incomplete' })]);
      // It can still be read.
      expect(await response.text()).toBe('ID3 and more');
      expect(calls[0]?.ends).toHaveLength(1);
    },
  );

  test('an observer receives the end of a file that is read to its end', async () => {
    const { observer, calls } = recorder();
    const { client } = scripted([() => new Response('ID3 and more')], { observer });

    const response = await client.audio.speech.create({ model: 'm', input: 'Hi' });
    expect(calls[0]?.ends).toEqual([]);
    await response.arrayBuffer();

    expect(calls[0]?.ends).toEqual([expect.objectContaining({ outcome: 'completed' })]);
  });

  test('an observer receives the end of a file that is not read to its end', async () => {
    const { observer, calls } = recorder();
    const { client } = scripted([() => new Response('ID3 and more')], { observer });

    const response = await client.audio.speech.create({ model: 'm', input: 'Hi' });
    await response.body?.cancel();

    expect(calls[0]?.ends).toEqual([expect.objectContaining({ outcome: 'incomplete' })]);
  });

  test('an observer receives the end of a truncated file', async () => {
    const { observer, calls } = recorder();
    const headers = { 'content-length': '100' };
    const { client } = scripted([() => new Response('ID3', { headers })], { observer });

    const response = await client.audio.speech.create({ model: 'm', input: 'Hi' });
    const error = await failureOf(response.arrayBuffer());

    expect(calls[0]?.ends).toEqual([expect.objectContaining({ outcome: 'unknown', error })]);
  });

  test('an observer receives the end of a response that is aborted before it arrives', async () => {
    const { observer, calls } = recorder();
    const { signal, abort } = abortable();
    const { client } = scripted([() => new Promise<Response>(() => {})], { observer });

    const failure = failureOf(client.chat.completions.create(ask, { signal }));
    await vi.advanceTimersByTimeAsync(1);
    abort();

    expect(await failure).toHaveProperty('name', 'APIUserAbortError');
    expect(calls[0]?.responses).toHaveLength(1);
    expect(calls[0]?.ends).toEqual([expect.objectContaining({ error: await failure })]);
  });
});

/** Listeners that throw or reject. */
const boom = (): never => {
  throw new Error('boom');
};
const boomLater = (): Promise<never> => Promise.reject(new Error('boom later'));

/** Makes a whole call and a stream, and gives the lines of the log. */
async function callsWith(observer: Observer) {
  const lines: unknown[][] = [];
  const log = (...line: unknown[]): void => void lines.push(line);
  const logger = { error: log, warn: log, info: log, debug: log };
  const { observer: second, calls } = recorder();
  const { client, emulator } = emulated({
    observer: [observer, second],
    logger,
    logLevel: 'error',
  });

  await client.chat.completions.create(ask);
  await collect(await client.chat.completions.create(asStream));
  await delay(0);

  // The other observer receives every event, and every request is sent once.
  expect(calls.map(({ ends }) => ends.length)).toEqual([1, 1]);
  expect(calls.map(({ responses }) => responses.length)).toEqual([1, 1]);
  expect(emulator.requests).toHaveLength(2);
  return lines;
}

describe('an observer that fails', () => {
  const parts = ['run', 'attempt', 'firstChunk', 'end'] as const;

  test('a call is not affected if start() throws', async () => {
    expect(await callsWith({ start: boom })).toHaveLength(2);
  });

  test.each(parts)('a call is not affected if %s() throws', async (part) => {
    const lines = await callsWith({ start: () => ({ [part]: boom }) });

    expect(lines.length).toBeGreaterThan(0);
    expect(lines[0]).toEqual([
      '[model-gateway] An observer failed',
      { callId: expect.any(String), error: 'Error: boom' },
    ]);
  });

  test.each(parts)('a call is not affected if %s() rejects', async (part) => {
    const lines = await callsWith({ start: () => ({ [part]: boomLater }) });

    expect(lines[0]?.[1]).toHaveProperty('error', 'Error: boom later');
  });

  test('a call is not affected if the listener returned by attempt() throws', async () => {
    const lines = await callsWith({ start: () => ({ attempt: () => boom }) });

    expect(lines).toHaveLength(2);
  });

  test('a call is not affected if run() calls the function twice, later, or throws afterwards', async () => {
    expect(await callsWith({ start: () => ({ run: (work) => (work(), work()) }) })).toEqual([]);
    expect(await callsWith({ start: () => ({ run: (work) => void delay(0).then(work) }) })).toEqual(
      [],
    );
    const lines = await callsWith({ start: () => ({ run: (work) => (work(), boom()) }) });
    expect(lines).toHaveLength(2);
  });

  test('a call is not affected if an observer returns nothing', async () => {
    expect(await callsWith({ start: () => undefined })).toEqual([]);
  });

  test('a call is not affected if an observer changes its arguments', async () => {
    const observer: Observer = {
      start(call) {
        for (const name of Object.keys(call.params)) Reflect.set(call.params, name, 'changed');
        return {
          attempt(request) {
            Reflect.set(request.headers, 'authorization', 'changed');
            if (Array.isArray(request.body)) request.body.length = 0;
          },
        };
      },
    };
    const { client, emulator } = emulated({ observer });

    await client.chat.completions.create(ask);
    await client.videos.create({ model: 'sora-2', prompt: 'A boat' });

    expect(emulator.requests.map(({ body }) => body)).toEqual([
      { kind: 'json', value: ask },
      expect.objectContaining({ fields: { model: 'sora-2', prompt: 'A boat' } }),
    ]);
  });
});

test('the request runs inside every observer', async () => {
  const inside: string[] = [];
  const wrapping = (name: string): Observer => ({
    start: () => ({
      run(work) {
        inside.push(name);
        work();
        inside.push(`/${name}`);
      },
    }),
  });
  const { client } = emulated({ observer: [wrapping('a'), wrapping('b')] });

  await client.chat.completions.create(ask);

  expect(inside).toEqual(['b', 'a', '/a', '/b']);
});

test('the trace of a submission is in its handle, and polls restore it', async () => {
  const { observer, calls } = recorder({ trace: '00-trace' });
  const { client } = emulated({ observer });

  const { ref } = await client.videos.create({ model: 'sora-2', prompt: 'A boat' });
  expect(ref.trace).toBe('00-trace');
  const stored: unknown = JSON.parse(JSON.stringify(ref));
  const { parseVideoTaskRef } = await import('../../../src/index.ts');
  await client.videos.retrieve(parseVideoTaskRef(stored));

  expect(calls[1]?.call).toMatchObject({
    operation: 'videos.retrieve',
    params: { task_id: ref.id },
    trace: '00-trace',
  });
  expect(calls[1]?.ends[0]).toMatchObject({ responseId: ref.id, answer: { id: ref.id } });
});

describe('invalid observers are rejected', () => {
  test.each([[{}], [[{}]], ['x'], [[null]], [() => {}]])('%j', (observer) => {
    const options = { apiKey: 'k', baseURL: 'https://gateway.test', observer };

    expect(() => Reflect.construct(Gateway, [options])).toThrow('observer: has no method start().');
  });

  test.each(['onRequest', 'onResponse'])('%s that is not a function', (name) => {
    const options = { apiKey: 'k', baseURL: 'https://gateway.test', [name]: 1 };

    expect(() => Reflect.construct(Gateway, [options])).toThrow(`${name}: must be a function`);
  });
});

describe('hooks', () => {
  test('hooks receive each attempt and its result', async () => {
    const seen: [string, unknown][] = [];
    const { client, emulator } = emulated({
      onRequest: (request) => seen.push(['request', request]),
      onResponse: (response, { attempt }) => seen.push(['response', { attempt, ...response }]),
    });
    emulator.fail({ fault: { type: 'rate-limit', retryAfter: 0 } });

    await client.chat.completions.create(ask);

    expect(seen.map(([kind]) => kind)).toEqual(['request', 'response', 'request', 'response']);
    expect(seen[0]?.[1]).toMatchObject({
      method: 'POST',
      url: `${emulator.baseURL}/v1/chat/completions`,
      body: JSON.stringify(ask),
      attempt: 1,
    });
    expect(seen[1]?.[1]).toMatchObject({ status: 429, attempt: 1, body: expect.anything() });
    expect(seen[3]?.[1]).toHaveProperty('body', undefined);
    expect(seen[3]?.[1]).toMatchObject({ status: 200, attempt: 2 });
  });

  test('hooks receive no key, cookie or query', async () => {
    const seen: unknown[] = [];
    const { client } = scripted(
      [
        () =>
          Response.json(completion, {
            headers: { 'set-cookie': 'session=secret', 'x-next': 'https://x.test/?sig=secret' },
          }),
      ],
      {
        apiKey: 'sk-very-secret',
        defaultHeaders: { 'x-api-key': 'secret-too', 'x-tenant': 'acme' },
        defaultQuery: { access: 'secret' },
        onRequest: (request) => seen.push(request),
        onResponse: (response) => seen.push(response),
      },
    );

    await client.chat.completions.create(ask);

    expect(seen).toHaveLength(2);
    expect(JSON.stringify(seen)).not.toContain('secret');
    expect(seen[0]).toHaveProperty('headers.x-tenant', 'acme');
  });

  test("hooks that throw or reject are logged and don't fail the call", async () => {
    for (const hook of [boom, boomLater]) {
      const lines: unknown[] = [];
      const log = (line: unknown): void => void lines.push(line);
      const answered = vi.fn(hook);
      // Types forbid functions that reject; plain JavaScript does not.
      const options: object = { onRequest: hook, onResponse: answered };
      const { client } = emulated({
        logger: { error: log, warn: log, info: log, debug: log },
        logLevel: 'error',
        ...options,
      });

      await client.chat.completions.create(ask);
      await delay(0);

      expect(answered).toHaveBeenCalledTimes(1);
      expect(lines).toHaveLength(2);
    }
  });
});
