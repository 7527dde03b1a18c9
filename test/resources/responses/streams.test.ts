import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import {
  APIError,
  type ModelResponse,
  type ResponseStreamEvent,
  type ResponseUsage,
  type Stream,
  StreamError,
  StreamTimeoutError,
  StreamTruncatedError,
  UnexpectedResponseError,
} from '../../../src/index.ts';
import { cutResponse, silentResponse } from '../../helpers/failures.ts';
import {
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  scripted,
} from '../../helpers/clients.ts';
import { text } from '../../helpers/transport.ts';
import { settle } from '../../helpers/fake-time.ts';

afterEach(() => {
  vi.useRealTimers();
});

const ask = { model: 'm', input: 'Hello', stream: true } as const;
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 };
const base = { id: 'resp_1', object: 'response', status: 'in_progress', output: [], error: null };
const created = { type: 'response.created', sequence_number: 0, response: base };
const item = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'in_progress',
  content: [],
};
const added = { type: 'response.output_item.added', output_index: 0, item };
const delta = (piece: unknown, fields = {}) => ({
  type: 'response.output_text.delta',
  item_id: 'msg_1',
  output_index: 0,
  content_index: 0,
  delta: piece,
  ...fields,
});
const begun = [created, added, delta('Hel'), delta('lo')];
const completed = {
  type: 'response.completed',
  response: { ...base, status: 'completed', usage },
};
const ndjson = (events: readonly unknown[]) =>
  events.map((event) => JSON.stringify(event)).join('\n');
const headers = { 'content-type': 'text/event-stream' };
const lines = (...events: unknown[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

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

const open = (answer: Parameters<typeof scripted>[0][number], options = {}) =>
  scripted([answer], { maxRetries: 0, ...options }).client.responses.create(ask);

describe('a stream', () => {
  test('a stream yields the events as they come', async () => {
    const vendor = { type: 'response.vendor_progress', percent: 5 };
    const events = [created, vendor, added, delta('Hel'), delta('lo'), completed];
    const stream = await open(eventStream(...events));

    expect(await collect(stream)).toEqual(events);
    expect(stream.verdict).toBe('complete');
    expect(stream.usage).toEqual(usage);
    expect(stream.partial).toMatchObject({ id: 'resp_1', status: 'completed' });
    expect(stream.partial?.output_text).toBe('Hello');
  });

  test('a stream has the types of its events, its response and its usage', () => {
    const stream = emulated().client.responses.create(ask);

    expectTypeOf(stream).resolves.toEqualTypeOf<Stream<ResponseStreamEvent>>();
    expectTypeOf<Stream<ResponseStreamEvent>['partial']>().toEqualTypeOf<
      ModelResponse | undefined
    >();
    expectTypeOf<Stream<ResponseStreamEvent>['usage']>().toEqualTypeOf<ResponseUsage | undefined>();
    expectTypeOf<Extract<ResponseStreamEvent, { delta: string }>>().toHaveProperty('delta');
  });

  test('a stream of the emulator is complete, and charged once', async () => {
    const { client, emulator } = emulated();

    const stream = await client.responses.create({ ...ask, model: 'm-chat' });
    const {
      data,
      response,
      request_id: id,
    } = await client.responses.create({ ...ask, model: 'm-chat' }).withResponse();
    let said = '';
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') said += event.delta;
    }
    await collect(data);

    expect(said).toBe(stream.partial?.output_text);
    expect(said).toContain('Hello');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(id).toEqual(expect.any(String));
    expect(emulator.charges).toHaveLength(2);
  });

  test('a stream closes its connection if the loop is left or the controller aborts', async () => {
    const { client, emulator } = emulated();
    const params = { ...ask, model: 'm-chat', input: '[long]' };

    for await (const _ of await client.responses.create(params)) break;
    const stream = await client.responses.create(params);
    stream.controller.abort();

    await expect.poll(() => emulator.requests.every(({ disconnected }) => disconnected)).toBe(true);
  });

  test('a stream keeps nothing with partial: false', async () => {
    const stream = await open(eventStream(...begun, completed), { partial: false });

    await collect(stream);

    expect(stream.partial).toBeUndefined();
    expect(stream.usage).toEqual(usage);
    expect(stream.verdict).toBe('complete');
  });
});

describe('a complete stream', () => {
  const incomplete = {
    type: 'response.incomplete',
    response: {
      ...base,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    },
  };

  test.each([
    ['response.completed', [...begun, completed]],
    ['response.completed and a terminator', [...begun, completed, '[DONE]']],
    ['response.done', [...begun, { ...completed, type: 'response.done' }]],
    ['response.completed without a response', [...begun, { type: 'response.completed' }]],
    ['response.completed with a null response', [...begun, { ...completed, response: null }]],
    ['response.completed alone', [completed]],
    ['a late error', [...begun, completed, { type: 'error', message: 'x' }]],
    ['a failed item', [{ type: 'response.mcp_call.failed', error: 'x' }, ...begun, completed]],
    ['keep-alives', [{ type: 'keepalive' }, ...begun, { type: 'ping' }, completed]],
  ])('a stream is complete with %s', async (_, events) => {
    const stream = await open(eventStream(...events));

    expect((await read(stream)).failure).toBeUndefined();
    expect(stream.verdict).toBe('complete');
    expect(stream.partial?.status).toBe('completed');
  });

  test('a stream is complete at its limit, with the reason', async () => {
    const stream = await open(eventStream(...begun, incomplete));

    expect((await read(stream)).events.at(-1)).toEqual(incomplete);
    expect(stream.partial).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
      output_text: 'Hello',
    });
  });

  test('a stream is complete whatever happens to the connection afterwards', async () => {
    vi.useFakeTimers();
    for (const response of [cutResponse, silentResponse]) {
      const stream = await open(() => response(lines(...begun, completed), { headers }));
      const { value } = await settle(read(stream));
      expect(value?.failure).toBeUndefined();
      expect(value?.events).toHaveLength(5);
      expect(stream.verdict).toBe('complete');
    }
  });
});

