// A misspelt option would be dropped: a signal that ends nothing, retries that are paid for.
import { describe, expect, test, vi } from 'vitest';
import { Gateway, type GatewayOptions, type RequestOptions } from '../../src/index.ts';
import { checkOptions } from '../../src/options/resolve.ts';
import { emulated, failureOf } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';

const ask = { model: 'm-chat', messages: [{ role: 'user' as const, content: 'Hi' }] };
const refused: readonly { kind: 'call' | 'client'; name: string; advice: string }[] = [
  { kind: 'call', name: 'header', advice: 'use headers' },
  { kind: 'call', name: 'maxTokens', advice: 'put max_tokens into the parameters' },
  { kind: 'call', name: 'temperature', advice: 'put temperature into the parameters' },
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

  test('an option with the name of a parameter is ignored if the parameters have it too', async () => {
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

  test('an option with the name of a parameter is ignored if it is an empty list', async () => {
    const { client } = emulated();
    const options = untyped<RequestOptions>({ tools: [] });

    await expect(client.chat.completions.create(ask, options)).resolves.toHaveProperty('id');
  });

  test('an option with the name of a parameter is ignored for a gateway that renames the parameter', async () => {
    const { client } = emulated({ gateway: 'openrouter' }, { gateway: 'openrouter' });
    const limited = { ...ask, max_completion_tokens: 9, tools };
    const options = untyped<RequestOptions>({ max_completion_tokens: 9, tools });

    await expect(client.chat.completions.create(limited, options)).resolves.toHaveProperty('id');
  });

  test('an option with the name of a parameter does not hide an option that concerns money', async () => {
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
  test('an unknown option logs one warning', async () => {
    const { make, warnings } = listening();
    const options = untyped<RequestOptions>({ cacheFor: 60, apiKey: 'sk-of-another-tenant' });
    const { client } = make();

    await client.chat.completions.create(ask, options);
    await client.chat.completions.create(ask, options);
    await client.withOptions({ maxRetries: 0 }).chat.completions.create(ask, options);
    await make().client.images.generate({ model: 'm', prompt: 'A boat' }, options);

    expect(warnings()).toEqual([
      '[model-gateway] The option "cacheFor" of a call has no effect: it is unknown',
      '[model-gateway] The option "apiKey" of a call has no effect: it is an option of the client; use withOptions()',
    ]);
  });

  test('an unknown option logs a warning for a client too', () => {
    const { make, warnings } = listening();

    make({ webhookSecret: 'x', onProgress: () => {} });
    make({ webhookSecret: 'x' });

    expect(warnings()).toEqual([
      '[model-gateway] The option "webhookSecret" of a client has no effect: it is unknown',
      '[model-gateway] The option "onProgress" of a client has no effect: it is an option of a call',
    ]);
  });

  test('an unknown option logs no warning without a value, or for options of wrappers', async () => {
    const { make, warnings } = listening();
    const options = { cacheFor: undefined, abortSignal: undefined, __metadata: {} };

    await make().client.chat.completions.create(ask, untyped<RequestOptions>(options));

    expect(warnings()).toEqual([]);
  });

  test('an unknown option does not fail the call if the logger throws', async () => {
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
