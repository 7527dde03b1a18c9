import { describe, expect, test } from 'vitest';
import { failures, type FailureKind } from '../../../src/http/retry.ts';
import { type Gateway, memoryLedger } from '../../../src/index.ts';
import type { GatewayOptions } from '../../../src/options/options.ts';
import type { Emulator, Fault } from '../../../src/testing/index.ts';
import {
  collect,
  emulated,
  eventStream,
  failureOf,
  json,
  misuse,
  scripted,
} from '../../helpers/clients.ts';
import { fetchFailure } from '../../helpers/failures.ts';
import { failFirst, requestedModels } from '../../helpers/requested-models.ts';
import { untyped } from '../../helpers/untyped.ts';

const messages = [{ role: 'user', content: 'hi' }] as const;

/** A call of each charge class that asks `model-a`, and then `model-b` if it has a fallback. */
const calls = {
  metered: (client: Gateway, options: GatewayOptions) =>
    client.chat.completions.create({ model: 'model-a', messages: [...messages] }, options),
  charged: (client: Gateway, options: GatewayOptions) =>
    client.images.generate({ model: 'model-a', prompt: 'a boat' }, options),
};

const error = (status: number, details: Partial<Fault & { type: 'error' }> = {}): Fault => ({
  type: 'error',
  status,
  ...details,
});

interface Row {
  readonly fault: string;
  /** Given to the emulator, or thrown by `fetch`. */
  readonly cause: Fault | Error;
  readonly kind: FailureKind;
  readonly options?: GatewayOptions;
  /** Whether the next model is asked, by charge class. */
  readonly metered: boolean;
  readonly charged: boolean;
}

const charged = true;
const noModel = { code: 'model_not_found', message: 'No such model' };

