// A misspelt option would be dropped: a signal that ends nothing, retries that are paid for.
import { describe, expect, test, vi } from 'vitest';
import { Gateway, type GatewayOptions, type RequestOptions } from '../../src/index.ts';
import { checkOptions } from '../../src/options/resolve.ts';
import { emulated, failureOf } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';

const ask = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Hi' }] };
const order = { model: 'm', prompt: 'A boat' };

const calls: Record<string, (client: Gateway, options: RequestOptions) => unknown> = {
  'chat.completions.create': ({ chat }, options) => chat.completions.create(ask, options),
  'chat.completions.parse': ({ chat }, options) => chat.completions.parse(ask, options),
  'chat.completions.stream': ({ chat }, options) => chat.completions.stream(ask, options).done(),
  'chat.completions.runTools': ({ chat }, options) =>
    chat.completions.runTools({ ...ask, tools: [] }, options).done(),
  'generate.content': ({ generate }, options) =>
    generate.content({ model: 'm', contents: 'Hi' }, options),
  'generate.runTools': ({ generate }, options) =>
    generate.runTools({ model: 'm', contents: 'Hi', functions: [] }, options),
  'embeddings.create': ({ embeddings }, options) =>
    embeddings.create({ model: 'm', input: 'Hi' }, options),
  'embeddings.createMany': ({ embeddings }, options) =>
    embeddings.createMany({ model: 'm', input: ['Hi'] }, options),
  'images.generate': ({ images }, options) => images.generate(order, options),
  'images.generateMany': ({ images }, options) => images.generateMany([order], options).next(),
  'audio.speech.create': ({ audio }, options) =>
    audio.speech.create({ model: 'm', voice: 'alloy', input: 'Hi' }, options),
  'models.list': ({ models }, options) => models.list(options),
  'videos.create': ({ videos }, options) => videos.create(order, options),
  'videos.retrieve': ({ videos }, options) => videos.retrieve('task', options),
  'videos.wait': ({ videos }, options) => videos.wait('task', untyped(options)),
  'videos.waitAll': ({ videos }, options) => videos.waitAll(['task'], untyped(options)).next(),
  'videos.watch': ({ videos }, options) => videos.watch('task', untyped(options)).next(),
  'videos.step': ({ videos }, options) => videos.step('task', undefined, untyped(options)),
  'videos.createAndWait': ({ videos }, options) => videos.createAndWait(order, untyped(options)),
  'videos.createAndWaitAll': ({ videos }, options) =>
    videos.createAndWaitAll([order], untyped(options)).next(),
  'videos.remixAndWait': ({ videos }, options) =>
    videos.remixAndWait('task', order, untyped(options)),
  'videos.downloadContent': ({ videos }, options) => videos.downloadContent('task', options),
  'account.balance': ({ account }, options) => account.balance(untyped(options)),
  post: (client, options) => client.post('/v1/responses', { body: {}, ...options }),
};

test.each(Object.entries(calls))('%s rejects a misspelled option', async (_name, call) => {
  const { client, emulator } = emulated();
  const options = untyped<RequestOptions>({ abortSignal: AbortSignal.abort() });

  const error = await failureOf(Promise.resolve().then(async () => call(client, options)));

  expect(error).toMatchObject({
    name: 'InvalidInputError',
    field: 'abortSignal',
    message: 'abortSignal: is not an option of a call; use signal.',
    outcome: 'not_sent',
  });
  expect(emulator.requests).toEqual([]);
});

const refused: readonly { kind: 'call' | 'client'; name: string; advice: string }[] = [
  { kind: 'call', name: 'retries', advice: 'use maxRetries' },
  { kind: 'call', name: 'max_retries', advice: 'use maxRetries' },
  { kind: 'call', name: 'maxRetry', advice: 'use maxRetries' },
  { kind: 'call', name: 'timeOut', advice: 'use timeout' },
  { kind: 'call', name: 'singal', advice: 'use signal' },
  { kind: 'call', name: 'header', advice: 'use headers' },
  { kind: 'call', name: 'extra_body', advice: 'use extraBody' },
  { kind: 'call', name: 'extraHeaders', advice: 'use headers' },
  { kind: 'call', name: 'httpAgent', advice: 'use fetchOptions' },
  { kind: 'call', name: 'idempotency_key', advice: 'use idempotencyKey' },
  { kind: 'call', name: 'maxTokens', advice: 'put max_tokens into the parameters' },
  { kind: 'call', name: 'temperature', advice: 'put temperature into the parameters' },
  { kind: 'client', name: 'retries', advice: 'use maxRetries' },
  { kind: 'client', name: 'baseUrl', advice: 'use baseURL' },
  { kind: 'client', name: 'base_url', advice: 'use baseURL' },
  { kind: 'client', name: 'apikey', advice: 'use apiKey' },
  { kind: 'client', name: 'headers', advice: 'use defaultHeaders' },
  { kind: 'client', name: 'onDrif', advice: 'use onDrift' },
];

test.each(refused)('the option of a $kind $name: $advice', ({ kind, name, advice }) => {
  const method = kind === 'client' ? kind : 'images.generate';
  expect(() => checkOptions({ [name]: 1 }, method)).toThrow(advice);
});

