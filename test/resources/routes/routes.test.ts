import { afterEach, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  APIError,
  type Endpoint,
  InvalidInputError,
  type RouteRequest,
  type Stream,
  StreamError,
  StreamTimeoutError,
  StreamTruncatedError,
  UnexpectedResponseError,
  VideoSubmitUnknownError,
  endpoints,
} from '../../../src/index.ts';
import {
  bodyOf,
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  scripted,
} from '../../helpers/clients.ts';
import { cutResponse, silentResponse } from '../../helpers/failures.ts';
import { completion, error, messages, text } from '../../helpers/transport.ts';
import { untyped } from '../../helpers/untyped.ts';
import { settle } from '../../helpers/fake-time.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('ways to call a route', () => {
  test('a request in one object, with its method in any case', async () => {
    const { client, requests } = scripted([json({ ok: true })]);
    const body = { a: 1 };

    const answer = await client.request({
      method: 'post',
      path: '/v1/rerank',
      body,
      query: { q: 1 },
      headers: { 'x-team': 'a' },
    });
    await client.request('delete', '/v1/files/7');
    await client.request({ method: 'GET', path: 'files' });

    expect(answer).toEqual({ ok: true });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST https://gateway.test/v1/rerank?q=1',
      'DELETE https://gateway.test/v1/files/7',
      'GET https://gateway.test/files',
    ]);
    expect(await bodyOf(requests[0])).toEqual(body);
    expect(requests[0]?.headers.get('x-team')).toBe('a');
  });

  test('the response has the type argument of the call', async () => {
    const { client } = scripted([json({ id: 'x' })]);

    expectTypeOf(client.post<{ id: string }>('/v1/rerank')).resolves.toEqualTypeOf<{
      id: string;
    }>();
    expectTypeOf(client.get('/x')).resolves.toBeUnknown();
    expectTypeOf(client.post('/x', { stream: true })).resolves.toEqualTypeOf<Stream<unknown>>();
    expectTypeOf(
      client.post<Stream<{ type: string }>>('/x', { stream: true }),
    ).resolves.toEqualTypeOf<Stream<{ type: string }>>();
    const { id } = await client.post<{ id: string }>('/v1/rerank');
    expect(id).toBe('x');
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['a request without a path', { method: 'GET' }],
    ['a request without a method', { path: '/v1/x' }],
    ['an unknown method', { method: 'TRACE', path: '/v1/x' }],
    ['a number', 7],
  ])('%s is rejected, and nothing is sent', async (_, request) => {
    const { client, requests } = scripted([json({})]);

    const failure = await failureOf(client.request(untyped<RouteRequest>(request)));

    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(requests).toHaveLength(0);
  });
});

/** Counts the requests of a call that fails with a 500. */
async function sends(path: string, options = {}): Promise<number> {
  const { client, requests } = scripted([error('x', 500)]);
  await settle(client.post(path, { body: {}, ...options }));
  return requests.length;
}

