// The differences from `@ai-sdk/openai-compatible` that the guide lists, with both packages.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
} from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import { bodyOf, collect, eventStream, failureOf, json } from '../../helpers/clients.ts';
import { oneImage } from './support.ts';

const usage = { prompt_tokens: 20, completion_tokens: 2 };
const prompt: LanguageModelV4CallOptions['prompt'] = [
  { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
];

function completion(message: object, details?: object) {
  const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } };
  return json({ id: 'c', model: 'm', choices: [choice], usage: { ...usage, ...details } });
}

/** A call with a file alone. */
function withFile(mediaType: string, data: LanguageModelV4FilePart['data']) {
  const content = [{ type: 'file' as const, mediaType, data }];
  return { prompt: [{ role: 'user' as const, content }] };
}

const onePNG = { data: [{ b64_json: 'iVBORw0KGgo=' }] };

/** Both providers, whose requests get the same answer. */
function providers(answer: () => Response) {
  const requests: Request[] = [];
  const settings = {
    baseURL: 'https://gateway.test/v1',
    apiKey: 'sk-test',
    fetch: async (...input: Parameters<typeof fetch>) => {
      requests.push(new Request(...input));
      return answer();
    },
  };
  const theirs = createOpenAICompatible({ name: 'gateway', includeUsage: true, ...settings });
  return { theirs, ours: createModelGateway({ ...settings, logLevel: 'off' }), requests };
}

async function partsOf(model: LanguageModelV4) {
  const { stream } = await model.doStream({ prompt });
  return collect(stream);
}