test('a client rejects a misspelled option', () => {
  const options = untyped<GatewayOptions>({ apiKey: 'key', baseUrl: 'https://gateway.test' });

  expect(() => new Gateway(options)).toThrow('baseUrl: is not an option of a client; use baseURL.');
  expect(() => new Gateway().withOptions(untyped({ retries: 0 }))).toThrow('use maxRetries');
});

describe('an option with the name of a parameter', () => {
  const tools = [{ type: 'function' as const, function: { name: 'f', parameters: {} } }];
  // As LangChain passes its call options: some are in the parameters too.
  const shape = {
    signal: new AbortController().signal,
    tools: [{ name: 'f' }],
    tool_choice: 'any',
    response_format: { type: 'text' },
    stop: ['.'],
    stream: true,
    promptCacheKey: 'key',
    parallel_tool_calls: false,
  };
  const params = {
    ...ask,
    tools,
    tool_choice: 'auto' as const,
    response_format: { type: 'text' as const },
    stop: ['.'],
    prompt_cache_key: 'key',
    parallel_tool_calls: false,
  };

  test('is ignored if the parameters have it too', async () => {
    const { make, warnings } = listening();
    const { client, emulator } = make();
    const { completions } = client.chat;
    const options = untyped<RequestOptions>(shape);

    await completions.create(params, options);
    await completions.parse(params, options);
    await completions.stream(params, options).done();
    for await (const _ of await completions.create({ ...params, stream: true }, options));

    expect(emulator.requests).toHaveLength(4);
    for (const { body } of emulator.requests) {
      expect(body).toMatchObject({ value: { tools, tool_choice: 'auto', stop: ['.'] } });
    }
    expect(warnings().filter((text) => !text.includes('"stream"'))).toEqual([]);
  });

  test.each(['tools', 'tool_choice', 'response_format', 'stop'] as const)(
    '%s is rejected if only the options have it',
    async (name) => {
      const { client, emulator } = emulated();
      const options = untyped<RequestOptions>({ [name]: shape[name] });

      const error = await failureOf(
        client.chat.completions.create({ ...ask, [name]: undefined }, options),
      );

      expect(error).toMatchObject({ field: name, message: /put .* into the parameters/ });
      expect(emulator.requests).toEqual([]);
    },
  );

  test('is ignored if it is an empty list', async () => {
    const { client } = emulated();
    const options = untyped<RequestOptions>({ tools: [] });

    await expect(client.chat.completions.create(ask, options)).resolves.toHaveProperty('id');
  });

  test('is ignored for a gateway that renames the parameter', async () => {
    const { client } = emulated({ gateway: 'openrouter' }, { gateway: 'openrouter' });
    const limited = { ...ask, max_completion_tokens: 9, tools };
    const options = untyped<RequestOptions>({ max_completion_tokens: 9, tools });

    await expect(client.chat.completions.create(limited, options)).resolves.toHaveProperty('id');
  });

  test('does not hide an option that concerns money', async () => {
    const { client } = emulated();
    const extra = untyped<typeof ask>({ ...ask, ledger: {} });

    const error = await failureOf(
      client.chat.completions.create(extra, untyped<RequestOptions>({ ledger: {} })),
    );

    expect(error).toHaveProperty('field', 'ledger');
  });
});

/** Clients that share a logger, and its warnings. */
function listening() {
  const warn = vi.fn<(message: string, details: unknown) => void>();
  const logger = { error: vi.fn(), warn, info: vi.fn(), debug: vi.fn() };
  const make = (more: object = {}) => emulated(untyped({ logger, logLevel: 'warn', ...more }));
  return { make, warnings: () => warn.mock.calls.map(([message]) => message) };
}

describe('an unknown option', () => {
  test('logs one warning', async () => {
    const { make, warnings } = listening();
    const options = untyped<RequestOptions>({ cacheFor: 60, apiKey: 'sk-of-another-tenant' });
    const { client } = make();

    await client.chat.completions.create(ask, options);
    await client.chat.completions.create(ask, options);
    await client.withOptions({ maxRetries: 0 }).chat.completions.create(ask, options);
    await make().client.images.generate(order, options);

    expect(warnings()).toEqual([
      '[model-gateway] The option "cacheFor" of a call has no effect: it is unknown',
      '[model-gateway] The option "apiKey" of a call has no effect: it is an option of the client; use withOptions()',
    ]);
  });

  test('logs a warning for a client too', () => {
    const { make, warnings } = listening();

    make({ webhookSecret: 'x', onProgress: () => {} });
    make({ webhookSecret: 'x' });

    expect(warnings()).toEqual([
      '[model-gateway] The option "webhookSecret" of a client has no effect: it is unknown',
      '[model-gateway] The option "onProgress" of a client has no effect: it is an option of a call',
    ]);
  });

  test('logs no warning without a value, or for options of wrappers', async () => {
    const { make, warnings } = listening();
    const options = { cacheFor: undefined, abortSignal: undefined, __metadata: {} };

    await make().client.chat.completions.create(ask, untyped<RequestOptions>(options));

    expect(warnings()).toEqual([]);
  });

  test('does not fail the call if the logger throws', async () => {
    const logger = {
      ...console,
      warn: vi.fn(() => Promise.reject(new Error('full')).catch(() => {})),
    };
    const { client } = emulated({ logger, logLevel: 'warn' });

    const options = untyped<RequestOptions>({ cacheFor: 60 });
    const completion = await client.chat.completions.create(ask, options);

    expect(completion.choices).toHaveLength(1);
  });
});
