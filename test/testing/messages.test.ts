// `/v1/messages` of the emulator, in Anthropic's format. test/compat reads it with Anthropic's client.
import { describe, expect, test, vi } from 'vitest';
import { newApi, StreamTruncatedError, type GatewayName } from '../../src/index.ts';
import type { EmulatorOptions, Fault } from '../../src/testing/index.ts';
import { collect, emulated, eventStream, failureOf, scripted } from '../helpers/clients.ts';
import { eventObjects, newClient } from '../helpers/emulator-client.ts';
import { settle } from '../helpers/fake-time.ts';
import { untyped } from '../helpers/untyped.ts';

const path = '/v1/messages';
const messages = [{ role: 'user' as const, content: 'Hello' }];
const body = { model: 'claude-sonnet-4-5', max_tokens: 200, messages };
const editions: readonly EmulatorOptions[] = [{ edition: '2025' }, { edition: '2026' }];
const weather = {
  name: 'weather',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

interface Message {
  readonly content: readonly Record<string, unknown>[];
  readonly stop_reason: string;
  readonly usage: Record<string, number>;
}

const withKey = (key: string) => ({
  headers: { 'x-api-key': key, 'content-type': 'application/json' },
});

test('writes JSON by a schema in the prompt', async () => {
  const { client } = emulated();
  const content = `Where is Oslo? Match this JSON schema: ${JSON.stringify(weather.input_schema)}`;

  const { content: parts } = await client.post<Message>(path, {
    body: { ...body, messages: [{ role: 'user', content }] },
  });

  expect(parts).toEqual([{ type: 'text', text: '```json\n{"city":"Oslo"}\n```' }]);
});

describe.each(editions)('%j', (options) => {
  test('returns a message, and charges for its tokens', async () => {
    const { client, emulator } = emulated({}, options);

    const message = await client.post<Message>(path, { body });

    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'assistant',
      model: body.model,
      content: [{ type: 'text', text: expect.stringMatching(/^You said: "Hello"/) }],
      stop_reason: 'end_turn',
      stop_sequence: null,
    });
    const { input_tokens: input = 0, output_tokens: output = 0 } = message.usage;
    expect(emulator.charges).toMatchObject([
      { operation: 'messages.create', amount: input + output },
    ]);
  });

  test('streams the same message', async () => {
    const { client } = emulated({}, options);
    const { content } = await client.post<Message>(path, { body });

    const stream = await client.post(path, { body: { ...body, stream: true }, stream: true });
    const events = (await collect(stream)).map((event) => untyped<Record<string, never>>(event));

    const types = events.map(({ type }) => type);
    expect([...new Set(types)]).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    const text = events.map((event) => untyped<{ text?: string }>(event['delta'] ?? {}).text ?? '');
    expect([{ type: 'text', text: text.join('') }]).toEqual(content);
  });

  test('rejects a request without messages in the format of the route', async () => {
    const { post } = newClient(options);

    const response = await post(path, { model: 'm', max_tokens: 1 });

    expect(response.status).toBe(options.edition === '2026' ? 500 : 400);
    expect(await response.json()).toEqual({
      type: 'error',
      error: {
        type: 'new_api_error',
        message: expect.stringMatching(/^field messages is required \(request id: /),
      },
    });
  });

  test('rejects a wrong key before it knows the route, and takes x-api-key', async () => {
    const { emulator, post } = newClient(options);
    const refused = await post(path, body, withKey('sk-other'));
    const accepted = await post(path, body, withKey(emulator.apiKey));

    expect(refused.status).toBe(401);
    expect(Object.keys(await refused.json())).toEqual(['error']);
    expect(accepted.status).toBe(200);
  });
});

test('calls a tool, and answers with its result', async () => {
  const { client } = emulated();
  const params = { ...body, tools: [weather], tool_choice: { type: 'any' } };
  const called = await client.post<Message>(path, { body: params });
  const [use] = called.content;

  const results = [{ type: 'tool_result', tool_use_id: use?.['id'], content: 'Sunny' }];
  const answered = await client.post<Message>(path, {
    body: {
      ...params,
      tool_choice: { type: 'auto' },
      messages: [
        ...messages,
        { role: 'assistant', content: called.content },
        { role: 'user', content: results },
      ],
    },
  });

  expect(called.stop_reason).toBe('tool_use');
  expect(use).toMatchObject({
    type: 'tool_use',
    id: expect.stringMatching(/^toolu_/),
    name: 'weather',
    input: { city: expect.any(String) },
  });
  expect(answered.content).toEqual([{ type: 'text', text: 'weather says: Sunny' }]);
});

