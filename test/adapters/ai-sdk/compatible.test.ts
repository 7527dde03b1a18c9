import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, test } from 'vitest';
import { createModelGateway } from '../../../src/adapters/ai-sdk/index.ts';
import { createEmulator, markers, type Quirks } from '../../../src/testing/index.ts';
import { collect } from '../../helpers/clients.ts';

const tools: LanguageModelV4CallOptions['tools'] = ['find_city', 'find_river'].map((name) => ({
  type: 'function',
  name,
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
}));

/** A call and the way of a provider to answer it. */
interface Case {
  readonly text?: string;
  readonly model?: string;
  readonly quirks?: Partial<Quirks>;
  readonly options?: Partial<LanguageModelV4CallOptions>;
}

const cases: Readonly<Record<string, Case>> = {
  'plain text': {},
  'a long text': { text: markers.long },
  reasoning: { model: 'm-reasoning' },
  'reasoning by its other name': { model: 'm-reasoning', quirks: { chatReasoning: 'reasoning' } },
  'content in parts': { model: 'm-reasoning', quirks: { chatContent: 'parts' } },
  'a refusal': { text: markers.refuse },
  'a filtered answer': { text: markers.filter },
  'an answer at its limit': { options: { maxOutputTokens: 3 } },
  'a tool call': { options: { tools } },
  'a tool call after reasoning': { model: 'm-reasoning', options: { tools } },
  'two tool calls': { quirks: { chatToolCallCount: 2 }, options: { tools } },
  'tool calls that count from one': {
    quirks: { chatToolCallCount: 2, chatToolCalls: 'from-one' },
    options: { tools },
  },
  'whole tool calls': {
    quirks: { chatToolCallCount: 2, chatToolCalls: 'whole' },
    options: { tools },
  },
  'tool calls with empty names': { quirks: { chatToolCalls: 'empty-names' }, options: { tools } },
  JSON: {
    options: {
      responseFormat: {
        type: 'json',
        schema: { type: 'object', properties: { n: { type: 'number' } } },
      },
    },
  },
  'usage with the last chunk': { quirks: { chatUsage: 'finish-chunk' } },
  'no usage': { quirks: { chatUsage: 'missing' } },
  heartbeats: { quirks: { heartbeatEvery: 1 } },
  'an empty first chunk': { quirks: { chatEmptyFirstChunk: true } },
  'bytes in small pieces': { quirks: { streamChunkBytes: 7, lineEnding: 'crlf' } },
  'no [DONE]': { quirks: { chatDone: false } },
};

/** Both providers, which are given the same bytes for the same request. */
function beside({ quirks }: Case) {
  const emulator = createEmulator({ quirks: { ...quirks } });
  let answer: Response | undefined;
  const bodies: unknown[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    bodies.push(await request.clone().json());
    answer ??= await emulator.fetch(request);
    return answer.clone();
  };
  const { apiKey, baseURL } = emulator;
  const other = createOpenAICompatible({
    name: 'modelGateway',
    apiKey,
    baseURL: `${baseURL}/v1`,
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch,
  });
  const ours = createModelGateway({ apiKey, baseURL, fetch, logLevel: 'off' });
  return { ours, other, bodies };
}

function toCallOptions({ text = '', options }: Case): LanguageModelV4CallOptions {
  const content = [{ type: 'text' as const, text: `Tell me of Rome. ${text}` }];
  return { prompt: [{ role: 'user', content }], ...options };
}

/** The ids of blocks mean nothing by themselves: they are numbered as they come. */
function withPlainIds(parts: readonly LanguageModelV4StreamPart[]): unknown[] {
  const known = new Map<string, string>();
  return parts.map((part) => {
    if (!/^(text|reasoning)-/.test(part.type) || !('id' in part)) return part;
    const id = part.id ?? '';
    if (part.type.endsWith('-start')) known.set(id, `block ${known.size}`);
    return { ...part, id: known.get(id) };
  });
}

/** Fields that only our provider reads. */
function withoutMore(part: unknown): unknown {
  const { usage, ...rest } = Object(part);
  if (usage === undefined) return part;
  const { cacheWrite: _, ...inputTokens } = usage.inputTokens;
  return { ...rest, usage: { ...usage, inputTokens, raw: undefined } };
}

describe('beside @ai-sdk/openai-compatible, on the same bytes', () => {
  test.each(Object.entries(cases))('the same parts for %s', async (_, given) => {
    const { ours, other, bodies } = beside(given);
    const model = given.model ?? 'm-large';

    const expected = await other.chatModel(model).doStream(toCallOptions(given));
    const wanted = withPlainIds(await collect(expected.stream)).map(withoutMore);
    const found = await ours(model).doStream(toCallOptions(given));
    const parts = withPlainIds(await collect(found.stream)).map(withoutMore);

    expect(bodies[1]).toEqual(bodies[0]);
    expect(parts).toEqual(wanted);
    expect(parts.length).toBeGreaterThan(4);
  });

  test.each(Object.entries(cases))('the same answer for %s', async (_, given) => {
    const { ours, other, bodies } = beside(given);
    const model = given.model ?? 'm-large';

    const wanted = await other.chatModel(model).doGenerate(toCallOptions(given));
    const found = await ours(model).doGenerate(toCallOptions(given));

    expect(bodies[1]).toEqual(bodies[0]);
    expect(found.content).toEqual(wanted.content);
    expect(found.finishReason).toEqual(wanted.finishReason);
    expect(withoutMore(found)).toMatchObject({ usage: Object(withoutMore(wanted)).usage });
    expect(found.response).toMatchObject({ ...wanted.response, body: expect.anything() });
  });
});
