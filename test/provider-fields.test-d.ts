import { describe, expectTypeOf, test } from 'vitest';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateInput,
  ChatCompletionMessageParam,
  ChatCompletionReasoningDetail,
  CompletionUsage,
  GenerateContentParams,
  Model,
  VideoTask,
} from '../src/index.ts';

describe('fields of OpenRouter and LiteLLM', () => {
  test('fields of OpenRouter and LiteLLM are typed in requests', () => {
    const params = {
      model: 'anthropic/claude-sonnet-4.5',
      models: ['openai/gpt-5', 'google/gemini-2.5-pro'],
      provider: {
        order: ['anthropic'],
        allow_fallbacks: false,
        data_collection: 'deny',
        sort: { by: 'price', partition: 'none' },
        max_price: { prompt: 1, completion: '2' },
        preferred_max_latency: { p90: 3 },
      },
      plugins: [
        { id: 'web', max_results: 3 },
        { id: 'file-parser', pdf: { engine: 'native' } },
        { id: 'new-one' },
      ],
      modalities: ['image', 'text'],
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Long', cache_control: { type: 'ephemeral', ttl: '1h' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Short', cache_control: { type: 'ephemeral' } },
            {
              type: 'image_url',
              image_url: { url: 'https://images.test/a.png' },
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
      ],
    } satisfies ChatCompletionCreateInput;
    expectTypeOf(params.models).toEqualTypeOf<string[]>();
    expectTypeOf<{ type: 'persistent' }>().not.toExtend<
      NonNullable<
        Extract<
          NonNullable<Extract<ChatCompletionMessageParam, { role: 'tool' }>['content']>,
          readonly unknown[]
        >[number]['cache_control']
      >
    >();
  });

  test('fields of OpenRouter and LiteLLM are typed in answers, whose messages can be sent back', () => {
    type Message = ChatCompletion['choices'][number]['message'];
    type Logprobs = NonNullable<ChatCompletion['choices'][number]['logprobs']>;
    type Delta = ChatCompletionChunk['choices'][number]['delta'];

    expectTypeOf<Message>().toExtend<ChatCompletionMessageParam>();
    expectTypeOf<NonNullable<Message['reasoning_details']>>().toEqualTypeOf<
      ChatCompletionReasoningDetail[]
    >();
    expectTypeOf<Delta['reasoning_details']>().toEqualTypeOf<Message['reasoning_details']>();
    expectTypeOf<NonNullable<Message['images']>[number]['image_url']['url']>().toBeString();
    expectTypeOf<number>().toExtend<CompletionUsage['cost']>();
    expectTypeOf<{ total_cost: number }>().toExtend<CompletionUsage['cost']>();
    expectTypeOf<{ usd: number }>().toExtend<CompletionUsage['cost']>();
    expectTypeOf<NonNullable<Logprobs['reasoning_content']>>().toEqualTypeOf<
      NonNullable<Logprobs['content']>
    >();
    expectTypeOf<{ content: null }>().toExtend<Logprobs>();
    expectTypeOf<
      NonNullable<CompletionUsage['cost_details']>['upstream_inference_cost']
    >().toEqualTypeOf<number | null | undefined>();
    expectTypeOf<NonNullable<VideoTask['usage']>['cost']>().toEqualTypeOf<
      number | null | undefined
    >();
  });

  test('fields of OpenRouter and LiteLLM are typed in models', () => {
    expectTypeOf<Model['context_length']>().toEqualTypeOf<number | null | undefined>();
    expectTypeOf<NonNullable<Model['pricing']>['prompt']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<NonNullable<Model['supported_parameters']>>().toEqualTypeOf<readonly string[]>();
    expectTypeOf<'image'>().toExtend<
      NonNullable<NonNullable<Model['architecture']>['output_modalities']>[number]
    >();
  });
});

test("Gemini's JSON Schema is typed", () => {
  const generationConfig = {
    responseMimeType: 'application/json',
    responseJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
  } satisfies GenerateContentParams['generationConfig'];
  expectTypeOf(generationConfig.responseMimeType).toBeString();
});