test('streams the input of a tool and thoughts in pieces', async () => {
  const { post } = newClient();
  const params = { ...body, model: 'm-reasoning', tools: [weather], stream: true };

  const events = await eventObjects(await post(path, params));

  const deltas = events.map((event) => Object(event).delta ?? {});
  const kinds = new Set(deltas.flatMap(({ type }) => type ?? []));
  const json = deltas.map((delta) => delta.partial_json ?? '').join('');
  expect([...kinds]).toEqual(['thinking_delta', 'signature_delta', 'input_json_delta']);
  expect(JSON.parse(json)).toEqual({ city: expect.any(String) });
});

test.each([
  ['tool_choice none', { tools: [weather], tool_choice: { type: 'none' } }, 'end_turn'],
  ['max_tokens', { max_tokens: 1 }, 'max_tokens'],
  ['a filter', { messages: [{ role: 'user', content: 'Tell me [filter]' }] }, 'refusal'],
  ['a refusal', { messages: [{ role: 'user', content: 'Tell me [refuse]' }] }, 'refusal'],
])('%s: stop_reason', async (_, fields, reason) => {
  const { ask } = newClient();

  expect(await ask(path, { ...body, ...fields })).toMatchObject({ stop_reason: reason });
});

test('reads a system prompt, pictures and documents', async () => {
  const { ask } = newClient();
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
    { type: 'document', title: 'plan.pdf', source: {} },
  ];
  const system = [{ type: 'text', text: 'Answer briefly.' }];

  const { content: blocks, usage } = untyped<Message>(
    await ask(path, { ...body, system, messages: [{ role: 'user', content }] }),
  );
  const alone = untyped<Message>(
    await ask(path, { ...body, messages: [{ role: 'user', content }] }),
  );

  expect(blocks[0]?.['text']).toMatch(
    /^You said: "What is this\?" You sent .* and the file plan\.pdf/,
  );
  expect(usage['input_tokens']).toBeGreaterThan(alone.usage['input_tokens'] ?? Infinity);
});

/** Faults, with the number of requests of a client with two retries, and what it throws. */
const faults: readonly (readonly [fault: Fault, requests: number, failure: object])[] = [
  [{ type: 'vendor-refusal', status: 400 }, 1, { status: 400, outcome: 'rejected' }],
  [{ type: 'vendor-refusal', status: 429 }, 3, { status: 429 }],
  [{ type: 'error', status: 500 }, 3, { status: 500 }],
  [{ type: 'error-in-200' }, 3, { status: 500 }],
];

test.each(faults)('%j is an error in the format of the route', async (fault, count, failure) => {
  vi.useFakeTimers();
  try {
    const { client, emulator } = emulated({ maxRetries: 2 });
    emulator.fail({ operation: 'messages.create', fault, times: 3 });

    const { error } = await settle(client.post(path, { body }));

    expect(error).toMatchObject(failure);
    expect(emulator.requests).toHaveLength(count);
    expect(emulator.charges).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  { type: 'no-finish', after: 3, done: false },
  { type: 'cut-events', after: 4 },
] as const)('%j ends a stream with an error', async (fault) => {
  const { client, emulator } = emulated();
  emulator.fail({ fault });

  const stream = await client.post(path, { body: { ...body, stream: true }, stream: true });

  expect(await failureOf(collect(stream))).toBeInstanceOf(StreamTruncatedError);
  expect(emulator.charges).toHaveLength(1);
});

test("the path of a profile has the rules of the route: One Hub's is below /claude", async () => {
  const events = ['message_start', 'content_block_start', 'content_block_delta'];
  const cut = eventStream(...events.map((type) => ({ type, delta: { text: 'Hi' } })));
  const { client, requests } = scripted(
    [
      () => Response.json({ error: { message: 'busy' } }, { status: 503 }),
      () => Response.json({ content: [] }),
      cut,
    ],
    {
      gateway: { ...newApi, paths: { ...newApi.paths, 'messages.create': '/claude/v1/messages' } },
    },
  );

  await client.post('/claude/v1/messages', { body });
  const stream = await client.post('/claude/v1/messages', { body, stream: true });

  expect(await failureOf(collect(stream))).toBeInstanceOf(StreamTruncatedError);
  expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(
    Array(3).fill('/claude/v1/messages'),
  );
});

test('an error inside a stream is named', async () => {
  const { client, emulator } = emulated();
  emulator.fail({ fault: { type: 'stream-error', after: 3, shape: 'error-event' } });

  const stream = await client.post(path, { body: { ...body, stream: true }, stream: true });

  expect(await failureOf(collect(stream))).toMatchObject({
    message: expect.stringContaining('The model stopped unexpectedly.'),
  });
});

test.each<[GatewayName, number]>([
  ['litellm', 200],
  ['openrouter', 200],
  ['openai', 404],
])('%s: %d', async (gateway, status) => {
  const { client } = emulated({ gateway, maxRetries: 0 }, { gateway });

  const call = client.post(path, { body });

  expect(
    await call.then(
      () => 200,
      (error: unknown) => Object(error).status,
    ),
  ).toBe(status);
});