describe('the charge class of a path', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  const posts = Object.entries<Endpoint>(endpoints).filter(([, { method }]) => method === 'POST');

  test.each(posts)('%s is retried like its operation', async (_, { path, charge }) => {
    const filled = path.replaceAll(/\{\w+\}/g, 'm.1-x');

    expect(await sends(filled)).toBe(charge === 'metered' ? 3 : 1);
    expect(await sends(`${filled}?alt=sse`)).toBe(charge === 'metered' ? 3 : 1);
    expect(await sends(filled, { retryUnknownOutcome: false })).toBe(1);
    expect(await sends(filled, { retryUnknownOutcome: true })).toBe(3);
  });

  test.each([
    '/v1/responses/compact',
    '/v1/chat/completions/x',
    '/v2/chat/completions',
    '/v1/chat%2Fcompletions',
    '/kling/v1/embeddings',
    '/v1/images/variations',
  ])('%s counts as charged', async (path) => {
    expect(await sends(path)).toBe(1);
    expect(await sends(path, { retryUnknownOutcome: true })).toBe(3);
  });

  test('accepts a client for /v1', async () => {
    const { client, requests } = scripted([error('x', 500)], {
      baseURL: 'https://gateway.test/v1',
    });

    await settle(client.post('/chat/completions', { body: {} }));

    expect(requests).toHaveLength(3);
  });

  test('metered routes can be strict', async () => {
    for (const method of ['GET', 'PUT', 'DELETE'] as const) {
      const { client, requests } = scripted([error('x', 500)]);
      await settle(client.request(method, '/v1/x'));
      expect(requests).toHaveLength(3);
      await settle(client.request(method, '/v1/x', { retryUnknownOutcome: false }));
      expect(requests).toHaveLength(4);
    }
  });

  test('the client option does not affect reads', async () => {
    const { client, requests } = scripted([error('x', 500)], { retryUnknownOutcome: false });

    await settle(client.get('/v1/x'));

    expect(requests).toHaveLength(3);
  });

  test('reports a video that may have been submitted', async () => {
    const { client } = scripted([error('x', 500)]);

    const { error: failure } = await settle(client.post('/v1/videos', { body: { model: 'm' } }));

    expect(failure).toBeInstanceOf(VideoSubmitUnknownError);
  });
});

/** The events of a response of OpenAI's newer API. */
const responseEvents = [
  { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', error: null } },
  { type: 'response.output_text.delta', delta: 'Hel' },
  { type: 'response.output_text.delta', delta: 'lo' },
  { type: 'response.completed', response: { id: 'resp_1', usage: { total_tokens: 7 } } },
];

const chunk = (content: string, reason: string | null = null) => ({
  ...completion,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content }, finish_reason: reason }],
});

/** Reads a stream, and returns its events and its end. */
async function read(stream: AsyncIterable<unknown>) {
  const events: unknown[] = [];
  try {
    for await (const event of stream) events.push(event);
    return { events };
  } catch (failure) {
    return { events, failure };
  }
}

const eventHeaders = { 'content-type': 'text/event-stream' };

/** Answers with a ping every 400 ms and nothing else. */
const pings = () => {
  let timer: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const ping = new TextEncoder().encode('data: {"type":"ping"}\n\n');
      timer = setInterval(() => controller.enqueue(ping), 400);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body, { headers: eventHeaders });
};

/** Opens a stream of events that is answered so. */
const open = (answer: Parameters<typeof scripted>[0][number], options = {}) =>
  scripted([answer], { maxRetries: 0, ...options }).client.post('/v1/responses', {
    body: { model: 'm', input: 'Hello', stream: true },
    stream: true,
  });

