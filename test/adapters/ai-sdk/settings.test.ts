// Settings and provider options of `createOpenAICompatible()`.
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embed, generateImage, generateText, streamText, transcribe } from 'ai';
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import { InvalidInputError } from '../../../src/index.ts';
import { createEmulator } from '../../../src/testing/index.ts';
import { bodyOf, collect, failureOf, json } from '../../helpers/clients.ts';
import { completion } from '../../helpers/transport.ts';
import { untyped } from '../../helpers/untyped.ts';
import { emulatedProvider, oneImage, scriptedProvider } from './support.ts';

type Settings = Parameters<typeof createOpenAICompatible>[0];

const prompt: LanguageModelV4CallOptions['prompt'] = [
  { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
];
const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

/** Sends the same call with both providers. Returns the requests of each. */
async function sendWithBoth(
  options: Partial<LanguageModelV4CallOptions>,
  settings: Partial<Omit<Settings, 'name' | 'includeUsage'>> = {},
) {
  const requests: { readonly url: string; readonly headers: Headers; readonly body: unknown }[] =
    [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { url, headers } = request;
    requests.push({ url, headers, body: await request.json() });
    return Response.json({ ...completion, usage });
  };
  const common = { apiKey: 'sk-1', baseURL: 'https://gateway.test/v1', fetch, ...settings };
  const theirs = createOpenAICompatible({
    ...common,
    name: 'modelGateway',
    supportsStructuredOutputs: settings.supportsStructuredOutputs ?? true,
  });
  const ours = createModelGateway(untyped<Parameters<typeof createModelGateway>[0]>(common));
  const call = { prompt, ...options };
  const results = [await theirs('m').doGenerate(call), await ours('m').doGenerate(call)] as const;
  const [expected, sent] = requests;
  if (expected === undefined || sent === undefined) throw new Error('A request is missing.');
  return { expected, sent, results };
}

describe('provider options', () => {
  const schema = { type: 'object', properties: {} } as const;

  test.each<[string, Partial<LanguageModelV4CallOptions>]>([
    ['reasoningEffort', { providerOptions: { modelGateway: { reasoningEffort: 'high' } } }],
    ['reasoningEffort: null', { providerOptions: { modelGateway: { reasoningEffort: null } } }],
    [
      'reasoningEffort beside reasoning',
      { reasoning: 'low', providerOptions: { modelGateway: { reasoningEffort: 'high' } } },
    ],
    ['textVerbosity', { providerOptions: { modelGateway: { textVerbosity: 'low' } } }],
    ['user', { providerOptions: { modelGateway: { user: 'u-1' } } }],
    [
      'strictJsonSchema',
      {
        responseFormat: { type: 'json', schema },
        providerOptions: { modelGateway: { strictJsonSchema: false } },
      },
    ],
    ['snake_case', { providerOptions: { modelGateway: { reasoning_effort: 'high' } } }],
    ['other fields', { providerOptions: { modelGateway: { fooBar: 1, foo_baz: [2] } } }],
    [
      'the shared key',
      {
        providerOptions: {
          openaiCompatible: { reasoningEffort: 'high', user: 'u-1' },
          modelGateway: { user: 'u-2' },
        },
      },
    ],
  ])('%s: the same body as by @ai-sdk/openai-compatible', async (_, options) => {
    const { expected, sent } = await sendWithBoth(options);

    expect(sent.body).toEqual(expected.body);
  });

  test('parameters in camelCase are sent in snake_case, which takes precedence', async () => {
    const modelGateway = {
      parallelToolCalls: false,
      serviceTier: 'flex',
      maxCompletionTokens: 9,
      topLogprobs: 2,
      top_logprobs: 3,
      cacheControl: { type: 'ephemeral' },
    };

    const { sent } = await sendWithBoth({ providerOptions: { modelGateway } });

    expect(sent.body).toMatchObject({
      parallel_tool_calls: false,
      service_tier: 'flex',
      max_completion_tokens: 9,
      top_logprobs: 3,
      cache_control: { type: 'ephemeral' },
    });
    expect(JSON.stringify(sent.body)).not.toMatch(/parallelToolCalls|serviceTier|topLogprobs/);
  });

  test('options of a call are not sent', async () => {
    const modelGateway = {
      maxRetries: 0,
      timeout: 9_000,
      firstByteTimeout: null,
      idleTimeout: 9_000,
      chunkTimeout: null,
      totalTimeout: 9_000,
      retryUnknownOutcome: false,
      idempotency: { header: 'Idempotency-Key' },
      idempotencyKey: 'key-1',
      callId: 'call-1',
      fallbackOn: ['limits'],
      structuredOutput: 'auto',
      onTruncated: 'throw',
      maxEventBytes: 9_000,
      maxResponseBytes: 9_000,
      partial: true,
      validation: 'tolerant',
    };
    const fields = { user: 'u', seed: 1 };
    const openaiCompatible = { ...fields, maxRetries: 9, seed: 2 };

    const { sent } = await sendWithBoth({
      providerOptions: { openaiCompatible, modelGateway: { ...modelGateway, seed: 1 } },
    });

    expect(sent.body).toEqual({ model: 'm', messages: expect.anything(), ...fields });
  });

  test('fallback requests the next model', async () => {
    const { provider, emulator } = emulatedProvider();
    emulator.fail({ fault: { type: 'error', status: 429 }, times: 1 });
    const modelGateway = { fallback: ['m-small'], maxRetries: 0 };

    await generateText({
      model: provider('m-large'),
      prompt: 'Hi',
      providerOptions: { modelGateway },
    });

    const bodies = emulator.requests.map(({ body }) => Object(body).value);
    expect(bodies).toMatchObject([{ model: 'm-large' }, { model: 'm-small' }]);
    expect(JSON.stringify(bodies)).not.toContain('fallback');
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([
    ['reasoningEffort', 5],
    ['strictJsonSchema', 'yes'],
  ])('an invalid %s throws before anything is sent', async (name, value) => {
    const { provider, emulator } = emulatedProvider();
    const providerOptions = { modelGateway: { [name]: value } };

    const failure = await failureOf(
      generateText({ model: provider('m-large'), prompt: 'Hi', providerOptions }),
    );

    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toMatchObject({ field: `providerOptions.modelGateway.${name}` });
    expect(emulator.requests).toEqual([]);
  });

  test('cacheControl of messages and parts is sent as cache_control', async () => {
    const cacheControl = { type: 'ephemeral' };
    const modelGateway = { cacheControl };
    const openaiCompatible = { cacheControl };
    const text = { type: 'text', text: 'Long', providerOptions: { modelGateway } } as const;
    const other = { type: 'text', text: 'Longer', providerOptions: { openaiCompatible } } as const;
    const { sent } = await sendWithBoth({
      prompt: [
        { role: 'system', content: 'Be brief.', providerOptions: { modelGateway } },
        { role: 'user', content: [text, other] },
      ],
    });

    const cache_control = cacheControl;
    expect(sent.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.', cache_control },
        {
          content: [
            { text: 'Long', cache_control },
            { text: 'Longer', cache_control },
          ],
        },
      ],
    });
    expect(JSON.stringify(sent.body)).not.toContain('cacheControl');
  });

  test('parameters of images and embeddings, too', async () => {
    const { provider, emulator } = emulatedProvider();
    await generateImage({
      model: provider.imageModel('m-image'),
      prompt: 'A cat',
      providerOptions: { modelGateway: { outputFormat: 'webp', quality: 'low' } },
    });
    await embed({
      model: provider.textEmbeddingModel('m-embedding'),
      value: 'Hi',
      providerOptions: { modelGateway: { user: 'u-1', dimensions: 8 } },
    });

    const bodies = emulator.requests.map(({ body }) => Object(body).value);
    const [image, embedding] = [bodies[0], bodies.at(-1)];
    expect(image).toMatchObject({ output_format: 'webp', quality: 'low' });
    expect(embedding).toMatchObject({ user: 'u-1', dimensions: 8 });
  });
});

describe('settings', () => {
  test.each<[string, Partial<Settings>, Partial<LanguageModelV4CallOptions>]>([
    ['queryParams', { queryParams: { 'api-version': '1', b: 'c d' } }, {}],
    [
      'supportsStructuredOutputs: false',
      { supportsStructuredOutputs: false },
      { responseFormat: { type: 'json', schema: { type: 'object', properties: {} } } },
    ],
    [
      'transformRequestBody',
      {
        transformRequestBody: ({ max_tokens, user, ...body }) => ({
          ...body,
          max_completion_tokens: max_tokens,
          safety_identifier: user,
        }),
      },
      { maxOutputTokens: 5, providerOptions: { modelGateway: { user: 'u' } } },
    ],
  ])('%s: the same request as by createOpenAICompatible()', async (_, settings, options) => {
    const { expected, sent, results } = await sendWithBoth(options, settings);

    expect(sent.url).toBe(expected.url);
    expect(sent.body).toEqual(expected.body);
    expect(results[1].warnings.map(({ type }) => type)).toEqual(
      results[0].warnings.map(({ type }) => type),
    );
  });

  test('headers', async () => {
    const { expected, sent } = await sendWithBoth({}, { headers: { 'x-tenant': 'a' } });

    expect(sent.headers.get('x-tenant')).toBe('a');
    expect(expected.headers.get('x-tenant')).toBe('a');
  });

  test('transformRequestBody changes streams, and can add warnings', async () => {
    const emulator = createEmulator();
    const { apiKey, baseURL, fetch } = emulator;
    const provider = createModelGateway({
      apiKey,
      baseURL,
      fetch,
      transformRequestBody({ temperature, ...body }, warnings) {
        warnings?.push({ type: 'other', message: `Removed temperature ${String(temperature)}.` });
        return { ...body, seed: 7 };
      },
    });

    const result = streamText({ model: provider('m-large'), prompt: 'Hi', temperature: 1 });
    await collect(result.fullStream);

    expect(await result.text).not.toBe('');
    expect(await result.warnings).toMatchObject([{ message: 'Removed temperature 1.' }]);
    const { value } = Object(emulator.requests[0]?.body);
    expect(value).toMatchObject({ seed: 7, stream: true });
    expect(value).not.toHaveProperty('temperature');
  });

  test('metadataExtractor adds metadata of responses and streams', async () => {
    const emulator = createEmulator();
    const { apiKey, baseURL, fetch } = emulator;
    const chunks: unknown[] = [];
    const provider = createModelGateway({
      apiKey,
      baseURL,
      fetch,
      metadataExtractor: {
        extractMetadata: async ({ parsedBody }) => ({ vendor: { id: Object(parsedBody).id } }),
        createStreamExtractor: () => ({
          processChunk: (chunk) => void chunks.push(chunk),
          buildMetadata: () => ({ vendor: { chunks: chunks.length } }),
        }),
      },
    });

    const whole = await generateText({ model: provider('m-large'), prompt: 'Hi' });
    const stream = streamText({ model: provider('m-large'), prompt: 'Hi' });
    await collect(stream.fullStream);

    expect(whole.providerMetadata).toMatchObject({ vendor: { id: whole.response.id } });
    expect(chunks.length).toBeGreaterThan(1);
    expect(await stream.providerMetadata).toMatchObject({ vendor: { chunks: chunks.length } });
  });

  test('convertUsage converts the usage of responses and streams', async () => {
    const emulator = createEmulator();
    const { apiKey, baseURL, fetch } = emulator;
    const provider = createModelGateway({
      apiKey,
      baseURL,
      fetch,
      convertUsage: (raw) => ({
        inputTokens: {
          total: (raw?.prompt_tokens ?? 0) + 1_000,
          noCache: undefined,
          cacheRead: undefined,
          cacheWrite: undefined,
        },
        outputTokens: { total: 1, text: undefined, reasoning: undefined },
      }),
    });

    const whole = await generateText({ model: provider('m-large'), prompt: 'Hi' });
    const stream = streamText({ model: provider('m-large'), prompt: 'Hi' });
    await collect(stream.fullStream);

    expect(whole.usage.inputTokens).toBeGreaterThan(1_000);
    expect((await stream.usage).inputTokens).toBe(whole.usage.inputTokens);
  });

  test('supportedUrls, also of a single model', () => {
    const provider = createModelGateway({
      baseURL: 'https://gateway.test',
      apiKey: 'sk-1',
      supportedUrls: () => ({ 'application/pdf': [/^https:/] }),
    });
    const other = provider('m', { supportedUrls: () => ({}) });

    expect(provider('m').supportedUrls).toEqual({ 'application/pdf': [/^https:/] });
    expect(provider.languageModel('m').supportedUrls).toEqual(provider('m').supportedUrls);
    expect(other.supportedUrls).toEqual({});
  });

  const client = emulatedProvider().client;

  test.each<[string, object]>([
    ['name', { name: 'my-gateway' }],
    ['includeUsage', { includeUsage: 'no' }],
    ['transformRequestBody', { transformRequestBody: {} }],
    ['supportedUrls', { supportedUrls: {} }],
    ['convertUsage', { convertUsage: 'yes' }],
    ['supportsStructuredOutputs', { supportsStructuredOutputs: 'yes' }],
    ['supportsMultiPartToolContent', { supportsMultiPartToolContent: 1 }],
    ['metadataExtractor', { metadataExtractor: {} }],
    ['headers', { headers: { a: 'b' }, defaultHeaders: { a: 'c' } }],
    ['queryParams', { queryParams: { a: 'b' }, defaultQuery: { a: 'c' } }],
    ['headers', { client, headers: { a: 'b' } }],
    ['queryParams', { client, queryParams: { a: 'b' } }],
    ['baseURL', { client, baseURL: 'https://other.test' }],
    ['name', { client, name: 'other' }],
  ])('%s: %j throws', (field, settings) => {
    const create = () =>
      createModelGateway(untyped({ baseURL: undefined, apiKey: undefined, ...settings }));

    expect(create).toThrow(InvalidInputError);
    expect(create).toThrow(expect.objectContaining({ field }));
  });

  test('name: "modelGateway" and includeUsage: true are accepted', () => {
    const settings = { name: 'modelGateway', includeUsage: true, baseURL: 'https://gateway.test' };

    expect(createModelGateway(untyped(settings))('m').provider).toBe('modelGateway.chat');
  });
});

describe('files in tool results', () => {
  const data =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const result = {
    type: 'content',
    value: [
      { type: 'text', text: 'A map' },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data } },
      {
        type: 'file',
        mediaType: 'image',
        data: { type: 'url', url: new URL('https://a.test/b.png') },
      },
    ],
  } as const;
  const withResult: LanguageModelV4CallOptions['prompt'] = [
    ...prompt,
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'map', input: {} }],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId: '1',
          toolName: 'map',
          output: { ...result, value: [...result.value] },
        },
      ],
    },
  ];

  test('files in tool results are parts with supportsMultiPartToolContent: true', async () => {
    const { expected, sent, results } = await sendWithBoth(
      { prompt: withResult },
      { supportsMultiPartToolContent: true },
    );

    expect(sent.body).toEqual(expected.body);
    expect(JSON.stringify(sent.body)).toContain(`data:image/png;base64,${data}`);
    expect(results[1].warnings).toEqual([]);
  });

  test.each([
    ['media', { type: 'media', data, mediaType: 'image/png' }],
    ['image-data', { type: 'image-data', data, mediaType: 'image/png' }],
    ['file-data', { type: 'file-data', data, mediaType: 'image/png', filename: 'a.png' }],
  ])('files in tool results of older packages are sent with their data: %s', async (_, part) => {
    const { provider, requests } = scriptedProvider([json(completion)]);
    const value = untyped<typeof result.value>([part]);
    const older = untyped<typeof withResult>([
      ...withResult.slice(0, -1),
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: '1',
            toolName: 'map',
            output: { type: 'content', value },
          },
        ],
      },
    ]);
    const model = provider('m', { supportsMultiPartToolContent: true });

    await model.doGenerate({ prompt: older });

    expect(JSON.stringify(await bodyOf(requests[0]))).toContain(`data:image/png;base64,${data}`);
    const failure = await failureOf(
      model.doGenerate({
        prompt: untyped<typeof older>(
          JSON.parse(JSON.stringify(older).replaceAll('"data"', '"lost"')),
        ),
      }),
    );
    expect(String(failure)).toContain(`${part.type} in a tool result`);
    expect(requests).toHaveLength(1);
  });

  test('files in tool results are left out with a warning otherwise', async () => {
    const { sent, results } = await sendWithBoth({ prompt: withResult });

    expect(JSON.stringify(sent.body)).not.toContain(data);
    expect(results[1].warnings).toHaveLength(2);
  });
});

