import { describe, expect, test } from 'vitest';
import type { GatewayOptions } from '../../../src/index.ts';
import { emulated, failureOf, json, scripted } from '../../helpers/clients.ts';
import { requestedModels } from '../../helpers/requested-models.ts';

const params = { model: 'model-a', messages: [{ role: 'user' as const, content: 'hi' }] };
const completion = json({
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
});

/** The standard response of OpenAI and servers like it to a wrong key. */
const invalidKey = {
  error: {
    message: 'Incorrect API key provided: sk-…',
    type: 'invalid_request_error',
    param: null,
    code: 'invalid_api_key',
  },
};

interface Row {
  readonly name: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  readonly options?: GatewayOptions;
}

const newApi = { 'x-oneapi-request-id': '20261122', 'x-new-api-version': 'v1' };
const liteLLM = { 'x-litellm-call-id': 'call-1', 'x-litellm-version': '1.80.0' };
const liteLLMError = (type: string | null, message: string) => ({
  error: { message, type, param: null, code: '401' },
});
const quoted =
  'litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided: sk-…';

const ofTheProvider: readonly Row[] = [
  { name: 'that new-api relays', body: invalidKey, headers: newApi },
  { name: 'that LiteLLM relays', body: liteLLMError('authentication_error', quoted) },
  { name: 'that LiteLLM relays without a type', body: liteLLMError(null, quoted) },
  { name: 'that LiteLLM relays as it came', body: invalidKey, headers: liteLLM },
  {
    // https://github.com/OpenRouterTeam/ai-sdk-provider/issues/24
    name: 'that OpenRouter relays',
    body: {
      error: {
        message: 'Provider returned error',
        code: 401,
        metadata: { raw: '{"type":"error"}', provider_name: 'Anthropic' },
      },
    },
    options: { gateway: 'openrouter' },
  },
  {
    name: 'that LiteLLM sends for a model',
    body: liteLLMError(
      'key_model_access_denied',
      "key not allowed to access model. This key can only access models=['x']",
    ),
  },
  {
    name: 'to a submission',
    body: { code: 'fail_to_fetch_task', message: JSON.stringify(invalidKey), data: null },
  },
];

const ofTheCaller: readonly Row[] = [
  { name: 'of a host of unknown kind', body: invalidKey },
  {
    name: 'of a host of unknown kind with a request id',
    body: invalidKey,
    headers: { 'x-request-id': 'req-1' },
  },
  { name: 'of OpenAI', body: invalidKey, options: { baseURL: 'https://api.openai.com/v1' } },
  { name: 'of a provider', body: invalidKey, options: { baseURL: 'https://api.groq.com/openai' } },
  {
    name: 'of Claude',
    body: {
      type: 'error',
      error: { type: 'authentication_error', message: 'invalid x-api-key' },
    },
  },
  {
    name: 'of new-api',
    body: {
      error: { code: '', message: 'Invalid token (request id: 1)', type: 'new_api_error' },
    },
    headers: newApi,
  },
  {
    name: 'of LiteLLM',
    body: liteLLMError(
      'token_not_found_in_db',
      'Authentication Error, Invalid proxy server token passed.',
    ),
    headers: liteLLM,
  },
  {
    name: 'of OpenRouter',
    body: { error: { message: 'No auth credentials found', code: 401 } },
    options: { gateway: 'openrouter' },
  },
  { name: 'of a proxy', body: 'Unauthorized', headers: newApi },
];

const setup = ({ body, headers = {}, options }: Row) =>
  scripted([() => Response.json(body, { status: 401, headers }), completion], {
    maxRetries: 0,
    ...options,
  });

/** What servers without providers behind them answer to a wrong key. */
const refusals: readonly [baseURL: string, error: object][] = [
  [
    'https://api.openai.com/v1',
    {
      message: 'Incorrect API key provided: sk-x.',
      type: 'invalid_request_error',
      code: 'invalid_api_key',
    },
  ],
  [
    'https://api.groq.com/openai/v1',
    { message: 'Invalid API Key', type: 'invalid_request_error', code: 'invalid_api_key' },
  ],
  [
    'https://api.deepseek.com/v1',
    {
      message: 'Authentication Fails',
      type: 'authentication_error',
      code: 'invalid_request_error',
    },
  ],
  ['https://ai-gateway.vercel.sh/v1', { message: 'Invalid API key', type: 'authentication_error' }],
  [
    'https://gomodel.test/v1',
    { message: 'missing or invalid key', type: 'authentication_error', code: 'unauthorized' },
  ],
  ['https://api.mistral.ai/v1', { message: 'Unauthorized', type: 'unauthorized' }],
  ['http://localhost:8000/v1', { message: 'Invalid key', type: 'BadRequestError', code: 401 }],
];

describe('a 401', () => {
  test.for(refusals)('of %s: check apiKey', async ([baseURL, error]) => {
    for (const headers of [{}, { 'x-request-id': 'req-1' }]) {
      for (const gateway of ['auto', 'openai', 'new-api'] as const) {
        const row = { name: '', body: { error }, headers, options: { baseURL, gateway } };

        const failed = await failureOf(setup(row).client.chat.completions.create(params));

        expect(failed).toHaveProperty('advice', 'Check apiKey: the gateway did not accept it.');
      }
    }
  });

  test.for(ofTheProvider)('$name: the next model is requested', async (row) => {
    const { client, requests } = setup(row);

    const { choices } = await client.chat.completions.create(params, { fallback: ['model-b'] });

    expect(choices[0]?.message.content).toBe('hi');
    expect(requests).toHaveLength(2);
  });

  test.for(ofTheProvider.slice(0, -2))("$name: the gateway's own key was rejected", async (row) => {
    const failed = await failureOf(setup(row).client.chat.completions.create(params));

    expect(failed).toHaveProperty('advice', expect.stringContaining('tell its operator'));
  });

  test.for(ofTheCaller)('$name: the call ends', async (row) => {
    const { client, requests } = setup(row);

    const failed = await failureOf(
      client.chat.completions.create(params, { fallback: ['model-b'] }),
    );

    expect(failed).toMatchObject({ name: 'AuthenticationError', outcome: 'rejected' });
    expect(failed).toHaveProperty('advice', expect.stringContaining('heck apiKey'));
    expect(requests).toHaveLength(1);
  });

  test.for([undefined, 'openrouter', 'litellm', 'openai'] as const)(
    'of the emulator of %s ends the call if the key is wrong',
    async (gateway) => {
      const options = gateway === undefined ? {} : { gateway };
      const { client, emulator } = emulated(
        { apiKey: 'sk-wrong', maxRetries: 0, ...options },
        options,
      );
      const failed = await failureOf(
        client.chat.completions.create(params, { fallback: ['model-b'] }),
      );

      expect(failed).toHaveProperty('name', 'AuthenticationError');
      expect(requestedModels(emulator)).toEqual({ requests: ['model-a'], charges: [] });
    },
  );
});
