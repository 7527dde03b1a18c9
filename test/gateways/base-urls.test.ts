// Base URLs as providers document them, and as people paste them: where calls go.
import { describe, expect, test } from 'vitest';
import type { GatewayOptions } from '../../src/index.ts';
import { failureOf, json, scripted } from '../helpers/clients.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const completion = {
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: '!' } }],
};

const generation = {
  candidates: [{ content: { role: 'model', parts: [{ text: '!' }] }, finishReason: 'STOP' }],
};

const vertex = 'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1';
const cloudflare = 'https://gateway.ai.cloudflare.com/v1/account/gateway';
const azure = 'https://name.openai.azure.com/openai';

/** The URL that a chat call requested. */
async function chatURL(baseURL: string, options: GatewayOptions = {}): Promise<string | undefined> {
  const { client, requests } = scripted([json(completion)], { baseURL, ...options });
  await client.chat.completions.create({ model: 'm', messages });
  return requests[0]?.url;
}

describe('base URLs that providers document', () => {
  test.each([
    // Bare hosts, and paths without a version, get /v1.
    ['https://gateway.example.com', 'https://gateway.example.com/v1'],
    ['https://gateway.example.com/team', 'https://gateway.example.com/team/v1'],
    ['http://localhost:3000', 'http://localhost:3000/v1'],
    ['https://api.deepseek.com', 'https://api.deepseek.com/v1'],
    ['https://openrouter.ai', 'https://openrouter.ai/api/v1'],
    ['https://openrouter.ai/api', 'https://openrouter.ai/api/v1'],
    // Paths that end in a version are used as they stand.
    ['https://api.openai.com/v1', 'https://api.openai.com/v1'],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1'],
    ['http://localhost:11434/v1/', 'http://localhost:11434/v1'],
    ['http://localhost:1234/v1', 'http://localhost:1234/v1'],
    ['https://ai-gateway.vercel.sh/v1', 'https://ai-gateway.vercel.sh/v1'],
    ['https://api.groq.com/openai/v1', 'https://api.groq.com/openai/v1'],
    ['https://api.fireworks.ai/inference/v1', 'https://api.fireworks.ai/inference/v1'],
    ['https://api.cohere.ai/compatibility/v1', 'https://api.cohere.ai/compatibility/v1'],
    [
      'https://dashscope.aliyuncs.com/compatible-mode/v1',
      'https://dashscope.aliyuncs.com/compatible-mode/v1',
    ],
    [
      'https://account.snowflakecomputing.com/api/v2/cortex/v1',
      'https://account.snowflakecomputing.com/api/v2/cortex/v1',
    ],
    [
      'https://api.cloudflare.com/client/v4/accounts/account/ai/v1',
      'https://api.cloudflare.com/client/v4/accounts/account/ai/v1',
    ],
    [`${azure}/v1/`, `${azure}/v1`],
    ['https://api.z.ai/api/paas/v4/', 'https://api.z.ai/api/paas/v4'],
    ['https://api.z.ai/api/coding/paas/v4', 'https://api.z.ai/api/coding/paas/v4'],
    ['https://open.bigmodel.cn/api/paas/v4', 'https://open.bigmodel.cn/api/paas/v4'],
    ['https://ark.cn-beijing.volces.com/api/v3', 'https://ark.cn-beijing.volces.com/api/v3'],
    ['https://qianfan.baidubce.com/v2', 'https://qianfan.baidubce.com/v2'],
    // So are folders of providers that contain OpenAI's routes.
    [
      'https://generativelanguage.googleapis.com/v1beta/openai/',
      'https://generativelanguage.googleapis.com/v1beta/openai',
    ],
    ['https://api.deepinfra.com/v1/openai', 'https://api.deepinfra.com/v1/openai'],
    ['https://api.novita.ai/v3/openai', 'https://api.novita.ai/v3/openai'],
    [`${cloudflare}/compat`, `${cloudflare}/compat`],
    [`${cloudflare}/openai`, `${cloudflare}/openai`],
    [`${cloudflare}/workers-ai/v1`, `${cloudflare}/workers-ai/v1`],
    [`${vertex}/endpoints/openapi`, `${vertex}/endpoints/openapi`],
    [
      'https://adb-1.2.azuredatabricks.net/serving-endpoints',
      'https://adb-1.2.azuredatabricks.net/serving-endpoints',
    ],
    ['https://models.github.ai/inference', 'https://models.github.ai/inference'],
    ['https://models.github.ai/orgs/org/inference/', 'https://models.github.ai/orgs/org/inference'],
    ['https://api.perplexity.ai', 'https://api.perplexity.ai'],
  ])('%s', async (baseURL, base) => {
    expect(await chatURL(baseURL)).toBe(`${base}/chat/completions`);
  });

  test.each([
    {
      baseURL: `${azure}/deployments/gpt?api-version=2024-10-21`,
      base: `${azure}/deployments/gpt`,
      version: '2024-10-21',
    },
    {
      baseURL: 'https://name.services.ai.azure.com/models?api-version=2024-05-01-preview',
      base: 'https://name.services.ai.azure.com/models',
      version: '2024-05-01-preview',
    },
  ])('$baseURL', async ({ baseURL, base, version }) => {
    const expected = `${base}/chat/completions?api-version=${version}`;

    expect(await chatURL(baseURL)).toBe(expected);
  });

  test.each([
    ['https://api.z.ai/api/paas/v4/chat/completions', 'https://api.z.ai/api/paas/v4'],
    ['https://api.perplexity.ai/chat/completions', 'https://api.perplexity.ai'],
    ['https://gw.example/llm/chat/completions', 'https://gw.example/llm'],
    ['https://gw.example/v1beta/chat/completions', 'https://gw.example/v1beta'],
    ['https://gw.example/v1/chat/completions', 'https://gw.example/v1'],
    ['https://gw.example/v1/models', 'https://gw.example/v1'],
    ['https://gw.example/openai/images/generations', 'https://gw.example/openai'],
  ])('the pasted route %s means its base', async (baseURL, base) => {
    expect(await chatURL(baseURL)).toBe(`${base}/chat/completions`);
  });
});