describe('differences from @ai-sdk/openai-compatible', () => {
  test('the provider has an error for an error in a stream', async () => {
    const { theirs, ours } = providers(
      eventStream({ error: { message: 'Too long', code: 'context_length_exceeded' } }, '[DONE]'),
    );

    const first = (await partsOf(theirs('m'))).find(({ type }) => type === 'error');
    const second = (await partsOf(ours('m'))).find(({ type }) => type === 'error');

    expect(first).toMatchObject({ error: { message: 'Too long' } });
    expect(second).toMatchObject({ error: { name: 'AI_APICallError' } });
    expect(String(second?.type === 'error' && second.error)).toContain('Too long');
  });

  test('the provider has an error part for a streamed tool call without a name', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { arguments: '{"a":1}' } };
    const delta = { role: 'assistant', tool_calls: [call] };
    const choices = [{ index: 0, delta, finish_reason: 'tool_calls' }];
    const { theirs, ours } = providers(eventStream({ id: 'c', model: 'm', choices }, '[DONE]'));

    await expect(partsOf(theirs('m'))).rejects.toThrow('function.name');
    const types = (await partsOf(ours('m'))).map(({ type }) => type);

    expect(types).toContain('error');
    expect(types).not.toContain('tool-call');
  });

  test('rejects a text file by URL', async () => {
    const { theirs, ours, requests } = providers(completion({ content: 'Hi' }));
    const url = new URL('https://example.com/notes.md');
    const call = withFile('text/markdown', { type: 'url', url });

    await theirs('m').doGenerate(call);
    const error = await failureOf(ours('m').doGenerate(call));

    expect(JSON.stringify(await bodyOf(requests[0]))).toContain(`"text":"${url.href}"`);
    expect(String(error)).toContain('Pass the bytes');
    expect(requests).toHaveLength(1);
  });

  test('marks a stream without a finish reason as interrupted', async () => {
    const chunk = { id: 'c', model: 'm', choices: [{ index: 0, delta: { content: 'Hel' } }] };
    const { theirs, ours } = providers(eventStream(chunk, '[DONE]'));

    const ends = [await partsOf(theirs('m')), await partsOf(ours('m'))].map((parts) =>
      parts.slice(-2),
    );

    expect(ends).toMatchObject(
      ['error', 'interrupted'].map((unified) => [
        { type: 'error' },
        { type: 'finish', finishReason: { unified } },
      ]),
    );
  });

  test('counts reasoning tokens that completion_tokens leaves out', async () => {
    const details = { total_tokens: 27, completion_tokens_details: { reasoning_tokens: 5 } };
    const { theirs, ours } = providers(completion({ content: 'Hi' }, details));

    const first = await theirs('m').doGenerate({ prompt });
    const second = await ours('m').doGenerate({ prompt });

    expect(first.usage.outputTokens).toEqual({ total: 2, text: 0, reasoning: 5 });
    expect(second.usage.outputTokens).toEqual({ total: 7, text: 2, reasoning: 5 });
  });

  test('the provider returns requests as objects, and bodies and usage as the client normalizes them', async () => {
    const { theirs, ours } = providers(completion({ content: 'Hi' }));

    const first = await theirs('m').doGenerate({ prompt });
    const second = await ours('m').doGenerate({ prompt });

    expect(first).toMatchObject({ request: { body: expect.any(String) } });
    expect(first.usage.raw).toEqual(usage);
    expect(second).toMatchObject({
      request: { body: { model: 'm' } },
      response: { body: { object: 'chat.completion' } },
      usage: { raw: { ...usage, total_tokens: 22 } },
    });
  });

  test('sends images and videos by URL', async () => {
    const { theirs, ours } = providers(completion({ content: 'Hi' }));

    expect(Object.keys(await theirs('m').supportedUrls)).toEqual([]);
    expect(Object.keys(await ours('m').supportedUrls)).toEqual(['image/*', 'video/*']);
  });

  test('sends files of any type', async () => {
    const { theirs, ours, requests } = providers(completion({ content: 'Hi' }));
    const call = withFile('application/zip', { type: 'data', data: new Uint8Array([80, 75]) });

    const error = await failureOf(theirs('m').doGenerate(call));
    await ours('m').doGenerate(call);

    expect(String(error)).toContain('application/zip');
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(await bodyOf(requests[0]))).toContain('data:application/zip;base64,UEs=');
  });

  test('sends the aspect ratio of an image, with a warning', async () => {
    const { theirs, ours, requests } = providers(json(onePNG));

    const first = await theirs.imageModel('m').doGenerate({ ...oneImage, aspectRatio: '16:9' });
    const second = await ours.imageModel('m').doGenerate({ ...oneImage, aspectRatio: '16:9' });

    const [without, body] = await Promise.all(requests.map(bodyOf));
    expect(without).not.toHaveProperty('aspect_ratio');
    expect(body).toMatchObject({ aspect_ratio: '16:9' });
    expect([first.warnings, second.warnings]).toMatchObject([
      [{ type: 'unsupported', feature: 'aspectRatio' }],
      [{ type: 'compatibility', feature: 'aspectRatio' }],
    ]);
  });

  test('splits requests for more images than the model makes at once', async () => {
    const { theirs, ours, requests } = providers(json(onePNG));

    await theirs.imageModel('dall-e-3').doGenerate({ ...oneImage, n: 2 });
    await ours.imageModel('dall-e-3').doGenerate({ ...oneImage, n: 2 });
    await ours.imageModel('imagen-4').doGenerate({ ...oneImage, n: 5 });
    await ours.imageModel('gpt-image-1').doGenerate({ ...oneImage, n: 11 });

    const counts = (await Promise.all(requests.map(bodyOf))).map((body) => Object(body).n);
    expect(counts).toEqual([2, 1, 1, 4, 1, 10, 1]);
  });

  test('rejects bytes to edit that are not an image', async () => {
    const { theirs, ours, requests } = providers(json(onePNG));
    const data = new TextEncoder().encode('hello');
    const files = [{ type: 'file' as const, data, mediaType: 'image/png' }];

    await theirs.imageModel('m').doGenerate({ ...oneImage, files });
    const error = await failureOf(ours.imageModel('m').doGenerate({ ...oneImage, files }));

    expect(String(error)).toContain('not an image');
    expect(requests).toHaveLength(1);
  });

  test('the provider has numbers in place of missing counts of an image', async () => {
    const counts = { input_tokens: 7, output_tokens: null };
    const { theirs, ours } = providers(json({ ...onePNG, usage: counts }));

    const first = await theirs.imageModel('m').doGenerate(oneImage);
    const second = await ours.imageModel('m').doGenerate(oneImage);

    expect(first.usage).toEqual({ inputTokens: 7 });
    expect(second.usage).toEqual({ inputTokens: 7, outputTokens: 0, totalTokens: 7 });
  });

  test('requests embeddings as base64, and fewer at once', async () => {
    const data = [{ index: 0, embedding: [0.5] }];
    const { theirs, ours, requests } = providers(json({ data, model: 'm' }));
    const models = [theirs.embeddingModel('m'), ours.embeddingModel('m')];

    for (const model of models) await model.doEmbed({ values: ['a'] });

    expect(models.map((model) => model.maxEmbeddingsPerCall)).toEqual([2_048, 100]);
    const bodies = await Promise.all(requests.map(bodyOf));
    expect(bodies).toMatchObject([{ encoding_format: 'float' }, { encoding_format: 'base64' }]);
  });
});
