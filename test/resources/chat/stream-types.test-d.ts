import type OpenAI from 'openai';
import type {
  ChatCompletionCreateParamsNonStreaming as TheirParams,
  ChatCompletionCreateParamsStreaming as TheirStreamingParams,
  ChatCompletionMessageParam as TheirMessageParam,
  ChatCompletionTool as TheirTool,
} from 'openai/resources/chat/completions';
import { describe, expectTypeOf, test } from 'vitest';
import type { ChatCompletionStream } from '../../../src/resources/chat/runs/runner.ts';
import type { Stream } from '../../../src/streams/stream.ts';
import type {
  ChatCompletionMessageParam,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionTool,
} from '../../../src/resources/chat/params.ts';
import type {
  ChatCompletionChunk,
  ChatCompletion,
  CompletionUsage,
} from '../../../src/resources/chat/types.ts';
import type { GenerateContentParams } from '../../../src/resources/generate/params.ts';
import type {
  GenerateContentResponse,
  UsageMetadata,
} from '../../../src/resources/generate/types.ts';

/** Fields that applications read. */
function read(completion: ChatCompletion, chunk: ChatCompletionChunk) {
  const [choice] = completion.choices;
  const call = choice?.message.tool_calls?.[0];
  return {
    content: choice?.message.content,
    reason: choice?.finish_reason,
    name: call?.type === 'function' ? call.function.name : undefined,
    cached: completion.usage?.prompt_tokens_details?.cached_tokens,
    delta: chunk.choices[0]?.delta?.content,
    done: chunk.choices[0]?.finish_reason,
    requestId: completion._request_id,
  };
}

describe('the types of chat completions', () => {
  test('the types of chat completions accept code for the openai package', () => {
    expectTypeOf<TheirMessageParam>().toExtend<ChatCompletionMessageParam>();
    expectTypeOf<TheirTool>().toExtend<ChatCompletionTool>();
    expectTypeOf<TheirParams>().toExtend<ChatCompletionCreateParamsNonStreaming>();
    expectTypeOf<TheirStreamingParams>().toExtend<ChatCompletionCreateParamsStreaming>();
  });

  test('the types of chat completions return what code for the openai package reads', () => {
    type Read = ReturnType<typeof read>;
    expectTypeOf<Read['content']>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<Read['name']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Read['cached']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Read['delta']>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<NonNullable<Read['reason']>>().toExtend<string>();
    expectTypeOf<'a new reason'>().toExtend<NonNullable<Read['done']>>();
    expectTypeOf<CompletionUsage['total_tokens']>().toEqualTypeOf<number>();
  });

  test('allow a response as history', () => {
    type Message = ChatCompletion['choices'][number]['message'];
    expectTypeOf<Message>().toExtend<ChatCompletionMessageParam>();
  });

  test('the types of chat completions reject misspelled fields', () => {
    const params: ChatCompletionCreateParamsNonStreaming = {
      model: 'm',
      messages: [{ role: 'user', content: 'Hi' }],
      // @ts-expect-error -- the field is called max_tokens
      max_token: 3,
    };
    expectTypeOf(params).toBeObject();
  });
});

/** Events that applications listen to. */
function listen(stream: ChatCompletionStream) {
  stream.on('content', (delta, snapshot) => {
    expectTypeOf(delta).toEqualTypeOf<string>();
    expectTypeOf(snapshot).toEqualTypeOf<string>();
  });
  stream.on('chunk', (chunk, snapshot) => {
    expectTypeOf(chunk).toEqualTypeOf<ChatCompletionChunk>();
    expectTypeOf(snapshot).toExtend<ChatCompletion>();
    expectTypeOf(snapshot.choices[0]?.message.parsed).toBeUnknown();
  });
  // @ts-expect-error -- this event does not exist
  stream.on('contents', () => undefined);
}

describe('the types of streams', () => {
  test('the types of streams know their final response', () => {
    expectTypeOf<Stream<ChatCompletionChunk>['partial']>().toEqualTypeOf<
      ChatCompletion | undefined
    >();
    expectTypeOf<Stream<ChatCompletionChunk>['usage']>().toEqualTypeOf<
      CompletionUsage | undefined
    >();
    expectTypeOf<Stream<GenerateContentResponse>['partial']>().toEqualTypeOf<
      GenerateContentResponse | undefined
    >();
    expectTypeOf<Stream<GenerateContentResponse>['usage']>().toEqualTypeOf<
      UsageMetadata | undefined
    >();
    expectTypeOf<Stream<{ type: string }>['partial']>().toBeUnknown();
  });

  test('the types of streams pass the right arguments to listeners', () => {
    expectTypeOf(listen).toBeFunction();
    expectTypeOf<ReturnType<ChatCompletionStream['finalContent']>>().toEqualTypeOf<
      Promise<string | null>
    >();
  });

  test('the types of streams have the methods and events of the openai package', () => {
    type Theirs = ReturnType<OpenAI['chat']['completions']['stream']>;
    type Lacking = Exclude<keyof Theirs, keyof ChatCompletionStream | `_${string}`>;

    expectTypeOf<Lacking>().toBeNever();
  });
});

describe('the types of content generation', () => {
  test('the types of content generation accept contents as text, one turn or a list', () => {
    expectTypeOf<'Hi'>().toExtend<GenerateContentParams['contents']>();
    expectTypeOf<{ parts: { text: string }[] }>().toExtend<GenerateContentParams['contents']>();
    expectTypeOf<['Hi', { role: 'model'; parts: [{ text: 'a' }] }]>().toExtend<
      GenerateContentParams['contents']
    >();
  });
});
