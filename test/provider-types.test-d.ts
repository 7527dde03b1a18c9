// Fields that OpenAI's and Google's own clients take, and answers hold.
import type TheirOpenAI from 'openai';
import { describe, expectTypeOf, test } from 'vitest';
import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParams,
  Gateway,
} from '../src/index.ts';

type Create = ChatCompletionCreateParams;
type Generate = Parameters<Gateway['generate']['content']>[0];
type Part = Extract<Generate['contents'], readonly unknown[]>[number];

describe('chat', () => {
  test('takes what openai takes', () => {
    expectTypeOf<{ moderation: TheirOpenAI.ChatCompletionCreateParams['moderation'] }>().toExtend<
      Pick<Create, 'moderation'>
    >();
    expectTypeOf<{
      type: 'text';
      text: string;
      prompt_cache_breakpoint: { mode: 'explicit'; ttl: '12h' };
    }>().toExtend<ChatCompletionContentPart>();
    expectTypeOf<{ mode: 'explicit' }>().toExtend<NonNullable<Create['prompt_cache_options']>>();
  });
});

describe('generate', () => {
  test('takes what Google takes', () => {
    expectTypeOf<{ text: string }[]>().toExtend<Generate['contents']>();
    expectTypeOf<
      | { functionResponse: { name: string; parts: { inlineData: { data: string } }[] } }
      | { toolCall: { id: string; toolType: 'FILE_SEARCH'; args: { q: string } } }
      | { toolResponse: { id: string; response: { a: number } } }
      | { executableCode: { id: string; code: string } }
      | { codeExecutionResult: { id: string; output: string } }
    >().toExtend<Part>();
    expectTypeOf<{
      model: string;
      contents: string;
      labels: { team: string };
      modelArmorConfig: { promptTemplateName: string };
      tools: [{ fileSearch: { fileSearchStoreNames: string[]; topK: number } }];
    }>().toExtend<Generate>();
  });
});
