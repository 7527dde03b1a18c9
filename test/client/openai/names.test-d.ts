// The names of parts of types that code for the `openai` package uses, there and here.
import type TheirOpenAI from 'openai';
import type {
  ChatCompletion as TheirCompletion,
  ChatCompletionChunk as TheirChunk,
} from 'openai/resources/chat/completions';
import { describe, expectTypeOf, test } from 'vitest';
import type OpenAI from '../../../src/index.ts';
import type {
  ChatCompletion,
  ChatCompletionAllowedTools,
  ChatCompletionAssistantMessageParam,
  ChatCompletionChunk,
  ChatCompletionContentPart,
  ChatCompletionContentPartImage,
  ChatCompletionContentPartInputAudio,
  ChatCompletionCreateParams,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionCustomTool,
  ChatCompletionMessage,
  ChatCompletionMessageCustomToolCall,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionNamedToolChoice,
  ChatCompletionNamedToolChoiceCustom,
  ChatCompletionParseParams,
  ChatCompletionReasoningEffort,
  ChatCompletionTokenLogprob,
  CompletionUsage,
  ParsedChatCompletionMessage,
  ParsedChatCompletionMessageToolCall,
  ParsedFunction,
  RunnableToolFunction,
  TranscriptionCreateParams,
} from '../../../src/index.ts';
import type { TranscriptionCreateParams as RoomTranscriptionCreateParams } from '../../../src/resources/audio/transcription-types.ts';

