import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { zodResponseFormat } from '../../../src/adapters/helpers/zod.ts';
import { type Gateway, memoryLedger } from '../../../src/index.ts';
import type { GatewayOptions } from '../../../src/options/options.ts';
import type { Fault } from '../../../src/testing/index.ts';
import {
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  misuse,
  scripted,
} from '../../helpers/clients.ts';
import { failFirst, requestedModels } from '../../helpers/requested-models.ts';
import { untyped } from '../../helpers/untyped.ts';

const messages = [{ role: 'user', content: 'hi' }] as const;

const ask = (client: Gateway, options: GatewayOptions) =>
  client.chat.completions.create({ model: 'model-a', messages: [...messages] }, options);
const draw = (client: Gateway, options: GatewayOptions) =>
  client.images.generate({ model: 'model-a', prompt: 'a boat' }, options);

const error = (status: number, details: Partial<Fault & { type: 'error' }> = {}): Fault => ({
  type: 'error',
  status,
  ...details,
});

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const open = (client: Gateway, options: GatewayOptions = {}) =>
  client.chat.completions.create(
    { model: 'model-a', messages: [...messages], stream: true },
    { fallback: ['model-b'], ...options },
  );

describe('fallback of a stream', () => {
  test.for([
    { where: 'at its status', fault: error(429) },
    { where: 'before any event', fault: { type: 'stream-error', after: 0, shape: 'error-data' } },
    { where: 'after the role alone', fault: { type: 'cut-events', after: 1 } },
    { where: 'at its first byte', fault: { type: 'stall-events', after: 0 } },
    { where: 'without any content', fault: { type: 'empty' } },
  ] as const)(
    'a fallback of a stream uses the next model if the first fails $where',
    async ({ fault }) => {
      const limits = { firstByteTimeout: 2_000, idleTimeout: 2_000 };
      const { client, emulator } = emulated({ maxRetries: 0, ...limits });

      failFirst(emulator, fault);
      const chunks = await collect(await open(client));
      expect(requestedModels(emulator).requests).toEqual(['model-a', 'model-b']);
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).not.toBe('');
    },
  );

  const busy = JSON.stringify({ error: { message: 'Busy' } });
  const usage = { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 };
  const late = JSON.stringify({ ...chunk({}), choices: [], usage });
  const good = eventStream(chunk({ content: 'Hi' }), chunk({}, 'stop'));

  test.each([
    ['an error', `data: ${busy}\n\n`],
    ['an error, then its usage', `data: ${busy}\n\ndata: ${late}\n\ndata: [DONE]\n\n`],
    ['an error with the terminator in its line', `data: ${busy}data: [DONE]\n\n`],
    ['an error outside of events', `${busy}\n`],
    ['an event named error', 'event: error\ndata: {"message":"Busy"}\n\n'],
    [
      'the role, then an error',
      `data: ${JSON.stringify(chunk({ role: 'assistant' }))}\n\ndata: ${busy}\n\n`,
    ],
    ['text', 'data: Busy\n\n'],
  ])('a fallback of a stream holds a stream that begins with %s', async (_, body) => {
    const headers = { 'content-type': 'text/event-stream' };
    const failing = () => new Response(body, { headers });
    const first = scripted([failing, good], { maxRetries: 0 });
    const both = scripted([failing], { maxRetries: 0 });

    const chunks = await collect(await open(first.client));
    const failed = await failureOf(open(both.client).then((stream) => collect(stream)));

    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hi');
    expect(first.requests).toHaveLength(2);
    expect(String(failed)).toContain('Busy');
    expect(failed).toMatchObject({ name: 'StreamError', outcome: 'unknown' });
    expect(both.requests).toHaveLength(2);
  });

  test('a fallback of a stream does not change the model after content', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    failFirst(emulator, { type: 'cut-events', after: 3 });
    const stream = await open(client);
    const failed = await failureOf(collect(stream));
    expect(failed).toMatchObject({ name: 'StreamTruncatedError', outcome: 'unknown' });
    expect(requestedModels(emulator).requests).toEqual(['model-a']);
  });

  test('a fallback of a stream does not change the model after reasoning', async () => {
    const { client, requests } = scripted([
      eventStream(chunk({ role: 'assistant' }), chunk({ reasoning_content: 'Hm' })),
    ]);
    await failureOf(collect(await open(client)));
    expect(requests).toHaveLength(1);
  });

  test('a fallback of a stream does not change the model after content that arrives with an error', async () => {
    const { client, requests } = scripted([
      eventStream(chunk({ content: 'Hm' }), { error: { message: 'Overloaded' } }),
    ]);
    const chunks: unknown[] = [];
    const failed = await failureOf(
      (async () => {
        for await (const item of await open(client)) chunks.push(item);
      })(),
    );
    expect(failed).toHaveProperty('name', 'StreamError');
    expect(chunks).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });

  test('without fallback, an error before content reaches the loop', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    failFirst(emulator, { type: 'cut-events', after: 1 });
    const stream = await open(client, { fallback: null });
    await expect(collect(stream)).rejects.toHaveProperty('name', 'StreamTruncatedError');
    expect(requestedModels(emulator).requests).toEqual(['model-a']);
  });
});

