import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as apiErrors from '../src/errors/api-error.ts';
import * as connectionErrors from '../src/errors/connection-error.ts';
import { GatewayError, InvalidInputError } from '../src/errors/gateway-error.ts';
import * as responseErrors from '../src/errors/response-error.ts';
import * as streamErrors from '../src/errors/stream-error.ts';
import * as videoErrors from '../src/errors/video-error.ts';
import { Gateway } from '../src/gateway.ts';
import { resolveSettings } from '../src/http/settings.ts';
import { Transport } from '../src/http/transport.ts';
import type { GatewayOptions } from '../src/options.ts';
import { failureOf, json, scripted } from './helpers/clients.ts';
import { cutResponse, fetchFailure, settled } from './helpers/failures.ts';
import { untyped } from './helpers/untyped.ts';

const canary = 'sk-canary-0123456789';

/** Everything that printing, logging and reporting tools show of a value. */
function shown(value: unknown): string {
  const printed: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((...parts) => {
    printed.push(parts.map((part) => inspect(part)).join(' '));
  });
  console.log(value);
  return [
    ...printed,
    inspect(value, { depth: Infinity, showHidden: true, getters: true }),
    inspect(value, { depth: Infinity, showHidden: true, customInspect: false }),
    JSON.stringify(value),
    typeof value === 'object' && value !== null && 'stack' in value ? String(value.stack) : '',
    Object.prototype.toString.call(value),
    value instanceof Error ? value.message : '',
    keysAndValuesOf(value, 6),
  ].join('\n');
}

/** What a tool finds that walks own and inherited properties by itself, as error trackers do. */
function keysAndValuesOf(value: unknown, levels: number): string {
  if (typeof value !== 'object' || value === null || levels === 0) return String(value);
  const parts: string[] = [];
  for (const key of Reflect.ownKeys(value)) {
    let inner: unknown;
    try {
      inner = Reflect.get(value, key);
    } catch {
      continue;
    }
    parts.push(`${String(key)}=${keysAndValuesOf(inner, levels - 1)}`);
  }
  return parts.join('\n');
}

/** A careless error of another HTTP library, which carries its request. */
function carelessError(request: Request): Error {
  const inner = Object.assign(new Error('inner'), { config: { headers: [...request.headers] } });
  return Object.assign(new TypeError('failed', { cause: inner }), {
    code: 'ECONNRESET',
    request,
    options: { headers: Object.fromEntries(request.headers) },
  });
}

const messages = [{ role: 'user' as const, content: 'hi' }];

describe('the key does not show', () => {
  const keys: readonly [string, GatewayOptions['apiKey']][] = [
    ['as a string', canary],
    ['from a function', () => canary],
  ];

  test.each(keys)('in the client and what hangs on it: %s', (_, apiKey) => {
    const client = new Gateway({ apiKey, baseURL: 'https://gateway.test', logLevel: 'off' });
    const settings = resolveSettings({ apiKey, baseURL: 'https://gateway.test' });

    for (const value of [
      client,
      client.withOptions({ timeout: 1 }),
      client.chat,
      client.chat.completions,
      client.generate,
      client.embeddings,
      client.images,
      client.audio,
      client.audio.speech,
      client.videos,
      client.models,
      new Transport(settings),
      settings,
      settings.credential,
    ]) {
      expect(shown(value)).not.toContain(canary);
    }
    expect(inspect(client)).toBe("Gateway { baseURL: 'https://gateway.test' }");
    expect(JSON.stringify({ client })).toBe('{"client":{"baseURL":"https://gateway.test"}}');
  });

  test.each(keys)('in promises, answers and streams: %s', async (_, apiKey) => {
    const answers = [
      json({ id: 'c', choices: [] }),
      json({ id: 'c', choices: [] }),
      () => new Response('ID3'),
      () =>
        new Response('data: {"choices":[]}\n\n', {
          headers: { 'content-type': 'text/event-stream' },
        }),
    ];
    const { client } = scripted(answers, { apiKey });
    const promise = client.chat.completions.create({ model: 'm', messages });

    expect(shown(promise)).not.toContain(canary);
    expect(shown(await promise.withResponse())).not.toContain(canary);
    expect(shown(promise)).not.toContain(canary);
    expect(shown(await client.models.list().asResponse())).not.toContain(canary);
    expect(
      shown(await client.audio.speech.create({ model: 'm', input: 'x', voice: 'v' })),
    ).not.toContain(canary);
    const stream = await client.chat.completions.create({ model: 'm', messages, stream: true });
    expect(shown(stream)).not.toContain(canary);
    stream.controller.abort();
  });
});