describe('nested types with the names of the openai package', () => {
  test('nested types of chunks have the names of the openai package', () => {
    type D = ChatCompletionChunk.Choice.Delta;
    expectTypeOf<ChatCompletionChunk.Choice>().toEqualTypeOf<
      ChatCompletionChunk['choices'][number]
    >();
    expectTypeOf<ChatCompletionChunk.Choice.Delta>().toEqualTypeOf<
      ChatCompletionChunk.Choice['delta']
    >();
    expectTypeOf<ChatCompletionChunk.Choice.Delta.ToolCall[] | null | undefined>().toEqualTypeOf<
      D['tool_calls']
    >();
    expectTypeOf<
      ChatCompletionChunk.Choice.Delta.ToolCall.Function | null | undefined
    >().toEqualTypeOf<ChatCompletionChunk.Choice.Delta.ToolCall['function']>();
    expectTypeOf<ChatCompletionChunk.Choice.Delta.FunctionCall | null | undefined>().toEqualTypeOf<
      D['function_call']
    >();
    expectTypeOf<ChatCompletionChunk.Choice.Delta.Audio | null | undefined>().toEqualTypeOf<
      D['audio']
    >();
    expectTypeOf<ChatCompletionChunk.Choice.Logprobs['content']>().toEqualTypeOf<
      ChatCompletionTokenLogprob[] | null
    >();
  });

  test('nested types of completions and messages have the names of the openai package', () => {
    expectTypeOf<ChatCompletion.Choice>().toEqualTypeOf<ChatCompletion['choices'][number]>();
    expectTypeOf<ChatCompletion.Choice.Logprobs | null>().toEqualTypeOf<
      ChatCompletion.Choice['logprobs']
    >();
    expectTypeOf<ChatCompletionMessage.FunctionCall>().toEqualTypeOf<
      NonNullable<ChatCompletionMessage['function_call']>
    >();
    expectTypeOf<ChatCompletionMessage.Annotation[] | undefined>().toEqualTypeOf<
      ChatCompletionMessage['annotations']
    >();
    expectTypeOf<ChatCompletionMessage.Annotation.URLCitation['url']>().toBeString();
    expectTypeOf<ChatCompletionMessageFunctionToolCall.Function>().toEqualTypeOf<
      ChatCompletionMessageFunctionToolCall['function']
    >();
    expectTypeOf<ChatCompletionMessageCustomToolCall.Custom>().toEqualTypeOf<
      ChatCompletionMessageCustomToolCall['custom']
    >();
    expectTypeOf<ChatCompletionTokenLogprob.TopLogprob[]>().toEqualTypeOf<
      ChatCompletionTokenLogprob['top_logprobs']
    >();
    expectTypeOf<CompletionUsage.PromptTokensDetails | undefined>().toEqualTypeOf<
      CompletionUsage['prompt_tokens_details']
    >();
    expectTypeOf<CompletionUsage.CompletionTokensDetails | undefined>().toEqualTypeOf<
      CompletionUsage['completion_tokens_details']
    >();
    expectTypeOf<ParsedChatCompletionMessageToolCall[] | undefined>().toEqualTypeOf<
      ParsedChatCompletionMessage<unknown>['tool_calls']
    >();
    expectTypeOf<ParsedFunction>().toExtend<ChatCompletionMessageFunctionToolCall.Function>();
  });

  test('nested types of requests have the names of the openai package', () => {
    expectTypeOf<ChatCompletionContentPartImage.ImageURL>().toExtend<
      ChatCompletionContentPartImage['image_url']
    >();
    expectTypeOf<ChatCompletionContentPartInputAudio.InputAudio>().toEqualTypeOf<
      ChatCompletionContentPartInputAudio['input_audio']
    >();
    expectTypeOf<ChatCompletionContentPart.File>().toExtend<ChatCompletionContentPart>();
    expectTypeOf<ChatCompletionAssistantMessageParam.Audio>().toEqualTypeOf<{ id: string }>();
    expectTypeOf<ChatCompletionAssistantMessageParam.FunctionCall['name']>().toBeString();
    expectTypeOf<ChatCompletionNamedToolChoice.Function>().toEqualTypeOf<{ name: string }>();
    expectTypeOf<ChatCompletionNamedToolChoiceCustom.Custom>().toEqualTypeOf<{ name: string }>();
    expectTypeOf<ChatCompletionCustomTool.Custom['name']>().toBeString();
    expectTypeOf<ChatCompletionAllowedTools['mode']>().toEqualTypeOf<'auto' | 'required'>();
    expectTypeOf<ChatCompletionCreateParams.Function['name']>().toBeString();
    expectTypeOf<ChatCompletionCreateParams['web_search_options']>().toEqualTypeOf<
      ChatCompletionCreateParams.WebSearchOptions | undefined
    >();
    expectTypeOf<ChatCompletionCreateParams.ChatCompletionCreateParamsStreaming>().toEqualTypeOf<ChatCompletionCreateParamsStreaming>();
    expectTypeOf<ChatCompletionParseParams>().toExtend<ChatCompletionCreateParams>();
    expectTypeOf<ChatCompletionReasoningEffort | undefined>().toEqualTypeOf<
      ChatCompletionCreateParams['reasoning_effort']
    >();
    expectTypeOf<RunnableToolFunction<{ genre: string }>['type']>().toEqualTypeOf<'function'>();
  });

  test('nested types below the client have the names of the openai package, at every level', () => {
    type Ours = OpenAI.Chat.Completions.ChatCompletionChunk.Choice.Delta.ToolCall;
    type Theirs = TheirOpenAI.Chat.Completions.ChatCompletionChunk.Choice.Delta.ToolCall;
    expectTypeOf<Theirs>().toExtend<Ours>();
    expectTypeOf<OpenAI.Chat.ChatCompletionChunk.Choice.Delta>().toEqualTypeOf<ChatCompletionChunk.Choice.Delta>();
    expectTypeOf<OpenAI.Chat.ChatCompletion.Choice>().toEqualTypeOf<ChatCompletion.Choice>();
    expectTypeOf<OpenAI.Chat.ChatCompletionMessage.FunctionCall>().toEqualTypeOf<ChatCompletionMessage.FunctionCall>();
    expectTypeOf<OpenAI.Chat.ChatCompletionCreateParams.Function>().toEqualTypeOf<ChatCompletionCreateParams.Function>();
    expectTypeOf<OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall.Function>().toEqualTypeOf<ChatCompletionMessageFunctionToolCall.Function>();
  });

  test('nested types keep their type parameters', () => {
    expectTypeOf<TranscriptionCreateParams<'srt'>>().toEqualTypeOf<
      RoomTranscriptionCreateParams<'srt'>
    >();
    expectTypeOf<TranscriptionCreateParams.VadConfig['type']>().toEqualTypeOf<'server_vad'>();
  });

  test('nested types are compatible with the types of the openai package', () => {
    expectTypeOf<TheirChunk.Choice.Delta>().toExtend<ChatCompletionChunk.Choice.Delta>();
    expectTypeOf<TheirCompletion.Choice>().toExtend<ChatCompletion.Choice>();
    expectTypeOf<TheirChunk>().toExtend<ChatCompletionChunk>();
    expectTypeOf<TheirCompletion>().toExtend<ChatCompletion>();
  });
});