describe('event streams', () => {
  test('event streams yield the parsed data of each event', async () => {
    const { client, requests } = scripted([eventStream(...responseEvents)]);
    const body = { model: 'm', input: 'Hello', stream: true };

    const stream = await client.post('/v1/responses', { body, stream: true });

    expect(await collect(stream)).toEqual(responseEvents);
    expect(stream.verdict).toBe('complete');
    expect(stream.usage).toEqual({ total_tokens: 7 });
    expect(requests[0]?.headers.get('accept')).toBe('text/event-stream');
    expect(await bodyOf(requests[0])).toEqual(body);
  });

  test.each([
    ['a response', responseEvents.slice(0, -1)],
    ['a cancelled response', [{ type: 'response.cancelled', response: { status: 'cancelled' } }]],
    ['a chat', [chunk('Hel'), chunk('lo')]],
    ['a chat with a terminator', [chunk('Hel'), '[DONE]']],
    ['a choice of a chat', [chunk('a', 'stop'), { choices: [{ index: 1, delta: {} }] }]],
    ['a generation', [{ candidates: [{ content: { parts: [{ text: 'a' }] } }] }]],
    ['a message', [{ type: 'message_start', message: {} }, { type: 'message_delta' }]],
    ['speech', [{ type: 'speech.audio.delta', audio: '' }]],
    ['nothing at all', []],
  ])('event streams without the end of %s throw', async (_, events) => {
    const { events: came, failure } = await read(await open(eventStream(...events)));

    expect(came).toEqual(events.filter((event) => event !== '[DONE]'));
    expect(failure).toBeInstanceOf(StreamTruncatedError);
  });

  test.each([
    ['a response', responseEvents],
    [
      'a response by its other name',
      [{ type: 'response.done', response: { status: 'completed' } }],
    ],
    ['a response that was cut by its limit', [{ type: 'response.incomplete', response: {} }]],
    ['a chat', [chunk('Hel'), chunk('lo', 'stop'), '[DONE]']],
    ['a generation', [{ candidates: [{ finishReason: 'STOP' }] }]],
    ['a message', [{ type: 'message_start' }, { type: 'ping' }, { type: 'message_stop' }]],
    ['an unknown form', [{ step: 1 }, { step: 2 }]],
    ['an unknown form with a terminator', [{ step: 1 }, '[DONE]']],
  ])('event streams are complete with the end of %s', async (_, events) => {
    const stream = await open(eventStream(...events));
    const { failure } = await read(stream);

    expect(failure).toBeUndefined();
    expect(stream.verdict).toBe('complete');
  });

  test.each([
    ['nothing', '', 'empty'],
    ['null', 'null', 'null'],
    ['an empty list', '[]', '[]'],
    ['text', 'upstream connect error', 'upstream connect error'],
    ['text as JSON', '"Busy, sorry"', 'Busy, sorry'],
    ['a page', '<html><title>Sign in</title></html>', 'Sign in'],
  ])('event streams are not %s', async (_, body, words) => {
    for (const type of ['application/json', 'text/plain', 'text/event-stream']) {
      const { client, requests } = scripted([text(body, { headers: { 'content-type': type } })]);
      const stream = client.post('/v1/responses', { body: {}, stream: true });

      const failure = await failureOf(stream.then((opened) => collect(opened)));

      expect(failure).toMatchObject({ outcome: 'unknown', status: 200 });
      const isEmptyStream = body === '' && type === 'text/event-stream';
      expect(String(failure)).toContain(isEmptyStream ? 'without any content' : words);
      expect(requests).toHaveLength(1);
    }
  });

  test('event streams with a broken connection throw, in any format', async () => {
    const body = 'data: {"step":1}\n\n';
    const headers = { 'content-type': 'text/event-stream' };

    const { events, failure } = await read(await open(() => cutResponse(body, { headers })));

    expect(events).toEqual([{ step: 1 }]);
    expect(failure).toBeInstanceOf(StreamTruncatedError);
  });

  test('event streams yield pings between other events', async () => {
    const events = [{ type: 'message_start' }, { type: 'ping' }, { type: 'message_stop' }];
    expect(await collect(await open(eventStream(...events)))).toEqual(events);

    const named = 'event: ping\ndata: {"cost":"0.1"}\n\ndata: {"step":1}\n\n';
    expect(await collect(await open(text(named, { headers: eventHeaders })))).toEqual([
      { cost: '0.1' },
      { step: 1 },
    ]);
  });

  test('drop a ping that is not JSON', async () => {
    const named = 'event: ping\ndata: now\n\ndata: {"step":1}\n\n';
    expect(await collect(await open(text(named, { headers: eventHeaders })))).toEqual([
      { step: 1 },
    ]);
  });

  test('event streams with only pings are not a response', async () => {
    const { events, failure } = await read(await open(eventStream({ type: 'ping' })));
    expect(events).toEqual([{ type: 'ping' }]);
    expect(failure).toBeInstanceOf(StreamTruncatedError);
  });

  test("don't count pings as chunks", async () => {
    vi.useFakeTimers();
    const stream = await open(pings, { chunkTimeout: 1_000 });
    const { value } = await settle(read(stream));

    expect(value?.events).toEqual([{ type: 'ping' }, { type: 'ping' }]);
    expect(value?.failure).toBeInstanceOf(StreamTimeoutError);
  });

  test('event streams with an error throw its message', async () => {
    for (const event of [
      { type: 'error', code: 'server_error', message: 'It broke.' },
      { error: { message: 'It broke.', code: 'server_error' } },
    ]) {
      const { failure } = await read(await open(eventStream(responseEvents[0], event)));

      expect(failure).toBeInstanceOf(StreamError);
      expect(failure).toHaveProperty('message', expect.stringContaining('It broke.'));
    }
  });

  test.each([
    { name: 'alone', outcome: 'rejected' },
    { name: 'before its usage', outcome: 'rejected', usage: { total_tokens: 9 } },
    { name: 'after content', outcome: 'unknown', content: [chunk('Hel')] },
  ])(
    'event streams with an error that refuses the request, $name, are $outcome',
    async ({ outcome, usage, content = [] }) => {
      const refusal = { error: { message: 'Too long.', code: 'context_length_exceeded' } };
      const later = usage ? [{ choices: [], usage }] : [];
      const answer = eventStream(...content, refusal, ...later, '[DONE]');

      const { events, failure } = await read(await open(answer));

      expect(events).toEqual(content);
      expect(failure).toMatchObject({ outcome, usage });
    },
  );

  test('an error beside a part of the response is unknown, whatever it says', async () => {
    const refusal = { message: 'Too long.', code: 'context_length_exceeded' };
    for (const part of [{ choices: [{ index: 0 }] }, { candidates: [{}] }]) {
      const { failure } = await read(await open(eventStream({ ...part, error: refusal })));

      expect(failure).toMatchObject({ outcome: 'unknown', code: refusal.code });
    }
  });

  test('a list in place of events of an unknown form is complete', async () => {
    const { events, failure } = await read(await open(json([{ step: 1 }, { step: 2 }])));

    expect(events).toEqual([{ step: 1 }, { step: 2 }]);
    expect(failure).toBeUndefined();
  });

  const failed = { id: 'resp_1', status: 'failed', usage: { total_tokens: 9 }, output: [] };
  const reason = { code: 'server_error', message: 'It broke.' };

  test.each([
    ['response.failed', { type: 'response.failed', response: { ...failed, error: reason } }],
    ['response.error', { type: 'response.error', error: reason, response: failed }],
    ['response.completed', { type: 'response.completed', response: { ...failed, error: reason } }],
    ['response.done', { type: 'response.done', response: { ...failed, error: reason } }],
  ])('event streams throw the error of a response that ends with a failed %s', async (_, end) => {
    const { client, requests } = scripted([eventStream(...responseEvents.slice(0, 3), end)]);

    const stream = await client.post('/v1/responses', { body: {}, stream: true });
    const { events, failure } = await read(stream);

    expect(events).toHaveLength(3);
    expect(failure).toBeInstanceOf(StreamError);
    expect(failure).toMatchObject({
      code: 'server_error',
      usage: { total_tokens: 9 },
      status: 200,
    });
    expect(failure).toHaveProperty('message', expect.stringContaining('It broke.'));
    expect(stream.verdict).toBe('truncated');
    expect(requests).toHaveLength(1);
  });

  test('event streams throw for a failed response without a reason', async () => {
    for (const response of [failed, null, undefined]) {
      const end = { type: 'response.failed', response };
      const { failure } = await read(await open(eventStream(responseEvents[0], end)));
      expect(failure).toBeInstanceOf(StreamError);
    }
  });

  test('event streams continue after the failure of an item', async () => {
    const item = { type: 'mcp_call', error: { type: 'http_error', code: 401, message: 'no' } };
    const events = [
      { type: 'response.mcp_call.failed', item_id: 'mcp_1', error: item.error },
      { type: 'response.mcp_list_tools.failed', item_id: 'mcp_2', error: 'no' },
      { type: 'response.output_item.done', item },
      ...responseEvents,
    ];

    expect(await collect(await open(eventStream(...events)))).toEqual(events);
  });

  test('event streams have the time limits of streams', async () => {
    const large = eventStream({ text: 'x'.repeat(2_000) });
    const { failure } = await read(await open(large, { maxEventBytes: 1_024 }));
    expect(failure).toBeInstanceOf(StreamError);

    vi.useFakeTimers();
    const headers = { 'content-type': 'text/event-stream' };
    const silent = () => silentResponse('data: {"step":1}\n\n', { headers });
    const stream = await open(silent, { idleTimeout: 1_000 });
    const { value } = await settle(read(stream));
    expect(value?.events).toEqual([{ step: 1 }]);
    expect(value?.failure).toBeInstanceOf(StreamTimeoutError);
  });

  test('event streams that arrive whole are one event, or throw its error', async () => {
    const whole = { id: 'resp_1', object: 'response', output: [] };

    expect(await collect(await open(json(whole)))).toEqual([whole]);
    expect(await failureOf(open(json({ error: { message: 'no', code: 'x' } })))).toBeInstanceOf(
      APIError,
    );
    expect(await failureOf(open(error('x', 400)))).toBeInstanceOf(APIError);
    expect(await failureOf(open(text('<html>', { status: 200 })))).toBeInstanceOf(
      UnexpectedResponseError,
    );
  });

  test('event streams are charged once, however they end', async () => {
    const { client, requests } = scripted([
      () => cutResponse('data: {"type":"response.created"}\n\n'),
    ]);

    await read(await client.post('/v1/responses', { body: {}, stream: true }));

    expect(requests).toHaveLength(1);
  });

  test('event streams of the emulator arrive complete', async () => {
    const { client } = emulated();
    const body = { model: 'gpt-4o-mini', messages, stream: true };

    const stream = await client.post<Stream<ReturnType<typeof chunk>>>('/v1/chat/completions', {
      body,
      stream: true,
    });
    const chunks = await collect(stream);

    const said = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(said.length).toBeGreaterThan(0);
    expect(stream.verdict).toBe('complete');
  });

  test('close their connection if the loop is left', async () => {
    const { client, emulator } = emulated();
    const body = { model: 'gpt-4o-mini', messages, stream: true };

    for await (const _ of await client.post('/v1/chat/completions', { body, stream: true })) break;

    await expect.poll(() => emulator.requests[0]?.disconnected).toBe(true);
  });
});

