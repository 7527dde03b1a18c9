import type { OpenString } from '../types.ts';

/** Marks the end of what the provider may keep in its cache for similar prompts. */
export interface ChatCompletionPromptCacheBreakpoint {
  mode: 'explicit';
  /** How long it is kept at least; otherwise as `prompt_cache_options` says. */
  ttl?: OpenString<'30m' | '12h'> | undefined;
}

/** What every part of a message may carry. */
interface CacheablePart {
  prompt_cache_breakpoint?: ChatCompletionPromptCacheBreakpoint | undefined;
}

/** Text in a message. */
export interface ChatCompletionContentPartText extends CacheablePart {
  type: 'text';
  text: string;
}

/** Where an image is, and how closely the model looks at it. */
export interface ChatCompletionImageURL {
  /** An `https:` URL that the provider can fetch, or a `data:` URL with the image itself. */
  url: string;
  /** How closely the model looks; more detail costs more tokens. The model decides when left out. */
  detail?: OpenString<'auto' | 'low' | 'high'> | undefined;
}

/** An image in a user message. */
export interface ChatCompletionContentPartImage extends CacheablePart {
  type: 'image_url';
  /** A URL with options, or the URL alone. Not every model takes the short form. */
  image_url: ChatCompletionImageURL | string;
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionContentPartImage {
  type ImageURL = ChatCompletionImageURL;
}

/** Sound in a user message, as base64. */
export interface ChatCompletionContentPartInputAudio extends CacheablePart {
  type: 'input_audio';
  input_audio: {
    /** The bytes in base64, without a `data:` prefix. */
    data: string;
    /** The encoding of the bytes. */
    format: OpenString<'wav' | 'mp3'>;
  };
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionContentPartInputAudio {
  type InputAudio = ChatCompletionContentPartInputAudio['input_audio'];
}

/** A document in a user message: its bytes, or the id of an uploaded file. */
export interface ChatCompletionContentPartFile extends CacheablePart {
  type: 'file';
  file: {
    filename?: string | undefined;
    /** The document as a `data:` URL or in base64; which of them depends on the model. */
    file_data?: string | undefined;
    file_id?: string | undefined;
  };
}

/** A video in a user message. Only few models take one. */
export interface ChatCompletionContentPartVideo {
  type: 'video_url';
  video_url: {
    /** An `https:` URL that the provider can fetch. */
    url: string;
  };
}

/** Words with which the model refused, sent back as history. */
export interface ChatCompletionContentPartRefusal {
  type: 'refusal';
  refusal: string;
}

/** One piece of a user message. */
export type ChatCompletionContentPart =
  | ChatCompletionContentPartText
  | ChatCompletionContentPartImage
  | ChatCompletionContentPartInputAudio
  | ChatCompletionContentPartFile
  | ChatCompletionContentPartVideo;

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionContentPart {
  export { type ChatCompletionContentPartFile as File };
}

/** Name and arguments of a function that the model wants called. */
export interface ChatCompletionFunctionCall {
  /** The arguments as JSON text. Models may write invalid JSON: check before use. */
  arguments: string;
  /** The name of the function. */
  name: string;
}

/** The model wants a function called. Answer it with a message of role `tool`. */
export interface ChatCompletionMessageFunctionToolCall {
  /** Goes into `tool_call_id` of the answer. */
  id: string;
  type: 'function';
  function: ChatCompletionFunctionCall;
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionMessageFunctionToolCall {
  export { type ChatCompletionFunctionCall as Function };
}

/** The model wants a custom tool called. */
export interface ChatCompletionMessageCustomToolCall {
  /** Goes into `tool_call_id` of the answer. */
  id: string;
  type: 'custom';
  custom: {
    /** Free text, as the model wrote it. */
    input: string;
    name: string;
  };
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionMessageCustomToolCall {
  type Custom = ChatCompletionMessageCustomToolCall['custom'];
}

/** A tool call in an answer, or in the history of a request. */
export type ChatCompletionMessageToolCall =
  | ChatCompletionMessageFunctionToolCall
  | ChatCompletionMessageCustomToolCall;

/** Instructions of the developer; newer models take them in place of a system message. */
export interface ChatCompletionDeveloperMessageParam {
  role: 'developer';
  content: string | ChatCompletionContentPartText[];
  /** Tells participants of the same role apart. */
  name?: string | undefined;
}

/** Instructions that hold for the whole conversation. */
export interface ChatCompletionSystemMessageParam {
  role: 'system';
  content: string | ChatCompletionContentPartText[];
  /** Tells participants of the same role apart. */
  name?: string | undefined;
}

/** What the user says or shows. */
export interface ChatCompletionUserMessageParam {
  role: 'user';
  content: string | ChatCompletionContentPart[];
  /** Tells participants of the same role apart. */
  name?: string | undefined;
}

/** An earlier answer of the model. A `message` of a completion fits as it is. */
export interface ChatCompletionAssistantMessageParam {
  role: 'assistant';
  /** May be left out or `null` only next to `tool_calls` or `function_call`. */
  content?:
    | string
    | (ChatCompletionContentPartText | ChatCompletionContentPartRefusal)[]
    | null
    | undefined;
  /** Tells participants of the same role apart. */
  name?: string | undefined;
  refusal?: string | null | undefined;
  tool_calls?: ChatCompletionMessageToolCall[] | undefined;
  /** An earlier spoken answer, by its id. */
  audio?: { id: string } | null | undefined;
  /** The older form of `tool_calls`. */
  function_call?: ChatCompletionFunctionCall | null | undefined;
  /** The model's earlier thoughts; some reasoning models want them back. */
  reasoning_content?: string | null | undefined;
  /** The same as `reasoning_content`, in the spelling of other providers. */
  reasoning?: string | null | undefined;
  /** Asks the model to go on writing this message. Only few providers know it. */
  prefix?: boolean | undefined;
}

/** The parts under the names that code for `openai` uses. */
export declare namespace ChatCompletionAssistantMessageParam {
  type Audio = NonNullable<ChatCompletionAssistantMessageParam['audio']>;
  type FunctionCall = ChatCompletionFunctionCall;
}

/** The result of a tool call. */
export interface ChatCompletionToolMessageParam {
  role: 'tool';
  content: string | ChatCompletionContentPartText[];
  /** The `id` of the tool call that this answers. */
  tool_call_id: string;
}

/** The result of a function call, in the older form. */
export interface ChatCompletionFunctionMessageParam {
  role: 'function';
  content: string | null;
  /** The name of the function. */
  name: string;
}

/** One message of a conversation. */
export type ChatCompletionMessageParam =
  | ChatCompletionDeveloperMessageParam
  | ChatCompletionSystemMessageParam
  | ChatCompletionUserMessageParam
  | ChatCompletionAssistantMessageParam
  | ChatCompletionToolMessageParam
  | ChatCompletionFunctionMessageParam;

/** The roles that a message can have. */
export type ChatCompletionRole = ChatCompletionMessageParam['role'];