describe('a query of the base URL', () => {
  test('is sent with every request, and is overridden by other levels', async () => {
    const baseURL = `${azure}/deployments/gpt?api-version=1&tenant=a`;
    const { client, requests } = scripted([json({ data: [] })], {
      baseURL,
      defaultQuery: { tenant: 'b' },
    });

    await client.models.list();
    await client.get('/files', { query: { 'api-version': '2' } });
    await client.withOptions({ maxRetries: 0 }).models.list();

    expect(requests.map(({ url }) => url)).toEqual([
      `${azure}/deployments/gpt/models?api-version=1&tenant=b`,
      `${azure}/deployments/gpt/files?api-version=2&tenant=b`,
      `${azure}/deployments/gpt/models?api-version=1&tenant=b`,
    ]);
    expect(client.toJSON()).toEqual({ baseURL: `${azure}/deployments/gpt` });
  });

  test('works with a key in another header', async () => {
    const { client, requests } = scripted([json(completion)], {
      baseURL: `${azure}/deployments/gpt?api-version=1`,
      apiKey: null,
      defaultHeaders: { 'api-key': 'azure-key' },
    });

    await client.chat.completions.create({ model: 'gpt', messages });

    expect(requests[0]?.headers.get('api-key')).toBe('azure-key');
    expect(requests[0]?.headers.has('authorization')).toBe(false);
  });
});

describe("Gemini's own routes", () => {
  test.each([
    ['https://generativelanguage.googleapis.com', 'https://generativelanguage.googleapis.com'],
    [
      'https://generativelanguage.googleapis.com/v1beta',
      'https://generativelanguage.googleapis.com',
    ],
    [
      'https://generativelanguage.googleapis.com/v1beta/openai',
      'https://generativelanguage.googleapis.com',
    ],
    ['https://gw.example/v1', 'https://gw.example'],
    ['https://gw.example/gemini/openai', 'https://gw.example/gemini'],
  ])("of %s are next to OpenAI's", async (baseURL, root) => {
    const { client, requests } = scripted([json(generation)], { baseURL });

    await client.generate.content({ model: 'gemini', contents: 'Hi' });

    expect(requests[0]?.url).toBe(`${root}/v1beta/models/gemini:generateContent`);
  });
});

describe('paths of undocumented routes', () => {
  const baseURL = 'https://api.z.ai/api/paas/v4';

  test.each([
    { base: 'https://api.z.ai/api/paas/v4', path: 'files', expected: `${baseURL}/files` },
    { base: 'https://api.z.ai/api/paas/v4', path: '/v1/files', expected: `${baseURL}/files` },
    { base: 'https://api.z.ai/api/paas/v4', path: '/v1', expected: baseURL },
    { base: 'https://gw.example/v1', path: 'files', expected: 'https://gw.example/v1/files' },
    { base: 'https://gw.example', path: '/api/status', expected: 'https://gw.example/api/status' },
    {
      base: 'https://gw.example/v1beta',
      path: 'files',
      expected: 'https://gw.example/v1beta/files',
    },
  ])('below $base, $path', async ({ base, path, expected }) => {
    const { client, requests } = scripted([json({})], { baseURL: base });

    await client.get(path);

    expect(requests[0]?.url).toBe(expected);
  });

  test('are charged as their operation', async () => {
    const { client, requests } = scripted([json({}, 502)], { baseURL, maxRetries: 1 });

    await failureOf(client.post('images/generations', { body: { prompt: 'A fox' } }));
    expect(requests).toHaveLength(1);

    await failureOf(client.post('/chat/completions', { body: { model: 'm', messages } }));
    expect(requests).toHaveLength(3);
  });
});

describe('a 404', () => {
  const image = { model: 'm', prompt: 'A fox' };
  const missing = json({ error: { message: 'Not here' } }, 404);

  test.each([
    {
      baseURL: 'https://gw.example',
      url: 'https://gw.example/v1/images/generations',
      mend: 'below https://gw.example/api/v1,',
    },
    {
      baseURL: 'https://gw.example/v4',
      url: 'https://gw.example/v4/images/generations',
      mend: 'below https://gw.example/v4/v1,',
    },
  ])(
    'below $baseURL names the URL and two fixes, and is not retried',
    async ({ baseURL, url, mend }) => {
      const { client, requests } = scripted([missing], { baseURL });

      const error = await failureOf(client.images.generate(image));

      expect(error).toMatchObject({ status: 404, outcome: 'rejected' });
      expect(String(error)).toContain(`POST ${url}`);
      expect(String(error)).toContain(mend);
      expect(String(error)).toContain('set the option gateway (now "new-api").');
      expect(requests).toHaveLength(1);
    },
  );
});