describe('results', () => {
  test.each([
    ['diarized_json', 'gpt-4o-transcribe-diarize'],
    ['diarized_json', 'm-other'],
  ])('a transcript as %s of %s has segments, duration and speakers', async (format, id) => {
    const segment = { type: 'transcript.text.segment', id: 's1', start: 0, end: 1.5 };
    const segments = [
      { ...segment, text: 'Hello.', speaker: 'A' },
      { ...segment, id: 's2', start: 1.5, end: 3, text: 'Hi.', speaker: 'B' },
    ];
    const answer = { task: 'transcribe', duration: 3, text: 'Hello. Hi.', segments };
    const { provider, requests } = scriptedProvider([json(answer)]);

    const result = await transcribe({
      model: provider.transcriptionModel(id),
      audio: new Uint8Array([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0]),
      providerOptions: { modelGateway: { response_format: format } },
    });

    expect((await requests[0]?.formData())?.getAll('response_format')).toEqual([format]);
    expect(result.text).toBe('Hello. Hi.');
    expect(result.durationInSeconds).toBe(3);
    expect(result.segments).toEqual([
      { text: 'Hello.', startSecond: 0, endSecond: 1.5 },
      { text: 'Hi.', startSecond: 1.5, endSecond: 3 },
    ]);
    expect(result.providerMetadata).toEqual({ modelGateway: { speakers: ['A', 'B'] } });
  });

  test('a format that is not JSON throws', async () => {
    const { provider, emulator } = emulatedProvider();
    const failure = await failureOf(
      transcribe({
        model: provider.transcriptionModel('whisper-1'),
        audio: new Uint8Array(64),
        providerOptions: { modelGateway: { responseFormat: 'srt' } },
      }),
    );

    expect(failure).toMatchObject({ field: 'providerOptions.modelGateway.responseFormat' });
    expect(emulator.requests).toEqual([]);
  });

  test('usage that a gateway does not report is absent', async () => {
    const vectors = { object: 'list', data: [{ index: 0, embedding: [1] }], model: 'm' };
    const images = { created: 1, data: [{ b64_json: 'aGk=' }] };
    const { provider } = scriptedProvider([json(vectors), json(images)]);

    const embedding = await provider.embeddingModel('m').doEmbed({ values: ['a'] });
    const image = await provider.imageModel('m').doGenerate(oneImage);

    expect(embedding).not.toHaveProperty('usage');
    expect(image).not.toHaveProperty('usage');
  });
});

