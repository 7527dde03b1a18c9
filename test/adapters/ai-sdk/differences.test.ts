// The differences from `@ai-sdk/openai-compatible` that the guide lists, with both packages.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import { bodyOf, collect, eventStream, failureOf, json } from '../../helpers/clients.ts';

const usage = { prompt_tokens: 20, completion_tokens: 2 };
const prompt: LanguageModelV4CallOptions['prompt'] = [
  { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
];

function completion(message: object) {
  const choice = { index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } };
  return json({ id: 'c', model: 'm', choices: [choice], usage });
}

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

describe('unlike @ai-sdk/openai-compatible, the provider', () => {
  test('has an error for an error in a stream', async () => {
    const { theirs, ours } = providers(
      eventStream({ error: { message: 'Too long', code: 'context_length_exceeded' } }, '[DONE]'),
    );

    const first = (await partsOf(theirs('m'))).find(({ type }) => type === 'error');
    const second = (await partsOf(ours('m'))).find(({ type }) => type === 'error');

    expect(first).toMatchObject({ error: { message: 'Too long' } });
    expect(second).toMatchObject({ error: { name: 'AI_APICallError' } });
    expect(String(second?.type === 'error' && second.error)).toContain('Too long');
  });

  test('has an error part for a streamed tool call without a name', async () => {
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
    const file = {
      type: 'file' as const,
      mediaType: 'text/markdown',
      data: { type: 'url' as const, url },
    };
    const withFile: typeof prompt = [{ role: 'user', content: [file] }];

    await theirs('m').doGenerate({ prompt: withFile });
    const error = await failureOf(ours('m').doGenerate({ prompt: withFile }));

    expect(JSON.stringify(await bodyOf(requests[0]))).toContain(`"text":"${url.href}"`);
    expect(String(error)).toContain('Pass the bytes');
    expect(requests).toHaveLength(1);
  });

  test('requests embeddings as base64', async () => {
    const data = [{ index: 0, embedding: [0.5] }];
    const { theirs, ours, requests } = providers(json({ data, model: 'm' }));

    await theirs.embeddingModel('m').doEmbed({ values: ['a'] });
    await ours.embeddingModel('m').doEmbed({ values: ['a'] });

    const bodies = await Promise.all(requests.map(bodyOf));
    expect(bodies).toMatchObject([{ encoding_format: 'float' }, { encoding_format: 'base64' }]);
  });
});
