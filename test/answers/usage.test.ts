import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usageOf, type AnswerUsage } from '../../src/index.ts';

const fields = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'audioInputTokens',
  'audioOutputTokens',
  'imageInputTokens',
  'imageOutputTokens',
  'cost',
] as const satisfies readonly (keyof AnswerUsage)[];

/** The fields that are known. */
const known = (usage: AnswerUsage) =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined));

const withCost = (cost: string) => new Headers({ 'x-litellm-response-cost': cost });

describe('usageOf()', () => {
  test.each<{ name: string; usage: object; expected: Partial<AnswerUsage> }>([
    {
      name: 'chat with every detail',
      usage: {
        prompt_tokens: 1_000,
        completion_tokens: 300,
        total_tokens: 1_300,
        prompt_tokens_details: {
          cached_tokens: 400,
          cache_write_tokens: 100,
          audio_tokens: 20,
          image_tokens: 30,
        },
        completion_tokens_details: { reasoning_tokens: 200, audio_tokens: 5, image_tokens: 6 },
      },
      expected: {
        inputTokens: 1_000,
        outputTokens: 300,
        totalTokens: 1_300,
        cacheReadTokens: 400,
        cacheWriteTokens: 100,
        reasoningTokens: 200,
        audioInputTokens: 20,
        audioOutputTokens: 5,
        imageInputTokens: 30,
        imageOutputTokens: 6,
      },
    },
    {
      name: 'chat that a gateway filled with zeros',
      usage: {
        prompt_tokens: 14,
        completion_tokens: 5,
        total_tokens: 19,
        prompt_tokens_details: { cached_tokens: 0, text_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: null,
        input_tokens: 0,
        output_tokens: 0,
        input_tokens_details: null,
        claude_cache_creation_5_m_tokens: 0,
        claude_cache_creation_1_h_tokens: 0,
      },
      expected: {
        inputTokens: 14,
        outputTokens: 5,
        totalTokens: 19,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        audioInputTokens: 0,
      },
    },
    {
      name: 'chat whose reasoning is only in the total',
      usage: {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 334,
        completion_tokens_details: { reasoning_tokens: 320 },
      },
      expected: { inputTokens: 12, outputTokens: 322, totalTokens: 334, reasoningTokens: 320 },
    },
    {
      name: 'Responses',
      usage: {
        input_tokens: 50,
        input_tokens_details: { cached_tokens: 20 },
        output_tokens: 30,
        output_tokens_details: { reasoning_tokens: 10 },
        total_tokens: 80,
      },
      expected: {
        inputTokens: 50,
        outputTokens: 30,
        totalTokens: 80,
        cacheReadTokens: 20,
        reasoningTokens: 10,
      },
    },
    {
      name: 'images',
      usage: {
        total_tokens: 100,
        input_tokens: 50,
        output_tokens: 50,
        input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      },
      expected: { inputTokens: 50, outputTokens: 50, totalTokens: 100, imageInputTokens: 40 },
    },
    {
      name: 'a transcription',
      usage: {
        type: 'tokens',
        input_tokens: 14,
        input_token_details: { audio_tokens: 14, text_tokens: 0 },
        output_tokens: 45,
        total_tokens: 59,
      },
      expected: { inputTokens: 14, outputTokens: 45, totalTokens: 59, audioInputTokens: 14 },
    },
    {
      name: 'a transcription that is paid by its length',
      usage: { type: 'duration', seconds: 3 },
      expected: {},
    },
    {
      name: 'vectors',
      usage: { prompt_tokens: 5, total_tokens: 5 },
      expected: { inputTokens: 5, totalTokens: 5 },
    },
    {
      name: 'only a total',
      usage: { total_tokens: 7 },
      expected: { inputTokens: 7, totalTokens: 7 },
    },
    {
      name: 'Claude, whose input leaves out cached tokens',
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 200,
        cache_read_input_tokens: 3_000,
        output_tokens: 40,
      },
      expected: {
        inputTokens: 3_210,
        outputTokens: 40,
        totalTokens: 3_250,
        cacheReadTokens: 3_000,
        cacheWriteTokens: 200,
      },
    },
    {
      name: 'Claude with the time to live of each cache',
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 },
        output_tokens: 1,
      },
      expected: {
        inputTokens: 17,
        outputTokens: 1,
        totalTokens: 18,
        cacheReadTokens: 0,
        cacheWriteTokens: 7,
      },
    },
    {
      name: 'Claude behind LiteLLM, whose prompt includes cached tokens',
      usage: {
        prompt_tokens: 3_210,
        completion_tokens: 40,
        total_tokens: 3_250,
        cache_creation_input_tokens: 200,
        cache_read_input_tokens: 3_000,
      },
      expected: {
        inputTokens: 3_210,
        outputTokens: 40,
        totalTokens: 3_250,
        cacheReadTokens: 3_000,
        cacheWriteTokens: 200,
      },
    },
    {
      name: "a gateway that keeps Claude's meaning under OpenAI's names",
      usage: {
        usage_semantic: 'anthropic',
        prompt_tokens: 10,
        completion_tokens: 40,
        total_tokens: 50,
        prompt_tokens_details: { cached_tokens: 3_000, cached_creation_tokens: 200 },
      },
      expected: {
        inputTokens: 3_210,
        outputTokens: 40,
        totalTokens: 50,
        cacheReadTokens: 3_000,
        cacheWriteTokens: 200,
      },
    },
    {
      name: 'DeepSeek',
      usage: {
        prompt_tokens: 9,
        completion_tokens: 1,
        total_tokens: 10,
        prompt_cache_hit_tokens: 8,
      },
      expected: { inputTokens: 9, outputTokens: 1, totalTokens: 10, cacheReadTokens: 8 },
    },
    {
      name: 'Gemini, whose output leaves out thinking',
      usage: {
        promptTokenCount: 19,
        toolUsePromptTokenCount: 2,
        candidatesTokenCount: 10,
        totalTokenCount: 36,
        thoughtsTokenCount: 5,
        cachedContentTokenCount: 4,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 10 },
          { modality: 'IMAGE', tokenCount: 6 },
          { modality: 'AUDIO', tokenCount: 3 },
        ],
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 10 }],
      },
      expected: {
        inputTokens: 21,
        outputTokens: 15,
        totalTokens: 36,
        cacheReadTokens: 4,
        reasoningTokens: 5,
        audioInputTokens: 3,
        imageInputTokens: 6,
        imageOutputTokens: 10,
      },
    },
    {
      name: 'Gemini in snake case',
      usage: {
        prompt_token_count: 8,
        candidates_token_count: 10,
        total_token_count: 18,
        prompt_tokens_details: [{ modality: 'AUDIO', token_count: 8 }],
      },
      expected: { inputTokens: 8, outputTokens: 10, totalTokens: 18, audioInputTokens: 8 },
    },
    {
      name: 'a generation that was blocked',
      usage: { promptTokenCount: 8, totalTokenCount: 8 },
      expected: { inputTokens: 8, totalTokens: 8 },
    },
    {
      name: 'numbers as text',
      usage: { prompt_tokens: '5', completion_tokens: '2' },
      expected: { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
    },
    {
      name: 'counts that cannot be',
      usage: { prompt_tokens: -1, completion_tokens: 1e300, total_tokens: {} },
      expected: {},
    },
  ])('reads $name', ({ usage, expected }) => {
    expect(known(usageOf(usage))).toEqual(expected);
    expect(usageOf({ usage })).toEqual(usageOf(usage));
  });

  test.each<[place: string, answer: unknown]>([
    ['an answer', { id: 'a', usage: { prompt_tokens: 3 } }],
    ['a generation', { candidates: [], usageMetadata: { promptTokenCount: 3 } }],
    ['a generation in snake case', { usage_metadata: { prompt_token_count: 3 } }],
    ['the last event of a response', { type: 'x', response: { usage: { input_tokens: 3 } } }],
    ['the first event of a message', { type: 'x', message: { usage: { input_tokens: 3 } } }],
    ['the choice of a chunk', { usage: null, choices: [{ usage: { prompt_tokens: 3 } }] }],
    ["a gateway's wrapper", { code: 0, data: { data: { usage: { prompt_tokens: 3 } } } }],
  ])('finds the usage of %s', (_, answer) => {
    expect(usageOf(answer).inputTokens).toBe(3);
  });

  test.each<{ cost: number | undefined; usage: object; headers?: Headers }>([
    { cost: 0.0012, usage: { cost: 0.0012 } },
    { cost: 0.0012, usage: { cost: '0.0012' } },
    { cost: 0.000_015, usage: { cost: 1.5e-5, cost_details: { upstream_inference_cost: 9 } } },
    { cost: 0, usage: { cost: 0 } },
    { cost: 0.5, usage: { cost: null, cost_details: { upstream_inference_cost: 0.5 } } },
    // With a key of one's own, both the gateway and the vendor are paid.
    {
      cost: 0.55,
      usage: { cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: 0.5 } },
    },
    {
      cost: 0.05,
      usage: { cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: null } },
    },
    { cost: 0.02, usage: { cost: { total_cost: 0.02, request_cost: 0.01 } } },
    { cost: 0.03, usage: { cost: { usd: 0.03 } } },
    { cost: 0.003, usage: {}, headers: withCost('0.003') },
    { cost: 0.003, usage: {}, headers: withCost('3e-3') },
    { cost: 0.004, usage: { cost: 0.004 }, headers: withCost('0.003') },
    { cost: 0.003, usage: { cost: 0 }, headers: withCost('0.003') },
    // LiteLLM sends 0 for models whose price it doesn't know.
    { cost: undefined, usage: {}, headers: withCost('0.0') },
    { cost: undefined, usage: {}, headers: withCost('None') },
    { cost: undefined, usage: {}, headers: withCost('') },
    { cost: undefined, usage: {}, headers: withCost('NaN') },
    { cost: undefined, usage: {}, headers: withCost('-1') },
    { cost: undefined, usage: { cost: -0.1 } },
    { cost: undefined, usage: { cost: Number.NaN } },
    { cost: undefined, usage: { cost: Infinity } },
    { cost: undefined, usage: { cost: 'free' } },
    { cost: undefined, usage: { cost: true } },
    { cost: undefined, usage: { cost: [1] } },
    // In another unit, such as the credit units of the gateway.
    { cost: undefined, usage: { cost: 250_000 } },
  ])('reads a cost of $cost', ({ cost, usage, headers }) => {
    expect(usageOf({ usage }, headers).cost).toBe(cost);
  });

  test('ignores fields that cannot be converted to text', () => {
    const modality: unknown = Object.create(null);
    const usage = usageOf({ promptTokensDetails: [{ modality, tokenCount: 3 }] });

    expect(known(usage)).toEqual({});
  });

  test('accepts any input, and returns valid counts', () => {
    const names = fc.constantFrom(
      'usage',
      'prompt_tokens',
      'input_tokens',
      'completion_tokens',
      'total_tokens',
      'prompt_tokens_details',
      'cached_tokens',
      'usageMetadata',
      'promptTokensDetails',
      'modality',
      'cache_creation',
      'choices',
      'cost',
      'cost_details',
      'is_byok',
    );
    const { anything } = fc.letrec((tie) => ({
      anything: fc.oneof(
        { maxDepth: 5 },
        fc.anything(),
        fc.double(),
        fc.array(tie('anything'), { maxLength: 3 }),
        fc.dictionary(names, tie('anything'), { maxKeys: 6 }),
      ),
    }));
    fc.assert(
      fc.property(anything, (answer) => {
        const usage = usageOf(answer);
        expect(Object.keys(usage).toSorted()).toEqual([...fields].toSorted());
        for (const field of fields) {
          const value = usage[field];
          if (value !== undefined) expect(value).toBeGreaterThanOrEqual(0);
          expect(value).not.toBe(Infinity);
        }
      }),
    );
  });

  test('usage is the same in the formats of three vendors', () => {
    const count = fc.nat(100_000);
    fc.assert(
      fc.property(count, count, count, count, (plain, cached, answered, thought) => {
        const chat = usageOf({
          prompt_tokens: plain + cached,
          completion_tokens: answered + thought,
          total_tokens: plain + cached + answered + thought,
          prompt_tokens_details: { cached_tokens: cached },
          completion_tokens_details: { reasoning_tokens: thought },
        });
        const responses = usageOf({
          input_tokens: plain + cached,
          output_tokens: answered + thought,
          total_tokens: plain + cached + answered + thought,
          input_tokens_details: { cached_tokens: cached },
          output_tokens_details: { reasoning_tokens: thought },
        });
        const gemini = usageOf({
          promptTokenCount: plain + cached,
          cachedContentTokenCount: cached,
          candidatesTokenCount: answered,
          thoughtsTokenCount: thought,
          totalTokenCount: plain + cached + answered + thought,
        });
        const claude = usageOf({
          input_tokens: plain,
          cache_read_input_tokens: cached,
          output_tokens: answered + thought,
        });
        expect(responses).toEqual(chat);
        expect(gemini).toEqual(chat);
        expect(claude).toEqual({ ...chat, reasoningTokens: undefined });
      }),
    );
  });

  test('stops at cyclic input', () => {
    let usage: object = { prompt_tokens: 1 };
    for (let level = 0; level < 100_000; level += 1) usage = { data: usage };

    expect(usageOf({ prompt_tokens: 5, prompt_tokens_details: usage }).inputTokens).toBe(5);
  });
});