describe('a truncated stream', () => {
  test.each([
    ['nothing', []],
    ['a terminator alone', ['[DONE]']],
    ['keep-alives alone', [{ type: 'keepalive' }, { type: 'ping' }]],
    ['the beginning', [created]],
    ['no end', begun],
    ['a terminator without an end', [...begun, '[DONE]']],
    ['the end of an item', [...begun, { type: 'response.output_item.done', item }]],
    ['response.cancelled', [...begun, { type: 'response.cancelled', response: base }]],
    [
      'a cancelled response',
      [...begun, { type: 'response.done', response: { status: 'cancelled' } }],
    ],
  ])('a stream is truncated with %s', async (_, events) => {
    const { client, requests } = scripted([eventStream(...events)]);

    const { failure } = await read(await client.responses.create(ask));

    expect(failure).toBeInstanceOf(StreamTruncatedError);
    expect(requests).toHaveLength(1);
  });

  test('a stream is truncated by a lost connection, with the response so far', async () => {
    const { failure } = await read(await open(() => cutResponse(lines(...begun), { headers })));

    expect(failure).toBeInstanceOf(StreamTruncatedError);
    expect(failure).toMatchObject({
      partial: {
        id: 'resp_1',
        status: 'in_progress',
        output: [{ id: 'msg_1', content: [{ type: 'output_text', text: 'Hello' }] }],
        output_text: 'Hello',
      },
    });
  });

  test('a stream is truncated by silence', async () => {
    vi.useFakeTimers();
    const stream = await open(() => silentResponse(lines(...begun), { headers }), {
      idleTimeout: 1_000,
    });
    const { value } = await settle(read(stream));

    expect(value?.failure).toBeInstanceOf(StreamTimeoutError);
    expect(value?.failure).toHaveProperty('partial.output_text', 'Hello');
  });

  test('a truncated stream is allowed by onTruncated', async () => {
    const stream = await open(eventStream(...begun), { onTruncated: 'allow' });
    expect(await collect(stream)).toHaveLength(4);
    expect(stream.verdict).toBe('no_terminator');
  });
});