describe('the key does not show in errors', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each<[string, (request: Request) => Response | Error]>([
    ['400', json({ error: { message: 'no' } }, 400)],
    ['401', json({ error: { message: 'no', type: 'new_api_error' } }, 401)],
    [
      'an echo in the message',
      ({ headers }) =>
        Response.json(
          { error: { message: `Bad key ${headers.get('authorization')}` } },
          { status: 401 },
        ),
    ],
    [
      'an echo in the body',
      ({ headers }) => new Response(`<html>${headers.get('authorization')}`, { status: 502 }),
    ],
    [
      'an echo in fields',
      ({ headers }) =>
        Response.json({ error: { message: 'no', headers: [...headers] } }, { status: 400 }),
    ],
    ['500', json({ error: { message: 'no' } }, 500)],
    ['a page', () => new Response('<html>', { status: 200 })],
    ['a cut body', () => cutResponse('{')],
    ['a refused connection', () => fetchFailure('ECONNREFUSED', 'connect')],
    ['a lost connection', () => fetchFailure('ECONNRESET')],
    ['a careless fetch', carelessError],
    ['an error in a success', json({ error: { message: 'no' } })],
    ['a redirect', () => new Response(null, { status: 302, headers: { location: '/x' } })],
    ['JSON of a wrong shape', json([1])],
  ])('of calls: %s', async (_, answer) => {
    for (const apiKey of [canary, () => canary]) {
      const { client } = scripted([answer], { apiKey });
      for (const call of [
        () => client.chat.completions.create({ model: 'm', messages }),
        () => client.chat.completions.create({ model: 'm', messages, stream: true }),
        () => client.videos.create({ model: 'm', prompt: 'x' }),
        () => client.audio.speech.create({ model: 'm', input: 'x', voice: 'v' }),
        () => client.post('/v1/x', { body: {} }),
        () => client.post('/v1/x', { body: {} }).asResponse(),
      ]) {
        const { error } = await settled<unknown>(call());
        expect(shown(error)).not.toContain(canary);
      }
    }
  });

  test('which keep what a runtime threw as it is, and the code of anything else', async () => {
    const lost = fetchFailure('ECONNRESET', 'read');
    const plain = scripted([lost], { maxRetries: 0 });
    const careless = scripted([carelessError], { maxRetries: 0 });

    const { error: first } = await settled(plain.client.models.list());
    const { error: second } = await settled(careless.client.models.list());

    expect(first).toHaveProperty('cause', lost);
    expect(second).toHaveProperty('cause.message', 'failed');
    expect(second).toHaveProperty('cause.name', 'TypeError');
    expect(second).toHaveProperty('cause.code', 'ECONNRESET');
    expect(second).toHaveProperty('cause.cause.message', 'inner');
  });

  test('of aborts and time limits', async () => {
    const { client } = scripted([() => new Promise<Response>(() => {})], { apiKey: canary });
    const { error: timedOut } = await settled(client.models.list({ timeout: 5 }));
    const { error: aborted } = await settled(client.models.list({ signal: AbortSignal.abort() }));

    expect(shown(timedOut)).not.toContain(canary);
    expect(shown(aborted)).not.toContain(canary);
  });

  test('of options that are refused', async () => {
    const base = { baseURL: 'https://gateway.test', logLevel: 'off' } as const;
    const build = (options: GatewayOptions) => {
      try {
        return new Gateway({ ...base, ...options });
      } catch (error) {
        return error;
      }
    };
    const client = new Gateway({ ...base, apiKey: () => `${canary}\nx` });

    for (const value of [
      build({ apiKey: `${canary}\nx` }),
      build({ apiKey: `${canary} x` }),
      build({ apiKey: canary, baseURL: `https://user:${canary}@gateway.test` }),
      build({ apiKey: canary, baseURL: `https://gateway.test?key=${canary}` }),
      build({ apiKey: canary, baseURL: `gateway.test?key=${canary}` }),
      build({ apiKey: canary, defaultHeaders: { 'x-a': `${canary}\nx` } }),
      await failureOf(client.models.list()),
    ]) {
      expect(value).toBeInstanceOf(InvalidInputError);
      expect(shown(value)).not.toContain(canary);
    }
  });
});

describe('errors', () => {
  const init = { outcome: 'unknown', status: 500, error: { message: 'no' } } as const;
  const ref = { id: 't', route: { type: 'openai' } } as const;

  test.each(
    Object.entries({
      ...apiErrors,
      ...connectionErrors,
      ...responseErrors,
      ...streamErrors,
      ...videoErrors,
    }).filter(([name]) => name.endsWith('Error')),
  )('%s keeps its name, and holds nothing of a request', (name, ErrorClass) => {
    expect(ErrorClass).toHaveProperty('kind', name);
    const error: unknown = Reflect.construct(untyped<new () => unknown>(ErrorClass), [
      'failed.',
      {
        ...init,
        ref,
        timeout: 1,
        limit: 'idleTimeout',
        verdict: 'truncated',
        reason: 'x',
        raw: {},
      },
    ]);
    if (!(error instanceof GatewayError)) throw new Error('not one of ours');

    expect(error.name).toBe(name);
    expect(error.message).toMatch(/^failed\. \S/);
    expect(GatewayError.isInstance(error)).toBe(true);
    expect(inspect(error)).toContain(`${name}: failed.`);
    expect(Object.keys(error)).not.toContain('request');
  });
});
