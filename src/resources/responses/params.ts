import type { NoOptions } from '../../options/options.ts';
import type {
  ChatCompletionFunctionTool,
  ResponseFormatJSONSchema,
  ResponseFunctionTool,
  ResponseTextJSONSchema,
} from '../../structured/types.ts';
import type { JsonObject, Metadata, OpenString } from '../../types.ts';
import type { ResponseInputItem } from './items.ts';

/** A tool whose input is plain text, or text in a grammar. */
export interface ResponseCustomTool {
  type: 'custom';
  name: string;
  description?: string | undefined;
  format?: JsonObject | undefined;
}

/** A tool that the provider runs. Its other fields depend on `type`. */
export interface ResponseBuiltInTool {
  type:
    | 'web_search'
    | 'web_search_2025_08_26'
    | 'web_search_preview'
    | 'web_search_preview_2025_03_11'
    | 'file_search'
    | 'code_interpreter'
    | 'image_generation'
    | 'mcp'
    | 'computer'
    | 'computer_use_preview'
    | 'local_shell'
    | 'shell'
    | 'apply_patch'
    | 'namespace'
    | 'tool_search'
    | 'programmatic_tool_calling';
  [field: string]: unknown;
}

/** A tool that the model may use. Functions of `tool()` are sent in the format of this API. */
export type ResponseTool =
  | ResponseFunctionTool
  | ResponseCustomTool
  | ResponseBuiltInTool
  | ChatCompletionFunctionTool;

/** Which tool the model must use: a mode, or the tool by its type and name. */
export type ResponseToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { type: string; name?: string | undefined; [field: string]: unknown };

/** The format of the text. One of `responseFormat()` is sent as `ResponseTextJSONSchema`. */
export type ResponseTextFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | ResponseTextJSONSchema
  | ResponseFormatJSONSchema;

/** Settings of the text. */
export interface ResponseTextConfig {
  format?: ResponseTextFormat | undefined;
  verbosity?: OpenString<'low' | 'medium' | 'high'> | null | undefined;
}

/** Settings of the model's reasoning. */
export interface ResponseReasoning {
  effort?:
    | OpenString<'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'>
    | null
    | undefined;
  /** Earlier reasoning that the model uses. Default: chosen by the model. */
  context?: OpenString<'auto' | 'current_turn' | 'all_turns'> | null | undefined;
  /** The mode of the reasoning. */
  mode?: OpenString<'standard' | 'pro'> | undefined;
  /** The older name of `summary`. */
  generate_summary?: OpenString<'auto' | 'concise' | 'detailed'> | null | undefined;
  /** Requests summaries of the reasoning. */
  summary?: OpenString<'auto' | 'concise' | 'detailed'> | null | undefined;
}

/**
 * Parameters of `responses.create()`. `model` and `input` are required, unless `prompt` refers to a stored
 * prompt. Send other fields with the option `extraBody`.
 */
export interface ResponseCreateParamsBase extends NoOptions {
  /** A model id, as returned by `models.list()`. */
  model?: string | undefined;
  /** Text, or a list of messages, items of earlier responses and results of tools. */
  input?: string | readonly ResponseInputItem[] | undefined;
  /** The system message. It isn't kept with `previous_response_id`. */
  instructions?: string | null | undefined;
  /** Maximum number of generated tokens, with reasoning. */
  max_output_tokens?: number | null | undefined;
  /** Maximum number of calls of built-in tools. */
  max_tool_calls?: number | null | undefined;
  /** Format of the text. */
  text?: ResponseTextConfig | null | undefined;
  tools?: readonly ResponseTool[] | null | undefined;
  tool_choice?: ResponseToolChoice | null | undefined;
  /** @defaultValue true */
  parallel_tool_calls?: boolean | null | undefined;
  reasoning?: ResponseReasoning | null | undefined;
  /** Further data in the response. */
  include?:
    | readonly OpenString<
        | 'reasoning.encrypted_content'
        | 'message.output_text.logprobs'
        | 'message.input_image.image_url'
        | 'web_search_call.results'
        | 'web_search_call.action.sources'
        | 'file_search_call.results'
        | 'code_interpreter_call.outputs'
        | 'computer_call_output.output.image_url'
      >[]
    | null
    | undefined;
  /** Continues a response that the provider stored. Gateways that route to several keys may not find it. */
  previous_response_id?: string | null | undefined;
  conversation?: string | { id: string } | null | undefined;
  /** Whether the provider stores the response. */
  store?: boolean | null | undefined;
  /** Returns at once, with `status: "queued"`. Read the response later: `get('/v1/responses/<id>')`. */
  background?: boolean | null | undefined;
  /** `true` returns a stream of events. */
  stream?: boolean | null | undefined;
  stream_options?: { include_obfuscation?: boolean | undefined } | null | undefined;
  /** Sampling temperature, 0 to 2. */
  temperature?: number | null | undefined;
  /** Nucleus sampling: only tokens within this probability mass, 0 to 1. */
  top_p?: number | null | undefined;
  /** Number of alternatives per token, 0 to 20. */
  top_logprobs?: number | null | undefined;
  truncation?: OpenString<'auto' | 'disabled'> | null | undefined;
  /** A prompt that the provider stored. */
  prompt?:
    | { id: string; version?: string | null | undefined; variables?: JsonObject | null | undefined }
    | null
    | undefined;
  /** Requests with the same key are routed to the same cache. */
  prompt_cache_key?: string | null | undefined;
  prompt_cache_retention?: OpenString<'in_memory' | '24h'> | null | undefined;
  prompt_cache_options?: JsonObject | null | undefined;
  context_management?: readonly JsonObject[] | null | undefined;
  moderation?: JsonObject | null | undefined;
  service_tier?: OpenString<'auto' | 'default' | 'flex' | 'scale' | 'priority'> | null | undefined;
  /** Identifies your user to the provider, who detects abuse. Send a hash. */
  safety_identifier?: string | null | undefined;
  metadata?: Metadata | null | undefined;
  user?: string | undefined;
}

export interface ResponseCreateParamsNonStreaming extends ResponseCreateParamsBase {
  stream?: false | null | undefined;
}

export interface ResponseCreateParamsStreaming extends ResponseCreateParamsBase {
  stream: true;
}

export type ResponseCreateParams = ResponseCreateParamsNonStreaming | ResponseCreateParamsStreaming;
