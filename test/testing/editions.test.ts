// The build of new-api of November 2026, beside that of 2025. test/testing/contract.test.ts compares both
// with a recorded gateway.
import { describe, expect, test } from 'vitest';
import { Gateway } from '../../src/index.ts';
import { createEmulator, type NewApiEdition } from '../../src/testing/index.ts';
import { collect, emulated, failureOf } from '../helpers/clients.ts';
import { newClient } from '../helpers/emulator-client.ts';
import { untyped } from '../helpers/untyped.ts';

const messages = [{ role: 'user' as const, content: 'Hello' }];
const chat = '/v1/chat/completions';
const failing = { model: 'm-video', prompt: '[[fail]]' };

/** A value of each edition. */
type Difference = readonly [
  name: string,
  read: (edition: NewApiEdition) => Promise<unknown>,
  first: unknown,
  second: unknown,
];

const post = (path: string, body: object) => async (edition: NewApiEdition) => {
  const response = await newClient({ edition }).post(path, body);
  const { error }: { error?: { message: string; code: string } } = await response.json();
  return [response.status, error?.code, error?.message.replace(/ \(request id.*/, '')];
};

const differences: readonly Difference[] = [
  ['no messages', post(chat, { model: 'm' }), [400, 'invalid_request'], [500, 'invalid_request']],
  [
    'a field with another type',
    post(chat, { model: 'm', messages: 'Hi' }),
    [400, 'invalid_request', expect.stringMatching(/^invalid type/)],
    [
      500,
      'invalid_request',
      expect.stringMatching(/^json: cannot unmarshal string into Go struct/),
    ],
  ],
  ['no input', post('/v1/embeddings', { model: 'm' }), [400], [500]],
  ['no model of speech', post('/v1/audio/speech', { input: 'x' }), [400], [500]],
  ['the engine path', post('/v1/engines/m/embeddings', { input: 'x' }), [400], [500]],
  [
    'an unknown path',
    post('/v1/nope', {}),
    [404, '', 'Invalid URL (POST /v1/nope)'],
    [404, '', 'The requested resource was not found'],
  ],
  [
    'a wrong key',
    async (edition) => {
      const { fetch, baseURL } = createEmulator({ edition });
      const headers = { authorization: 'Bearer sk-other' };
      return (await fetch(`${baseURL}/v1/models`, { headers })).text();
    },
    expect.stringContaining('Invalid token'),
    expect.stringContaining('无效的令牌'),
  ],
  [
    'security headers',
    async (edition) =>
      (await newClient({ edition }).get('/v1/models')).headers.get('x-frame-options'),
    null,
    'SAMEORIGIN',
  ],
  [
    'content without a key',
    async (edition) => {
      const { client, emulator } = emulated({}, { edition, videoDuration: 0 });
      const { id } = await client.videos.create({ model: 'm-video', prompt: 'A fox' });
      return (await emulator.fetch(`${emulator.baseURL}/v1/videos/${id}/content`)).status;
    },
    200,
    401,
  ],
  [
    'streamed images',
    async (edition) => {
      const { client } = emulated({}, { edition });
      const params = {
        model: 'm-image',
        prompt: 'A fox',
        partial_images: 1,
        stream: true,
      } as const;
      return (await collect(await client.images.generate(params))).map(({ type }) => type);
    },
    ['image_generation.completed'],
    ['image_generation.partial_image', 'image_generation.completed'],
  ],
  [
    'a number of seconds for Sora',
    async (edition) => {
      const body = { model: 'sora-2', prompt: 'A fox', seconds: 8 };
      const { status } = await newClient({ edition }).post('/v1/videos', body);
      return status;
    },
    400,
    200,
  ],
  [
    'the request id of a refund',
    async (edition) => {
      const { client, emulator } = emulated({}, { edition, videoDuration: 0 });
      await client.videos.create(failing);
      const headers = { authorization: `Bearer ${emulator.apiKey}` };
      const answer = await emulator.fetch(`${emulator.baseURL}/api/log/token`, { headers });
      const { data }: { data: { type: number; request_id?: string }[] } = await answer.json();
      return typeof data.find(({ type }) => type === 6)?.request_id;
    },
    'undefined',
    'string',
  ],
  [
    'the log with a key in the query alone',
    async (edition) => {
      const { fetch, baseURL, apiKey } = createEmulator({ edition });
      const response = await fetch(`${baseURL}/api/log/token?key=${apiKey}`);
      return [response.status, await response.json()];
    },
    [401, expect.anything()],
    [200, { success: false, message: expect.any(String) }],
  ],
  [
    'the routes of models',
    async (edition) => {
      const { client } = emulated({}, { edition });
      const { data } = await client.models.list();
      const found = (name: string) => data.find(({ id }) => id === name);
      return ['m-large', 'm-image', 'm-video', 'm-embedding'].map(
        (name) => found(name)?.supported_endpoint_types,
      );
    },
    [[], [], [], []],
    [['openai'], ['image-generation'], ['openai-video'], ['embeddings']],
  ],
  ...(['claude-sonnet-4-5', 'gemini-2.5-flash', 'gpt-4o'] as const).map((model): Difference => [
    `the usage of a chat with ${model}`,
    async (edition) => {
      const { client } = emulated({}, { edition });
      const whole = await client.chat.completions.create({ model, messages });
      const stream = await client.chat.completions.create({ model, messages, stream: true });
      await collect(stream);
      return [whole.usage, stream.usage].map((usage) =>
        Object.keys(Object(untyped<Record<string, unknown>>(usage)['billing_usage'])),
      );
    },
    [[], []],
    {
      'claude-sonnet-4-5': [['claude_usage'], ['claude_usage']],
      'gemini-2.5-flash': [['gemini_usage_metadata'], ['gemini_usage_metadata']],
      'gpt-4o': [[], []],
    }[model],
  ]),
  [
    'the usage of a generation that is converted',
    async (edition) => {
      const { client } = emulated({}, { edition });
      const { usageMetadata } = await client.generate.content({ model: 'gpt-4o', contents: 'Hi' });
      return Object.keys(Object(untyped<Record<string, unknown>>(usageMetadata)['billing_usage']));
    },
    [],
    ['openai_usage'],
  ],
];

/** Returns as many items of a list as are expected. */
const limited = (value: unknown, expected: unknown): unknown =>
  Array.isArray(value) && Array.isArray(expected) ? value.slice(0, expected.length) : value;

describe('differences between the editions of new-api', () => {
  test.each(differences)('%s', async (_, read, first, second) => {
    expect(limited(await read('2025'), first)).toEqual(first);
    expect(limited(await read('2026'), second)).toEqual(second);
  });
});

test('the client settles a refund whose entry has an id of no call', async () => {
  const { client, emulator } = emulated({}, { edition: '2026', videoDuration: 0 });
  const { request_id: requestId } = await client.videos.create(failing).withResponse();

  const { verdict } = await client.account.settle(requestId ?? '');

  expect(emulator.charges).toMatchObject([{ refundedAt: expect.any(Number) }]);
  expect(verdict).not.toBe('not_charged');
});

test('the client downloads content that needs a key, and says which key is wrong', async () => {
  const { client, emulator } = emulated({}, { edition: '2026', videoDuration: 0 });
  const { id } = await client.videos.create({ model: 'm-video', prompt: 'A fox' });
  const { baseURL, fetch } = emulator;
  const other = new Gateway({ apiKey: 'sk-other', baseURL, fetch, logLevel: 'off' });

  expect(
    (await (await client.videos.downloadContent(id)).arrayBuffer()).byteLength,
  ).toBeGreaterThan(0);
  expect(await failureOf(other.models.list())).toMatchObject({ status: 401, outcome: 'rejected' });
});

test.each([
  [{ gateway: 'litellm', edition: '2026' }, 'is only for the gateway'],
  [{ edition: '2024' }, 'must be "2025" or "2026"'],
])('rejects %j', (options, message) => {
  expect(() => createEmulator(untyped(options))).toThrow(message);
});