const rows: readonly Row[] = [
  {
    fault: 'refused connection',
    cause: fetchFailure('ECONNREFUSED', 'connect'),
    kind: 'cannot_connect',
    metered: false,
    charged: false,
  },
  {
    fault: 'unknown host',
    cause: fetchFailure('ENOTFOUND', 'getaddrinfo'),
    kind: 'host_not_found',
    metered: false,
    charged: false,
  },
  {
    fault: 'expired certificate',
    cause: fetchFailure('CERT_HAS_EXPIRED'),
    kind: 'tls_failed',
    metered: false,
    charged: false,
  },
  {
    fault: 'a time limit of the client',
    cause: { type: 'hang', charged },
    kind: 'timed_out',
    options: { timeout: 60 },
    metered: true,
    charged: false,
  },
  {
    fault: 'a total time limit',
    cause: { type: 'hang', charged },
    kind: 'timed_out',
    options: { totalTimeout: 60 },
    metered: false,
    charged: false,
  },
  {
    fault: 'a connection lost after the charge',
    cause: { type: 'reset', when: 'after-charge' },
    kind: 'interrupted',
    metered: true,
    charged: false,
  },
  {
    fault: 'a connection lost before the charge',
    cause: { type: 'reset', when: 'before-charge' },
    kind: 'interrupted',
    metered: true,
    charged: false,
  },
  {
    fault: '408',
    cause: error(408, { charged }),
    kind: 'interrupted',
    metered: true,
    charged: false,
  },
  {
    fault: '499',
    cause: error(499, { charged }),
    kind: 'interrupted',
    metered: true,
    charged: false,
  },
  {
    fault: '502 of a proxy',
    cause: { type: 'html', status: 502, charged },
    kind: 'interrupted',
    metered: true,
    charged: false,
  },
  { fault: '503', cause: error(503), kind: 'interrupted', metered: true, charged: false },
  {
    fault: '500',
    cause: error(500, { charged }),
    kind: 'server_error',
    metered: true,
    charged: false,
  },
  {
    fault: 'a page with status 200',
    cause: { type: 'html', status: 200, charged },
    kind: 'unusable_answer',
    metered: true,
    charged: false,
  },
  {
    fault: 'a body that is cut',
    cause: { type: 'cut', bytes: 20 },
    kind: 'unusable_answer',
    metered: true,
    charged: false,
  },
  {
    fault: 'an empty response',
    cause: { type: 'bare', status: 200, charged },
    kind: 'unusable_answer',
    metered: true,
    charged: false,
  },
  {
    fault: 'an error with status 200',
    cause: error(200, { charged }),
    kind: 'undecided',
    metered: true,
    charged: false,
  },
  {
    fault: '424',
    cause: error(424, { charged }),
    kind: 'undecided',
    metered: true,
    charged: false,
  },
  {
    fault: 'content refused for a fee',
    cause: error(400, { code: 'violation_fee.grok', charged }),
    kind: 'content_refused',
    metered: false,
    charged: false,
  },
  {
    fault: 'a redirect with status 300',
    cause: error(300, { charged }),
    kind: 'redirected_after_work',
    metered: false,
    charged: false,
  },
  {
    fault: 'a redirect',
    cause: { type: 'redirect', status: 307 },
    kind: 'redirected',
    metered: false,
    charged: false,
  },
  { fault: '400', cause: error(400), kind: 'refused', metered: false, charged: false },
  { fault: '413', cause: error(413), kind: 'refused', metered: false, charged: false },
  { fault: '422', cause: error(422), kind: 'refused', metered: false, charged: false },
  { fault: '402', cause: error(402), kind: 'refused', metered: false, charged: false },
  {
    fault: '403 without credit',
    cause: error(403, { code: 'insufficient_user_quota' }),
    kind: 'refused',
    metered: false,
    charged: false,
  },
  {
    fault: '403 for the key',
    cause: error(403, { message: 'This token is disabled' }),
    kind: 'refused',
    metered: false,
    charged: false,
  },
  {
    fault: '403 for the model',
    cause: error(403, { message: 'This token has no access to model model-a' }),
    kind: 'refused',
    metered: true,
    charged: true,
  },
  {
    fault: '404 of a wrong URL',
    cause: error(404, { message: 'Invalid URL (POST /v1/models/x)' }),
    kind: 'refused',
    metered: false,
    charged: false,
  },
  {
    fault: '404 for the model',
    cause: error(404, noModel),
    kind: 'refused',
    metered: true,
    charged: true,
  },
  {
    fault: '503 without a channel',
    cause: error(503, noModel),
    kind: 'refused',
    metered: true,
    charged: true,
  },
  {
    fault: '500 of a conversion',
    cause: error(500, { code: 'convert_request_failed' }),
    kind: 'refused',
    metered: true,
    charged: true,
  },
  { fault: '501', cause: error(501), kind: 'refused', metered: true, charged: true },
  {
    fault: '403 of a disabled channel',
    cause: error(403, { message: '该渠道已被禁用' }),
    kind: 'refused',
    metered: true,
    charged: true,
  },
  {
    fault: '400 of a disabled model',
    cause: error(400, { message: 'The model `model-a` has been deprecated.' }),
    kind: 'refused',
    metered: true,
    charged: true,
  },
  {
    fault: "403 of a provider's quota",
    cause: error(403, { code: 'insufficient_quota' }),
    kind: 'refused',
    metered: true,
    charged: true,
  },
  {
    fault: '429 for credit of the key',
    cause: error(429, { code: 'insufficient_user_quota' }),
    kind: 'refused',
    metered: false,
    charged: false,
  },
  {
    fault: '400 of content',
    cause: error(400, { code: 'content_policy_violation' }),
    kind: 'refused',
    metered: false,
    charged: false,
  },
  {
    fault: '400 of a long prompt',
    cause: error(400, { message: "This model's maximum context length is 10 tokens." }),
    kind: 'refused',
    metered: true,
    charged: true,
  },
  { fault: '409', cause: error(409), kind: 'conflict', metered: false, charged: false },
  {
    fault: '401 of the gateway',
    cause: error(401),
    kind: 'unauthorized',
    metered: false,
    charged: false,
  },
  {
    fault: '401 of a provider',
    cause: { type: 'vendor-refusal', status: 401 },
    kind: 'unauthorized',
    metered: true,
    charged: true,
  },
  { fault: '425', cause: error(425), kind: 'too_early', metered: false, charged: false },
  {
    fault: '429',
    cause: { type: 'rate-limit', retryAfter: 1 },
    kind: 'rate_limited',
    metered: true,
    charged: true,
  },
  {
    fault: "429 of a provider's quota",
    cause: error(429, { code: 'insufficient_quota' }),
    kind: 'refused',
    metered: true,
    charged: true,
  },
  {
    fault: '429 without a body',
    cause: { type: 'bare', status: 429 },
    kind: 'bare_rate_limited',
    metered: true,
    charged: true,
  },
];

