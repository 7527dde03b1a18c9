/** Types of tool runs, under the names that code for `openai` uses. */
import type {
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
} from '../../resources/chat/runs/run-tools.ts';

/** Parameters with a `toolContext`, which is required. */
export type ChatCompletionToolRunnerParamsWithContext<
  FunctionsArgs extends readonly unknown[],
  ToolContext,
> = ChatCompletionToolRunnerParams<FunctionsArgs, ToolContext> & { toolContext: ToolContext };

/** Parameters without a `toolContext`. */
export type ChatCompletionToolRunnerParamsWithoutContext<FunctionsArgs extends readonly unknown[]> =
  ChatCompletionToolRunnerParams<FunctionsArgs, never>;

/** Parameters with a `toolContext`, which is required. */
export type ChatCompletionStreamingToolRunnerParamsWithContext<
  FunctionsArgs extends readonly unknown[],
  ToolContext,
> = ChatCompletionStreamingToolRunnerParams<FunctionsArgs, ToolContext> & {
  toolContext: ToolContext;
};

/** Parameters without a `toolContext`. */
export type ChatCompletionStreamingToolRunnerParamsWithoutContext<
  FunctionsArgs extends readonly unknown[],
> = ChatCompletionStreamingToolRunnerParams<FunctionsArgs, never>;