describe('a streamed tool call without a name', () => {
  const tools: LanguageModelV4CallOptions['tools'] = [
    { type: 'function', name: 'find', inputSchema: { type: 'object', properties: {} } },
  ];
  const start = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
  const whole = {
    index: 0,
    id: 'call-a',
    type: 'function',
    function: { name: 'find', arguments: '{}' },
  };
  const nameless = { index: 1, id: 'call-b', type: 'function', function: { arguments: '{"a":1}' } };

  const streamOf = (...calls: readonly object[]): Response => {
    const chunks = [
      ...calls.map((call) => ({ delta: { tool_calls: [call] }, finish_reason: null })),
      { delta: {}, finish_reason: 'tool_calls' },
    ];
    const events = chunks.map((choice) => ({ ...start, choices: [{ index: 0, ...choice }] }));
    const lines = [...events.map((event) => JSON.stringify(event)), '[DONE]'];
    return new Response(lines.map((line) => `data: ${line}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    });
  };

  test.each([
    ['alone', [nameless]],
    ['beside a whole one', [whole, nameless]],
    [
      'before a whole one',
      [
        { ...nameless, index: 0 },
        { ...whole, index: 1 },
      ],
    ],
    ['with an empty name', [{ ...nameless, function: { name: '', arguments: '{"a":1}' } }]],
    ['and without arguments', [{ ...nameless, function: { arguments: '{}' } }]],
    ['beside a whole one, without arguments', [whole, { ...nameless, function: {} }]],
    [
      'beside a whole one, with empty ones',
      [whole, { ...nameless, function: { arguments: '{}' } }],
    ],
  ])('%s is an error part', async (_, calls) => {
    const { provider } = scriptedProvider([streamOf(...calls)]);

    const { stream } = await provider('m').doStream({ prompt, tools });
    const parts = await collect(stream);

    expect(parts.filter(({ type }) => type === 'error')).toMatchObject([
      { error: { name: 'AI_APICallError', message: expect.stringContaining('without a name') } },
    ]);
    expect(parts.at(-1)).toMatchObject({ type: 'finish' });
    expect(parts.at(-1)).not.toMatchObject({ finishReason: { unified: 'tool-calls' } });
  });

  test('a streamed tool call without a name, an id and arguments is noise beside a whole one', async () => {
    const { provider } = scriptedProvider([streamOf(whole, { index: 1, function: {} })]);

    const { stream } = await provider('m').doStream({ prompt, tools });

    expect(await collect(stream)).toContainEqual({
      type: 'tool-call',
      toolCallId: 'call-a',
      toolName: 'find',
      input: '{}',
    });
  });

  test('a tool call without a name and arguments is an error of a whole response', async () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ ...nameless, function: {} }],
    };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    const { provider } = scriptedProvider([Response.json({ ...start, choices })]);

    const error = await failureOf(provider('m').doGenerate({ prompt, tools }));

    expect(String(error)).toContain('without a name');
  });
});

const call = (id: string) =>
  ({
    type: 'tool-call',
    toolCallId: id,
    toolName: 'web',
    input: {},
    providerExecuted: true,
  }) as const;
const resultOf = (id: string) =>
  ({
    type: 'tool-result',
    toolCallId: id,
    toolName: 'web',
    output: { type: 'text', value: `result of ${id}` },
  }) as const;
const say = (text: string) => ({ type: 'text', text }) as const;
const toolCall = (id: string) => ({
  id,
  type: 'function',
  function: { name: 'web', arguments: '{}' },
});

describe('a tool that the provider executed', () => {
  test('a tool that the provider executed leaves no call without an answer', async () => {
    const { provider, requests } = scriptedProvider([json(completion)]);
    const content = [
      say('I search.'),
      call('a'),
      call('b'),
      resultOf('a'),
      say('Found.'),
      call('lost'),
    ];

    const { warnings } = await provider('m').doGenerate({
      prompt: [...prompt, { role: 'assistant', content: [...content, resultOf('b')] }],
    });

    const { messages }: { messages: unknown[] } = untyped(await bodyOf(requests[0]));
    expect(messages.slice(1)).toEqual([
      { role: 'assistant', content: 'I search.', tool_calls: [toolCall('a'), toolCall('b')] },
      { role: 'tool', tool_call_id: 'a', content: 'result of a' },
      { role: 'tool', tool_call_id: 'b', content: 'result of b' },
      { role: 'assistant', content: 'Found.' },
    ]);
    expect(warnings).toMatchObject([
      { type: 'unsupported', feature: expect.stringContaining('tool-call') },
    ]);
  });
});

describe('options under names of packages', () => {
  test.each(['model-gateway', 'openai-compatible'])(
    '%s are sent, below those of modelGateway',
    async (key) => {
      const { provider, requests } = scriptedProvider([json(completion)]);

      await provider('m').doGenerate({
        prompt,
        providerOptions: { [key]: { user: 'u-1', seed: 1 }, modelGateway: { seed: 2 } },
      });

      expect(await bodyOf(requests[0])).toMatchObject({ user: 'u-1', seed: 2 });
    },
  );
});