describe('a failed stream', () => {
  const reason = { code: 'server_error', message: 'It broke.' };
  const failed = { ...base, status: 'failed', error: reason, usage };
  const flat = { type: 'error', code: 'server_error', message: 'It broke.', param: null };

  test.each([
    ['response.failed', lines(...begun, { type: 'response.failed', response: failed })],
    ['a failed response.completed', lines(...begun, { ...completed, response: failed })],
    ['response.done', lines(...begun, { type: 'response.done', response: failed })],
    ['a flat error', lines(...begun, flat)],
    ['a flat error with a name', `${lines(...begun)}event: error\n${lines(flat)}`],
    ['an error object', lines(...begun, { type: 'error', error: reason })],
    ['a bare error', lines(...begun, { error: reason })],
    ['an error outside of events', `${lines(...begun)}${JSON.stringify({ error: reason })}\n`],
  ])('a stream fails with %s', async (_, body) => {
    const { client, requests } = scripted([text(body, { headers })]);

    const { events, failure } = await read(await client.responses.create(ask));

    expect(events).toEqual(begun);
    expect(failure).toBeInstanceOf(StreamError);
    expect(failure).not.toBeInstanceOf(StreamTruncatedError);
    expect(failure).toMatchObject({ code: 'server_error', outcome: 'unknown', status: 200 });
    expect(failure).toHaveProperty('message', expect.stringContaining('It broke.'));
    expect(failure).toHaveProperty('partial.output_text', 'Hello');
    expect(requests).toHaveLength(1);
  });

  test('a failed stream has the usage and the items of its last event', async () => {
    const output = [{ ...item, content: [{ type: 'output_text', text: 'Hello!' }] }];
    const end = { type: 'response.failed', response: { ...failed, output } };

    const { failure } = await read(await open(eventStream(...begun, end)));

    expect(failure).toMatchObject({
      usage,
      partial: { status: 'failed', error: reason, usage, output_text: 'Hello!' },
    });
  });

  const shapes = [
    'error-data',
    'no-choices',
    'blank-chunk',
    'error-event',
    'typed-data',
    'bare-json',
  ] as const;
  test.each(shapes)('a stream of the emulator fails with %s', async (shape) => {
    const { client, emulator } = emulated();
    emulator.fail({
      fault: {
        type: 'stream-error',
        after: 4,
        shape,
        message: 'It broke.',
      },
    });

    const { failure } = await read(await client.responses.create({ ...ask, model: 'm-chat' }));

    expect(failure).toBeInstanceOf(StreamError);
    expect(failure).toHaveProperty('message', expect.stringContaining('It broke.'));
    expect(emulator.requests).toHaveLength(1);
  });
});

describe('JSON in place of a stream', () => {
  const output = [
    { ...item, status: 'completed', content: [{ type: 'output_text', text: 'Hello' }] },
    { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' },
  ];
  const whole = { ...base, status: 'completed', output, usage };

  test.each(['application/json', 'text/event-stream', 'text/plain'])(
    'labelled %s becomes events',
    async (type) => {
      const body = JSON.stringify(whole);
      const stream = await open(text(body, { headers: { 'content-type': type } }));
      const events = await collect(stream);

      expect(events.map((event) => event.type)).toEqual([
        'response.created',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.output_item.added',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.output_item.done',
        'response.completed',
      ]);
      expect(stream.partial).toMatchObject({ output, output_text: 'Hello' });
      expect(stream.usage).toEqual(usage);
      expect(stream.verdict).toBe('complete');
    },
  );

  test.each(['completed', 'incomplete'])(
    'a whole response in place of its events is read, streamed or not: %s',
    async (status) => {
      const content = [{ type: 'output_text', text: 'Hello', annotations: [] }];
      const call = { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: '{}' };
      const { status: _, ...message } = item;
      const answer = { ...base, status, output: [{ ...message, content }, call], usage };
      const { client } = scripted([eventStream(answer, '[DONE]')]);

      const response = await client.responses.create({ ...ask, stream: false });
      const stream = await client.responses.create(ask);
      const events = await collect(stream);

      expect(response).toMatchObject({ status, output_text: 'Hello', usage });
      expect(events.map(({ type }) => type)).toEqual([`response.${status}`]);
      expect(stream.partial).toMatchObject({ status, output_text: 'Hello' });
      // Items have no status of their own.
      expect(JSON.stringify([response, events])).not.toContain('"status":null');
    },
  );

  test('JSON in place of a stream can be lines of events, which need their end', async () => {
    const events = [...begun, completed];
    const type = { headers: { 'content-type': 'application/x-ndjson' } };

    expect(await collect(await open(text(ndjson(events), type)))).toEqual(events);
    const { failure } = await read(await open(text(ndjson(begun), type)));
    expect(failure).toBeInstanceOf(StreamTruncatedError);
    const single = await read(await open(text(ndjson([created]), type)));
    expect(single.failure).toBeInstanceOf(StreamTruncatedError);
  });

  test('JSON in place of a stream can be a queued response', async () => {
    const stream = await open(json({ ...base, status: 'queued' }));
    expect(await collect(stream)).toHaveLength(2);
  });

  test.each([
    ['an error', json({ error: { message: 'no' } }), APIError],
    ['a failed response', json({ ...base, status: 'failed' }), APIError],
    ['a page', text('<html></html>'), UnexpectedResponseError],
    ['nothing', text(''), UnexpectedResponseError],
    ['an empty object', json({}), UnexpectedResponseError],
  ])('JSON in place of a stream is an error if it is %s', async (_, answer, ErrorClass) => {
    expect(await failureOf(open(answer))).toBeInstanceOf(ErrorClass);
  });
});