describe('a call with fallbacks', () => {
  test('a call with fallbacks throws the last error with the worst outcome and all attempts', async () => {
    const { client } = scripted([json({}, 502), json({ error: { message: 'slow' } }, 429)], {
      maxRetries: 0,
    });
    const failed = await failureOf(ask(client, { fallback: ['model-b'] }));
    expect(failed).toMatchObject({ name: 'RateLimitError', outcome: 'unknown' });
    expect(failed).toHaveProperty('evidence.attempts', [
      expect.objectContaining({ model: 'model-a', status: 502 }),
      expect.objectContaining({ model: 'model-b', status: 429 }),
    ]);
    expect(failed).toHaveProperty('message', expect.stringContaining('earlier attempt'));
  });

  test('a call with fallbacks counts the attempts of all models, in its error and in the ids of its requests', async () => {
    const { client, requests } = scripted([json({}, 429), json({}, 429)], {
      maxRetries: 0,
      gateway: 'litellm',
      fallback: ['model-b'],
    });

    const failed = await failureOf(
      client.images.generate({ model: 'model-a', prompt: 'a boat' }, { callId: 'job' }),
    );

    expect(String(failed)).toContain('2 attempts were made.');
    expect(requests.map(({ headers }) => headers.get('x-litellm-call-id'))).toEqual([
      'job-1',
      'job-2',
    ]);
  });

  test('a call with fallbacks keeps the attempts of the first model if the response of the next cannot be parsed', async () => {
    const message = { role: 'assistant', content: 'Rome' };
    const answer = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const { client } = scripted([json({}, 429), json(answer)], { maxRetries: 0 });
    const params = {
      model: 'model-a',
      messages: [...messages],
      response_format: zodResponseFormat(z.object({ city: z.string() }), 'city'),
    };

    const failed = await failureOf(
      client.chat.completions.parse(params, { fallback: ['model-b'] }),
    );

    expect(failed).toMatchObject({
      name: 'InvalidOutputError',
      evidence: { attempts: [{ model: 'model-a', status: 429 }, { model: 'model-b' }] },
    });
  });

  test('retries a model before the next one, each with its own idempotency key', async () => {
    const { client, requests } = scripted(
      [
        json({ error: {} }, 502),
        json({ error: {} }, 502),
        json({
          choices: [
            { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' },
          ],
        }),
      ],
      { maxRetries: 1, idempotency: { header: 'Idempotency-Key' } },
    );
    const moved: unknown[] = [];
    await client.chat.completions.create(
      { model: 'model-a', messages: [...messages], max_tokens: 9 },
      {
        idempotencyKey: 'key',
        fallback: [{ model: 'model-b', max_tokens: 5 }],
        onFallback(event) {
          moved.push([event.from, event.to]);
          throw new Error('of the caller');
        },
      },
    );
    expect(requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual([
      'key',
      'key',
      'key-2',
    ]);
    await expect(requests[2]?.json()).resolves.toMatchObject({ model: 'model-b', max_tokens: 5 });
    expect(moved).toEqual([['model-a', 'model-b']]);
  });

  test('never charges images twice, with any retryUnknownOutcome', async () => {
    const { client, emulator } = emulated({ maxRetries: 0, retryUnknownOutcome: true });
    failFirst(emulator, { type: 'reset', when: 'after-charge' });
    await failureOf(draw(client, { fallback: ['model-b'] }));
    expect(requestedModels(emulator).charges).toEqual(['model-a']);
  });

  test('a call with fallbacks stays with the model that answered in a run of tools', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    failFirst(emulator, error(429));
    const runner = client.chat.completions.runTools(
      {
        model: 'model-a',
        messages: [...messages],
        tools: [{ type: 'function', function: { name: 'f', parameters: {}, function: () => 'x' } }],
      },
      { fallback: ['model-b'] },
    );
    await runner.done();
    expect(requestedModels(emulator).requests).toEqual(['model-a', 'model-b', 'model-b']);
  });

  test("a call with fallbacks does not request the model of the call again if the client's list has it", async () => {
    const { client, emulator } = emulated({ maxRetries: 0, fallback: ['model-b', 'model-a'] });
    emulator.fail({ fault: error(429), times: Infinity });
    await failureOf(client.chat.completions.create({ model: 'model-a', messages: [...messages] }));
    expect(requestedModels(emulator).requests).toEqual(['model-a', 'model-b']);
  });

  test.for([
    { what: 'an empty list', options: { fallback: [] }, field: 'fallback' },
    { what: 'a model twice', options: { fallback: ['b', { model: 'b' }] }, field: 'fallback[1]' },
    { what: 'the model of the call', options: { fallback: ['model-a'] }, field: 'fallback[0]' },
    {
      what: 'more than 10 models',
      options: { fallback: Array.from({ length: 11 }, (_, index) => `m-${index}`) },
      field: 'fallback',
    },
    {
      what: 'a model without a name',
      options: { fallback: [{ model: '' }] },
      field: 'fallback[0]',
    },
    {
      what: 'an unknown reason',
      options: { fallback: ['b'], fallbackOn: ['luck'] },
      field: 'fallbackOn[0]',
    },
  ])('a call with fallbacks rejects $what before anything is sent', async ({ options, field }) => {
    const { client, emulator } = emulated();
    const failed = await failureOf(
      misuse(client.chat.completions, 'create', { model: 'model-a', messages }, options),
    );
    expect(failed).toMatchObject({ name: 'InvalidInputError', field });
    expect(emulator.requests).toHaveLength(0);
  });

  test('fallbacks are rejected for embeddings in a call, and ignored there in a client', async () => {
    const { client, emulator } = emulated({ fallback: ['model-b'] });
    const params = { model: 'model-a', input: 'hi' };
    const options = untyped<object>({ fallback: ['model-b'] });
    const failed = await failureOf(client.embeddings.create(params, options));
    expect(failed).toMatchObject({ name: 'InvalidInputError', field: 'fallback' });
    const many = client.embeddings.createMany({ ...params, input: ['hi'] }, options);
    expect(await failureOf(many)).toMatchObject({ name: 'InvalidInputError', field: 'fallback' });
    await client.embeddings.create(params);
    expect(requestedModels(emulator).requests).toEqual(['model-a']);
  });

  test('a call with fallbacks names the model that took a video in its handle, also for a later run', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    failFirst(emulator, error(429));
    const ledger = memoryLedger();
    const params = { model: 'model-a', prompt: 'a boat' };
    const options = { ledger, callId: 'boat-1', bodyFormat: 'json' } as const;
    const first = await client.videos.create(params, { ...options, fallback: ['model-b'] });
    const second = await client.videos.create(params, options);
    expect(first.ref).toMatchObject({ model: 'model-b', callId: 'boat-1' });
    expect(second.ref).toEqual(first.ref);
    expect(requestedModels(emulator).charges).toEqual(['model-b']);
  });
});
