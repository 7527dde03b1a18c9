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

const setup = ({ body, headers = {}, options }: Row, status = 401) =>
  scripted([() => Response.json(body, { status, headers }), completion], {
    maxRetries: 0,
    ...options,
  });

interface Refusal {
  readonly baseURL: string;
  readonly body: unknown;
  /** @defaultValue 401 */
  readonly status?: number;
}

const openAI = (message: string, details: object) => ({
  error: { message, param: null, ...details },
});
const invalid = { type: 'invalid_request_error', code: 'invalid_api_key' };

/** What servers without providers behind them answer to a wrong key, by their documentation. */
const refusals: readonly Refusal[] = [
  {
    baseURL: 'https://api.openai.com/v1',
    body: openAI(
      'Incorrect API key provided: sk-x. You can find your API key at https://a.test.',
      invalid,
    ),
  },
  { baseURL: 'https://api.groq.com/openai/v1', body: openAI('Invalid API Key', invalid) },
  {
    baseURL: 'https://api.deepseek.com/v1',
    body: openAI('Authentication Fails, Your api key: ****0000 is invalid', {
      type: 'authentication_error',
      code: 'invalid_request_error',
    }),
  },
  {
    baseURL: 'https://ai-gateway.vercel.sh/v1',
    body: openAI('Authentication failed. Create an API key.', { type: 'authentication_error' }),
  },
  {
    baseURL: 'https://gomodel.test/v1',
    body: openAI('missing or invalid key', { type: 'authentication_error', code: 'unauthorized' }),
  },
  { baseURL: 'http://vllm.test:8000/v1', body: { error: 'Unauthorized' } },
  {
    baseURL: 'http://vllm.test:8001/v1',
    body: openAI('Invalid key', { type: 'BadRequestError', code: 401 }),
  },
  {
    baseURL: 'http://lm-studio.test:1234/v1',
    body: openAI('Malformed LM Studio API token provided', invalid),
  },
  {
    baseURL: 'http://ollama.test:11434/v1',
    body: openAI('unauthorized', { type: 'api_error', code: null }),
  },
  { baseURL: 'http://ollama.test:11435/v1', body: { error: 'unauthorized' } },
  {
    baseURL: 'https://api.together.xyz/v1',
    body: { id: 'o-1', ...openAI('Invalid API key provided.', invalid) },
  },
  { baseURL: 'https://api.mistral.ai/v1', body: { message: 'Unauthorized', request_id: 'a' } },
  { baseURL: 'https://api.mistral.test/v1', body: { detail: 'Unauthorized' } },
  {
    baseURL: 'https://api.x.ai/v1',
    status: 400,
    body: {
      code: 'Client specified an invalid argument',
      error: 'Incorrect API key provided: xa***12. You can obtain an API key from https://a.test.',
    },
  },
  {
    baseURL: 'https://api.fireworks.ai/inference/v1',
    body: openAI('The API key you provided is invalid.', {
      type: 'UNAUTHORIZED',
      code: 'UNAUTHORIZED',
    }),
  },
  {
    baseURL: 'https://api.cerebras.ai/v1',
    body: { message: 'Wrong API Key', ...invalid, param: 'api_key', code: 'wrong_api_key' },
  },
  {
    baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai',
    status: 400,
    body: [
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
  },
  {
    baseURL: 'https://api.novita.ai/v3/openai',
    status: 403,
    body: { code: 403, reason: 'FAILED_TO_AUTH', message: 'failed to authenticate', metadata: {} },
  },
];

describe('a refused key', () => {
  test.for(refusals)(
    'the error of a key that $baseURL refuses says to check apiKey',
    async ({ baseURL, body, status }) => {
      for (const headers of [{}, { 'x-request-id': 'req-1' }]) {
        for (const gateway of ['auto', 'openai', 'new-api'] as const) {
          const row = { name: '', body, headers, options: { baseURL, gateway } };
          const image = { model: 'model-a', prompt: 'A boat' };

          const failures = [
            await failureOf(setup(row, status).client.chat.completions.create(params)),
            await failureOf(setup(row, status).client.images.generate(image)),
          ];

          for (const failed of failures) {
            const advice = 'Check apiKey: the gateway did not accept it.';
            expect(failed).toMatchObject({ advice, outcome: 'rejected' });
          }
        }
      }
    },
  );

  test("a relayed 400 for an invalid key is the provider's refusal", async () => {
    const body = openAI('API key not valid. Please pass a valid API key.', {
      type: 'upstream_error',
      code: 400,
    });

    const failed = await failureOf(
      setup({ name: '', body, headers: newApi }, 400).client.chat.completions.create(params),
    );

    expect(failed).toHaveProperty('advice', expect.stringContaining('tell its operator'));
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
    'a wrong key ends the call at the emulator of %s',
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