describe('fallback', () => {
  test('the table has every kind of failure', () => {
    const missing = Object.keys(failures).filter((kind) => !rows.some((row) => row.kind === kind));
    // Nothing is sent after the first two, and the caller causes the third.
    expect(missing).toEqual(['invalid_input', 'proxy_refused', 'aborted']);
  });

  describe.each([
    { charge: 'metered' },
    // Only failures that prove that nothing was done are followed by another model.
    { charge: 'metered', retryUnknownOutcome: false },
    { charge: 'charged' },
    { charge: 'charged', retryUnknownOutcome: true },
  ] as const)('of a call: %o', (variant) => {
    const { charge } = variant;
    const retryUnknownOutcome =
      'retryUnknownOutcome' in variant ? variant.retryUnknownOutcome : undefined;
    const mayPayTwice = charge === 'metered' && retryUnknownOutcome !== false;
    const run = async ({ cause, options }: Row, own: GatewayOptions) => {
      const { client, emulator } = emulated({ maxRetries: 0, retryUnknownOutcome, ...options });
      const fails = cause instanceof Error;
      if (!fails) failFirst(emulator, cause);
      const fetch: Emulator['fetch'] = async (input, init) => {
        if (!fails) return emulator.fetch(input, init);
        throw cause;
      };
      const call = calls[charge](client.withOptions({ fetch }), own);
      const failed = await Promise.resolve(call).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      return { failed, ...requestedModels(emulator) };
    };

    test.for(rows)('$fault', async (row) => {
      const without = await run(row, {});
      const { failed, requests, charges } = await run(row, { fallback: ['model-b'] });
      const first = without.requests;
      expect(without.failed).toHaveProperty('evidence');
      expect(first.every((model) => model === 'model-a')).toBe(true);
      if (mayPayTwice ? row.metered : row.charged) {
        expect(failed).toBeUndefined();
        expect(requests).toEqual(['model-a', 'model-b']);
        expect(charges).toEqual([...without.charges, 'model-b']);
      } else {
        const { name, outcome } = Object(without.failed);
        expect(failed).toMatchObject({ name, outcome });
        expect(requests).toEqual(first);
        expect(charges).toEqual(without.charges);
      }
      if (!mayPayTwice) expect(charges.length).toBeLessThanOrEqual(1);
    });
  });
});

const chunk = (delta: object) => ({ id: 'c', model: 'm', choices: [{ index: 0, delta }] });

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
  ] as const)('uses the next model if the first fails $where', async ({ fault }) => {
    const { client, emulator } = emulated({ maxRetries: 0, firstByteTimeout: 80, idleTimeout: 80 });

    failFirst(emulator, fault);
    const chunks = await collect(await open(client));
    expect(requestedModels(emulator).requests).toEqual(['model-a', 'model-b']);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).not.toBe('');
  });

  test('does not change the model after content', async () => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    failFirst(emulator, { type: 'cut-events', after: 3 });
    const stream = await open(client);
    const failed = await failureOf(collect(stream));
    expect(failed).toMatchObject({ name: 'StreamTruncatedError', outcome: 'unknown' });
    expect(requestedModels(emulator).requests).toEqual(['model-a']);
  });

  test('does not change the model after reasoning', async () => {
    const { client, requests } = scripted([
      eventStream(chunk({ role: 'assistant' }), chunk({ reasoning_content: 'Hm' })),
    ]);
    await failureOf(collect(await open(client)));
    expect(requests).toHaveLength(1);
  });

  test('does not change the model after content that arrives with an error', async () => {
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
  test('throws the last error with the worst outcome and all attempts', async () => {
    const { client } = scripted([json({}, 502), json({ error: { message: 'slow' } }, 429)], {
      maxRetries: 0,
    });
    const failed = await failureOf(calls.metered(client, { fallback: ['model-b'] }));
    expect(failed).toMatchObject({ name: 'RateLimitError', outcome: 'unknown' });
    expect(failed).toHaveProperty('evidence.attempts', [
      expect.objectContaining({ model: 'model-a', status: 502 }),
      expect.objectContaining({ model: 'model-b', status: 429 }),
    ]);
    expect(failed).toHaveProperty('message', expect.stringContaining('earlier attempt'));
  });

  test.for([
    { charge: 'metered', count: 2 },
    { charge: 'charged', count: 1 },
  ] as const)('after a 200 with {} sends $count requests: $charge', async ({ charge, count }) => {
    const { client, requests } = scripted([json({})], { maxRetries: 0 });

    const failed = await failureOf(calls[charge](client, { fallback: ['model-b'] }));

    expect(failed).toMatchObject({ name: 'UnexpectedResponseError', outcome: 'unknown' });
    expect(requests).toHaveLength(count);
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
    await failureOf(calls.charged(client, { fallback: ['model-b'] }));
    expect(requestedModels(emulator).charges).toEqual(['model-a']);
  });

  test('stays with the model that answered in a run of tools', async () => {
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

  test("does not request the model of the call again if the client's list has it", async () => {
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
  ])('rejects $what before anything is sent', async ({ options, field }) => {
    const { client, emulator } = emulated();
    const failed = await failureOf(
      misuse(client.chat.completions, 'create', { model: 'model-a', messages }, options),
    );
    expect(failed).toMatchObject({ name: 'InvalidInputError', field });
    expect(emulator.requests).toHaveLength(0);
  });

  test('is rejected for embeddings in a call, and ignored there in a client', async () => {
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

  test('names the model that took a video in its handle, also for a later run', async () => {
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
