import type { OpenString } from '../types.ts';

/** Bytes within a part, in base64. */
export interface InlineData {
  /** The MIME type, for example `"image/png"`. */
  mimeType?: string | undefined;
  /** The bytes in base64. */
  data?: string | undefined;
  displayName?: string | undefined;
}

/** A file that the provider can fetch. */
export interface FileData {
  mimeType?: string | undefined;
  fileUri?: string | undefined;
  displayName?: string | undefined;
}

/** A piece of a function argument, where the model streams its arguments. */
export interface PartialArg {
  /** Where the value belongs, as a JSON path such as `$.city` or `$.stops[0].name`. */
  jsonPath?: string | undefined;
  stringValue?: string | undefined;
  numberValue?: number | undefined;
  boolValue?: boolean | undefined;
  nullValue?: OpenString<'NULL_VALUE'> | null | undefined;
  /** Whether more text of the same string follows. */
  willContinue?: boolean | undefined;
}

/** The model wants a function called. */
export interface FunctionCall {
  /** Goes into the `id` of the answer, where the provider gives one. */
  id?: string | undefined;
  name?: string | undefined;
  args?: Record<string, unknown> | undefined;
  /** The arguments in pieces, where the model streams them. */
  partialArgs?: PartialArg[] | undefined;
  /** Whether more pieces of this call follow. */
  willContinue?: boolean | undefined;
}

/** The result of a function call. */
export interface FunctionResponse {
  id?: string | undefined;
  name?: string | undefined;
  response?: Record<string, unknown> | undefined;
  /** Media of the result. */
  parts?: FunctionResponsePart[] | undefined;
  /** Whether more results of the same call follow. */
  willContinue?: boolean | undefined;
  scheduling?: OpenString<'SILENT' | 'WHEN_IDLE' | 'INTERRUPT'> | undefined;
}

/** A medium within the result of a function call. */
export interface FunctionResponsePart {
  inlineData?: InlineData | undefined;
  fileData?: FileData | undefined;
}

/** The provider called a tool of its own. To be sent back as it came. */
export interface ToolCall {
  id?: string | undefined;
  toolType?: OpenString<'GOOGLE_SEARCH_WEB' | 'URL_CONTEXT' | 'FILE_SEARCH'> | undefined;
  args?: Record<string, unknown> | undefined;
}

/** What that tool gave. To be sent back as it came. */
export interface ToolResponse extends Omit<ToolCall, 'args'> {
  response?: Record<string, unknown> | undefined;
}

/** Code that the model wrote and ran. */
export interface ExecutableCode {
  /** Stands in its result, too. */
  id?: string | undefined;
  code?: string | undefined;
  language?: OpenString<'PYTHON'> | undefined;
}

/** What that code gave. */
export interface CodeExecutionResult {
  /** That of the code. */
  id?: string | undefined;
  outcome?: OpenString<'OUTCOME_OK' | 'OUTCOME_FAILED' | 'OUTCOME_DEADLINE_EXCEEDED'> | undefined;
  output?: string | undefined;
}

/** Which piece of a video is meant. */
export interface VideoMetadata {
  /** For example `"3.5s"`. */
  startOffset?: string | undefined;
  endOffset?: string | undefined;
  /** Frames per second. */
  fps?: number | undefined;
}

/** One piece of content: usually exactly one of the fields that carry data is set. */
export interface Part {
  text?: string | undefined;
  /** Whether `text` is a thought of the model and not part of its answer. */
  thought?: boolean | undefined;
  /** Must be sent back on the same part in the next request. */
  thoughtSignature?: string | undefined;
  inlineData?: InlineData | undefined;
  fileData?: FileData | undefined;
  functionCall?: FunctionCall | undefined;
  functionResponse?: FunctionResponse | undefined;
  executableCode?: ExecutableCode | undefined;
  codeExecutionResult?: CodeExecutionResult | undefined;
  toolCall?: ToolCall | undefined;
  toolResponse?: ToolResponse | undefined;
  videoMetadata?: VideoMetadata | undefined;
  /** How closely the model looks at the medium, for example `{ level: "MEDIA_RESOLUTION_HIGH" }`. */
  mediaResolution?: Record<string, unknown> | undefined;
}

/** One turn of a conversation. The `content` of a candidate fits as it is. */
export interface Content {
  role?: OpenString<'user' | 'model' | 'function'> | undefined;
  parts?: Part[] | undefined;
}
