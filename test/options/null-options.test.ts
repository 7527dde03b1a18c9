// Options that are `null`, as plain JavaScript and configuration files have them.
import { expect, test } from 'vitest';
import { APIError, Gateway } from '../../src/index.ts';
import type { Method } from '../../src/options/methods.ts';
import { optionsOf } from '../../src/options/option-names.ts';
import { createEmulator } from '../../src/testing/index.ts';
import { scripted } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';
import type { GatewayOptions, RequestOptions } from '../../src/options/options.ts';

const chat = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] };
const image = { model: 'm', prompt: 'A cat' };

/** `null` for each option of a method for which it means that it is not set. */
const nullsOf = (method: Method): Readonly<Record<string, null>> =>
  Object.fromEntries(
    [...optionsOf(method)].flatMap(([name, option]) =>
      option.null === 'unset' ? [[name, null]] : [],
    ),
  );

const ofClient = nullsOf('client');
const ofCall = nullsOf('images.generate');

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

test('a setting that is set to null becomes the default', () => {
  const client = new Gateway({ apiKey: 'sk-test', baseURL: 'https://gw.test', maxRetries: 5 });

  Reflect.set(client, 'maxRetries', null);

  expect(client.maxRetries).toBe(2);
});

test("fetch: null means the runtime's fetch", () => {
  const options = { apiKey: 'sk-test', baseURL: 'https://gw.test', fetch: null };

  expect(() => new Gateway(untyped<GatewayOptions>(options))).not.toThrow();
});