describe("usage in OpenAI's format", () => {
  const count = fc.oneof(
    fc.integer({ min: -2, max: 2_000 }),
    fc.constantFrom<unknown>(0, null, undefined, '12', '', Number.NaN, 2 ** 60, 1.5),
  );
  const details = fc.oneof(
    fc.record(
      Object.fromEntries(
        [
          'cached_tokens',
          'cache_write_tokens',
          'cached_creation_tokens',
          'cache_creation_tokens',
          'reasoning_tokens',
          'audio_tokens',
          'image_tokens',
          'text_tokens',
        ].map((name) => [name, count]),
      ),
      { requiredKeys: [] },
    ),
    fc.constantFrom<unknown>(null, undefined, [], 'none', { modality: 'AUDIO', tokenCount: 3 }, [
      { modality: 'IMAGE', token_count: 4 },
    ]),
  );
  const plain = fc.record(
    {
      prompt_tokens: count,
      completion_tokens: count,
      total_tokens: count,
      prompt_tokens_details: details,
      completion_tokens_details: details,
    },
    { requiredKeys: [] },
  );

  test("usage in OpenAI's format is read as it is among the fields of other formats", () => {
    fc.assert(
      fc.property(plain, fc.constantFrom('0.5', '0', 'free', undefined), (usage, cost) => {
        const headers = cost === undefined ? undefined : withCost(cost);
        expect(usageOf({ usage }, headers)).toEqual(
          usageOf({ usage: { ...usage, service_tier: 'default' } }, headers),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test("usage in OpenAI's format counts reasoning that only the total includes", () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 22,
      completion_tokens_details: { reasoning_tokens: 7 },
    };
    expect(usageOf({ usage })).toMatchObject({ outputTokens: 12, totalTokens: 22 });
  });
});
