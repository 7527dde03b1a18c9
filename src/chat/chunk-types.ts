import type {
  ChatCompletionAudio,
  ChatCompletionFinishReason,
  ChatCompletionLogprobs,
  CompletionUsage,
} from './types.ts';
import type { OpenString } from '../types.ts';

/** A piece of a tool call. Pieces with the same `index` belong together. */
export interface ChatCompletionChunkToolCall {
  /** Which tool call this is a piece of. Providers need not start at 0. */
  index: number;
  /** Comes with the first piece; later ones may leave it out or send `""`. */
  id?: string | undefined;
  type?: 'function' | 'custom' | undefined;
  function?:
    | {
        /** The next piece of the arguments as JSON text. */
        arguments?: string | undefined;
        name?: string | undefined;
      }
    | undefined;
  custom?:
    | {
        /** The next piece of the input. */
        input?: string | undefined;
        name?: string | undefined;
      }
    | undefined;
}

/** What a chunk adds to a message. */
export interface ChatCompletionChunkDelta {
  /** The next piece of the text. */
  content?: string | null | undefined;
  /** The content as it came, where the provider sends typed parts; `content` has their text. */
  content_parts?: unknown[] | undefined;
  /** The next piece of a refusal. */
  refusal?: string | null | undefined;
  role?: OpenString<'developer' | 'system' | 'user' | 'assistant' | 'tool'> | undefined;
  /** The next piece of the model's thoughts, where the provider shows them. */
  reasoning_content?: string | null | undefined;
  /** The same as `reasoning_content`, in the spelling of other providers. */
  reasoning?: string | null | undefined;
  tool_calls?: ChatCompletionChunkToolCall[] | undefined;
  /** The next piece of a spoken answer. */
  audio?: Partial<ChatCompletionAudio> | undefined;
  /** The older form of `tool_calls`. */
  function_call?: { arguments?: string | undefined; name?: string | undefined } | undefined;
}

/** What a chunk adds to one of the answers. */
export interface ChatCompletionChunkChoice {
  delta: ChatCompletionChunkDelta;
  /** Which answer this belongs to. */
  index: number;
  /** Why the model stopped; `null` while it goes on. */
  finish_reason: ChatCompletionFinishReason | null;
  logprobs?: ChatCompletionLogprobs | null | undefined;
}

/**
 * One piece of a streamed completion.
 *
 * Some have no choices: the first one of some providers, and with `include_usage` the last one, which
 * has only `usage`. So read `chunk.choices[0]?.delta.content`.
 */
export interface ChatCompletionChunk {
  /** The id of the completion; `""` when the gateway gave none. */
  id: string;
  /** What is new. May be empty. */
  choices: ChatCompletionChunkChoice[];
  /** Unix time in seconds; 0 when the gateway gave none. */
  created: number;
  /** The model that answers; it may be the provider's name for it. */
  model: string;
  object: OpenString<'chat.completion.chunk'>;
  service_tier?: OpenString<'auto' | 'default' | 'flex' | 'scale' | 'priority'> | null | undefined;
  system_fingerprint?: string | undefined;
  /** What the review found that `moderation` asked for. */
  moderation?: { input?: unknown; output?: unknown } | null | undefined;
  /** The token usage so far; most providers send it once, at the end. */
  usage?: CompletionUsage | null | undefined;
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionChunk {
  type Choice = ChatCompletionChunkChoice;
  namespace Choice {
    type Delta = ChatCompletionChunkDelta;
    namespace Delta {
      type Audio = Partial<ChatCompletionAudio>;
      type FunctionCall = NonNullable<ChatCompletionChunkDelta['function_call']>;
      type ToolCall = ChatCompletionChunkToolCall;
      namespace ToolCall {
        type Function = NonNullable<ChatCompletionChunkToolCall['function']>;
      }
    }
    type Logprobs = ChatCompletionLogprobs;
  }
}
