// Options that are `null`, as plain JavaScript and configuration files have them.
import { expect, test } from 'vitest';
import { APIError, Gateway, type VideoSubmitOptions } from '../../src/index.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { emulated, scripted } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';
import type { GatewayOptions, RequestOptions } from '../../src/options/options.ts';

const chat = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const image = { model: 'm', prompt: 'A cat' };

const nulls = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, null]));

const shared =
  'maxRetries timeout firstByteTimeout idleTimeout chunkTimeout totalTimeout retryUnknownOutcome idempotency structuredOutput onTruncated maxEventBytes maxResponseBytes partial validation fetchOptions';

const ofClient = nulls(
  `${shared} gateway organization project defaultHeaders defaultQuery logger logLevel dangerouslyAllowBrowser bodyFormat budget onDrift observer onRequest onResponse`,
);
const ofCall = nulls(`${shared} signal headers query extraBody onUploadProgress`);

const overloaded = () =>
  new Response('{"error":{"message":"busy"}}', { status: 503, headers: { 'retry-after': '0' } });

test('null options of a client mean the defaults', async () => {
  const emulator = createEmulator();
  const { apiKey, baseURL, fetch } = emulator;
  const options = { ...ofClient, apiKey, baseURL, fetch };
  const client = new Gateway(untyped<GatewayOptions>(options));

  await client.chat.completions.create(chat);

  expect(client).toMatchObject({ maxRetries: 2, timeout: 600_000, logLevel: 'warn' });
  expect(emulator.requests).toHaveLength(1);
});

test("null options of a call mean the client's", async () => {
  const { client, requests } = scripted([overloaded], { maxRetries: 1 });

  const failure = client.chat.completions.create(chat, untyped<RequestOptions>(ofCall));

  await expect(failure).rejects.toThrow(APIError);
  expect(requests).toHaveLength(2);
});

test('retryUnknownOutcome: null does not retry a charged call with an unknown outcome', async () => {
  const { client, requests } = scripted([new TypeError('terminated')]);

  const failure = client.images.generate(image, untyped<RequestOptions>(ofCall));

  await expect(failure).rejects.toMatchObject({ outcome: 'unknown' });
  expect(requests).toHaveLength(1);
});

test('bodyFormat: null submits a video in the format of the client, once', async () => {
  const { client, emulator } = emulated({ bodyFormat: 'json' });

  const options = untyped<VideoSubmitOptions>({ ...ofCall, bodyFormat: null });
  await client.videos.create({ model: 'm', prompt: 'A boat' }, options);

  expect(emulator.requests.map(({ headers }) => headers['content-type'])).toEqual([
    'application/json',
  ]);
});

test.each(['callId', 'idempotencyKey'])(
  '%s: null is rejected before anything is sent',
  async (name) => {
    const { client, requests } = scripted([overloaded], { idempotency: { header: 'x-key' } });

    const options = untyped<RequestOptions>({ [name]: null });

    await expect(client.images.generate(image, options)).rejects.toMatchObject({ field: name });
    expect(requests).toHaveLength(0);
  },
);

test('a setting that is set to null becomes the default', () => {
  const client = new Gateway({ apiKey: 'sk-test', baseURL: 'https://gw.test', maxRetries: 5 });

  Reflect.set(client, 'maxRetries', null);

  expect(client.maxRetries).toBe(2);
});

test("fetch: null means the runtime's fetch", () => {
  const options = { apiKey: 'sk-test', baseURL: 'https://gw.test', fetch: null };

  expect(() => new Gateway(untyped<GatewayOptions>(options))).not.toThrow();
});