describe('a failed response of the Responses API', () => {
  const failed = {
    id: 'resp_1',
    object: 'response',
    status: 'failed',
    error: { code: 'rate_limit_exceeded', message: 'Too fast.' },
    output: [],
    text: { format: { type: 'text' } },
  };
  const { object: _, ...untagged } = failed;

  test.each([
    ['with an error', failed],
    ['without its object', untagged],
    ['without an error', { ...failed, error: null }],
    ['without a status', { ...failed, status: undefined }],
    ['that claims to be complete', { ...failed, status: 'completed' }],
  ])('%s is an error, and the request is not repeated', async (_name, body) => {
    const { client, requests } = scripted([json(body)]);

    const failure = await failureOf(client.post('/v1/responses', { body: { model: 'm' } }));

    expect(failure).toBeInstanceOf(APIError);
    expect(failure).toMatchObject({ status: 200, outcome: 'unknown' });
    expect(failure).toHaveProperty('body', JSON.stringify(body));
    expect(requests).toHaveLength(1);
  });

  test('a failed response of the Responses API has the code and the message of its error', async () => {
    const { client } = scripted([json(failed)]);

    const failure = await failureOf(client.post('/v1/responses', { body: { model: 'm' } }));

    expect(failure).toMatchObject({ code: 'rate_limit_exceeded', error: failed.error });
    expect(failure).toHaveProperty('message', expect.stringContaining('Too fast.'));
  });

  test('a failed response of the Responses API is a result when it is read again', async () => {
    const { client } = scripted([json(failed)]);

    expect(await client.get('/v1/responses/resp_1')).toEqual(failed);
  });

  test.each([
    ['incomplete', { incomplete_details: { reason: 'max_output_tokens' } }],
    ['queued', { output: null }],
    ['in_progress', {}],
    ['completed', { output: [{ type: 'mcp_call', error: { message: 'no' } }] }],
  ])('a failed response of the Responses API is unlike one that is %s', async (status, fields) => {
    const body = { ...failed, error: null, status, ...fields };
    const { client } = scripted([json(body)]);

    expect(await client.post('/v1/responses', { body: {} })).toEqual(body);
  });
});

