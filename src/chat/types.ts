import type { ChatCompletionFunctionCall, ChatCompletionMessageToolCall } from './messages.ts';
import type { OpenString, WithRequestId } from '../types.ts';

/** Why a model stopped writing. Providers may send other words. */
export type ChatCompletionFinishReason = OpenString<
  'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'
>;

/** Of which kinds the prompt tokens were. */
export interface CompletionUsagePromptTokensDetails {
  audio_tokens?: number | undefined;
  cache_write_tokens?: number | undefined;
  /** Read from the provider's cache; usually cheaper. */
  cached_tokens?: number | undefined;
  image_tokens?: number | undefined;
  text_tokens?: number | undefined;
}

/** Of which kinds the completion tokens were. */
export interface CompletionUsageCompletionTokensDetails {
  accepted_prediction_tokens?: number | undefined;
  audio_tokens?: number | undefined;
  /** Spent on thinking. Some providers do not count them in `completion_tokens`. */
  reasoning_tokens?: number | undefined;
  rejected_prediction_tokens?: number | undefined;
  text_tokens?: number | undefined;
}

/** How many tokens an answer took. */
export interface CompletionUsage {
  completion_tokens: number;
  prompt_tokens: number;
  /** Need not be the sum of the two: some providers count reasoning only here. */
  total_tokens: number;
  completion_tokens_details?: CompletionUsageCompletionTokensDetails | undefined;
  prompt_tokens_details?: CompletionUsagePromptTokensDetails | undefined;
}

/** The parts under the names that code for `openai` uses. */
export declare namespace CompletionUsage {
  type CompletionTokensDetails = CompletionUsageCompletionTokensDetails;
  type PromptTokensDetails = CompletionUsagePromptTokensDetails;
}

/** One alternative to a token. */
export interface ChatCompletionTokenTopLogprob {
  token: string;
  /** The token as UTF-8 bytes; one character can span several tokens. */
  bytes: number[] | null;
  logprob: number;
}

/** A token and how likely it was. */
export interface ChatCompletionTokenLogprob extends ChatCompletionTokenTopLogprob {
  /** The most likely tokens at this place. */
  top_logprobs: ChatCompletionTokenTopLogprob[];
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionTokenLogprob {
  type TopLogprob = ChatCompletionTokenTopLogprob;
}

/** Log probabilities of the tokens of one choice. */
export interface ChatCompletionLogprobs {
  content: ChatCompletionTokenLogprob[] | null;
  refusal: ChatCompletionTokenLogprob[] | null;
}

/** A web page that the answer cites, or a file that was read for it. */
export interface ChatCompletionAnnotation {
  type: OpenString<'url_citation' | 'file'>;
  /** Where `type` is `"url_citation"`; missing otherwise. */
  url_citation: {
    /** Where the citation ends in the text. */
    end_index: number;
    /** Where the citation starts in the text. */
    start_index: number;
    title: string;
    url: string;
  };
  /** Where `type` is `"file"`: what the provider read, so that it need not be read again. */
  file?: { hash?: string | undefined; name?: string | undefined; content?: unknown } | undefined;
}

/** A spoken answer. */
export interface ChatCompletionAudio {
  id: string;
  /** The sound in base64, in the format that was asked for. */
  data: string;
  /** Unix time in seconds after which `id` can no longer be used in a request. */
  expires_at: number;
  /** What is said. */
  transcript: string;
}

/** The answer of the model. It can be put into `messages` of the next request as it is. */
export interface ChatCompletionMessage {
  role: 'assistant';
  /** The text, or `null` when there is none, for example next to tool calls. */
  content: string | null;
  /** The content as it came, where the provider sends typed parts; `content` has their text. */
  content_parts?: unknown[] | undefined;
  /** The words of a refusal, or `null`. */
  refusal: string | null;
  /** What the model thought, where the provider shows it. */
  reasoning_content?: string | null | undefined;
  /** The same as `reasoning_content`, in the spelling of other providers. */
  reasoning?: string | null | undefined;
  /** Tools that the model wants called. */
  tool_calls?: ChatCompletionMessageToolCall[] | undefined;
  /** Pages that the text cites. */
  annotations?: ChatCompletionAnnotation[] | undefined;
  /** The spoken answer. */
  audio?: ChatCompletionAudio | null | undefined;
  /** The older form of `tool_calls`. */
  function_call?: ChatCompletionFunctionCall | null | undefined;
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionMessage {
  type Annotation = ChatCompletionAnnotation;
  namespace Annotation {
    type URLCitation = ChatCompletionAnnotation['url_citation'];
  }
  type FunctionCall = ChatCompletionFunctionCall;
}

/** One of the answers of a completion. */
export interface ChatCompletionChoice {
  /** Why the model stopped; `""` when the gateway gave no reason. */
  finish_reason: ChatCompletionFinishReason;
  /** The position among the choices. */
  index: number;
  logprobs: ChatCompletionLogprobs | null;
  message: ChatCompletionMessage;
}

/**
 * The answer of `chat.completions.create()`.
 *
 * Fields that the gateway adds beyond these are kept.
 */
export interface ChatCompletion extends WithRequestId {
  /** The id of the completion; `""` when the gateway gave none. */
  id: string;
  /** The answers. Empty when everything was filtered. */
  choices: ChatCompletionChoice[];
  /** Unix time in seconds; 0 when the gateway gave none. */
  created: number;
  /** The model that answered; it may be the provider's name for it. */
  model: string;
  object: OpenString<'chat.completion'>;
  service_tier?: OpenString<'auto' | 'default' | 'flex' | 'scale' | 'priority'> | null | undefined;
  system_fingerprint?: string | undefined;
  /** What the review found that `moderation` asked for. */
  moderation?: { input?: unknown; output?: unknown } | null | undefined;
  /** The token usage; `undefined` when the gateway gave none. */
  usage?: CompletionUsage | undefined;
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletion {
  type Choice = ChatCompletionChoice;
  namespace Choice {
    type Logprobs = ChatCompletionLogprobs;
  }
}