test('a call by path returns a failed task with its id, and throws the same without an id', async () => {
  const task = { status: 'failed', fail_reason: 'Too many kittens', code: 'c1' };
  const { client } = scripted([json({ id: 'task_1', ...task }), json(task)]);

  expect(await client.get('/v1/videos/task_1')).toEqual({ id: 'task_1', ...task });
  await expect(client.get('/v1/videos/task_1')).rejects.toThrow('Too many kittens');
});

/** Reads this answer. */
const answered = (body: string, type: string) =>
  scripted([text(body, { headers: { 'content-type': type } })], { maxRetries: 0 }).client.get(
    '/v1/x',
  );

describe('responses', () => {
  const bytes = new Uint8Array([0, 1, 2, 250, 251, 252]);
  const file = (type: string) => () =>
    new Response(bytes, { headers: { 'content-type': type, 'x-request-id': 'req_7' } });

  test.each([
    'audio/mpeg',
    'video/mp4',
    'image/png',
    'application/pdf',
    'application/octet-stream',
  ])('responses of type %s are returned as a Response', async (type) => {
    const { client } = scripted([file(type)]);

    const { data, request_id: id } = await client.get<Response>('/v1/files/7').withResponse();

    expect(data).toBeInstanceOf(Response);
    expect(new Uint8Array(await data.arrayBuffer())).toEqual(bytes);
    expect(data.headers.get('content-type')).toBe(type);
    expect(id).toBe('req_7');
  });

  test('an XML image is a file, a feed is text', async () => {
    const xml = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    expect(await answered(xml, 'image/svg+xml')).toBeInstanceOf(Response);
    expect(await answered(xml, 'application/rss+xml')).toBe(xml);
  });

  test('detects JSON and text by content, not by label', async () => {
    expect(await answered('{"a":1}', 'application/octet-stream')).toEqual({ a: 1 });
    expect(await answered('{"a":1}', 'text/plain')).toEqual({ a: 1 });
    expect(await answered('a,b', 'text/csv')).toBe('a,b');
    expect(await answered('"a"', 'application/json')).toBe('a');
    expect(await answered('', 'application/octet-stream')).toBe('');
    expect(await answered('', 'text/plain')).toBe('');
    expect(await answered('', 'application/json')).toBeUndefined();
    expect(await failureOf(answered('{"a":', 'application/json'))).toBeInstanceOf(
      UnexpectedResponseError,
    );
  });

  test('a truncated file fails while it is read', async () => {
    const headers = { 'content-type': 'audio/mpeg' };
    const { client } = scripted([() => cutResponse('ID3', { headers })]);

    const response = await client.get<Response>('/v1/files/7');

    await expect(response.arrayBuffer()).rejects.toBeInstanceOf(UnexpectedResponseError);
  });

  test('an error in place of a file is thrown', async () => {
    const headers = { 'content-type': 'audio/mpeg' };
    const body = JSON.stringify({ error: { message: 'no such file', code: 'x' } });
    const { client } = scripted([text(body, { headers })]);

    expect(await failureOf(client.get('/v1/files/7'))).toHaveProperty(
      'message',
      expect.stringContaining('no such file'),
    );
  });

  test('__binaryResponse returns any response unread', async () => {
    const { client } = scripted([json({ a: 1 })]);

    const response = await client.get<Response>('/v1/x', { __binaryResponse: true });

    expect(await response.json()).toEqual({ a: 1 });
  });

  test('an empty response is null', async () => {
    const { client } = scripted([text(null, { status: 204 })]);

    expect(await client.delete('/v1/files/7')).toBeNull();
  });
});
