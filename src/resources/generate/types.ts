import type { PieceOf } from '../../streams/protocol.ts';
import type { JsonObject, OpenString, WithRequestId } from '../../types.ts';

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

/** A piece of a function argument, if the model streams arguments. */
export interface PartialArg {
  /** Position of the value as a JSON path such as `$.city` or `$.stops[0].name`. */
  jsonPath?: string | undefined;
  stringValue?: string | undefined;
  numberValue?: number | undefined;
  boolValue?: boolean | undefined;
  nullValue?: OpenString<'NULL_VALUE'> | null | undefined;
  /** `true` if more text of the same string follows. */
  willContinue?: boolean | undefined;
}

/** A function call by the model. */
export interface FunctionCall {
  /** Use it as `id` of the result, if the provider sends one. */
  id?: string | undefined;
  name?: string | undefined;
  args?: JsonObject | undefined;
  /** The arguments in pieces, if the model streams them. */
  partialArgs?: PartialArg[] | undefined;
  /** `true` if more pieces of this call follow. */
  willContinue?: boolean | undefined;
}

/** The result of a function call. */
export interface FunctionResponse {
  id?: string | undefined;
  name?: string | undefined;
  response?: JsonObject | undefined;
  /** Media of the result. */
  parts?: FunctionResponsePart[] | undefined;
  /** `true` if more results of the same call follow. */
  willContinue?: boolean | undefined;
  scheduling?: OpenString<'SILENT' | 'WHEN_IDLE' | 'INTERRUPT'> | undefined;
}

/** Media in the result of a function call. */
export interface FunctionResponsePart {
  inlineData?: InlineData | undefined;
  fileData?: FileData | undefined;
}

/** A call of a server-side tool of the provider. Send it back unchanged. */
export interface ToolCall {
  id?: string | undefined;
  toolType?: OpenString<'GOOGLE_SEARCH_WEB' | 'URL_CONTEXT' | 'FILE_SEARCH'> | undefined;
  args?: JsonObject | undefined;
}

/** The result of a server-side tool. Send it back unchanged. */
export interface ToolResponse extends Omit<ToolCall, 'args'> {
  response?: JsonObject | undefined;
}

/** Code that the model wrote and ran. */
export interface ExecutableCode {
  /** The result has the same id. */
  id?: string | undefined;
  code?: string | undefined;
  language?: OpenString<'PYTHON'> | undefined;
}

/** The result of executed code. */
export interface CodeExecutionResult {
  /** The id of the code. */
  id?: string | undefined;
  outcome?: OpenString<'OUTCOME_OK' | 'OUTCOME_FAILED' | 'OUTCOME_DEADLINE_EXCEEDED'> | undefined;
  output?: string | undefined;
}

/** Selects a section of a video. */
export interface VideoMetadata {
  /** For example `"3.5s"`. */
  startOffset?: string | undefined;
  endOffset?: string | undefined;
  /** Frames per second. */
  fps?: number | undefined;
}

/** A part of content. Usually exactly one of the data fields is set. */
export interface Part {
  text?: string | undefined;
  /** `true` if `text` is a thought of the model and not part of its response. */
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
  /** Level of detail that the model processes, for example `{ level: "MEDIA_RESOLUTION_HIGH" }`. */
  mediaResolution?: JsonObject | undefined;
}

/** A turn of a conversation. The `content` of a candidate can be used unchanged. */
export interface Content {
  role?: OpenString<'user' | 'model' | 'function'> | undefined;
  parts?: Part[] | undefined;
}

/** A category of harmful content. */
export type HarmCategory = OpenString<
  | 'HARM_CATEGORY_HARASSMENT'
  | 'HARM_CATEGORY_HATE_SPEECH'
  | 'HARM_CATEGORY_SEXUALLY_EXPLICIT'
  | 'HARM_CATEGORY_DANGEROUS_CONTENT'
  | 'HARM_CATEGORY_CIVIC_INTEGRITY'
>;

/**
 * The reason a candidate ended. All except `STOP` and `MAX_TOKENS` mean that content was blocked or
 * generation failed.
 */
export type FinishReason = OpenString<
  | 'FINISH_REASON_UNSPECIFIED'
  | 'STOP'
  | 'MAX_TOKENS'
  | 'SAFETY'
  | 'RECITATION'
  | 'LANGUAGE'
  | 'OTHER'
  | 'BLOCKLIST'
  | 'PROHIBITED_CONTENT'
  | 'SPII'
  | 'MALFORMED_FUNCTION_CALL'
  | 'UNEXPECTED_TOOL_CALL'
  | 'IMAGE_SAFETY'
  | 'IMAGE_PROHIBITED_CONTENT'
  | 'NO_IMAGE'
>;

/** The reason a prompt was blocked. */
export type BlockedReason = OpenString<
  | 'BLOCKED_REASON_UNSPECIFIED'
  | 'SAFETY'
  | 'OTHER'
  | 'BLOCKLIST'
  | 'PROHIBITED_CONTENT'
  | 'IMAGE_SAFETY'
  | 'MODEL_ARMOR'
  | 'JAILBREAK'
>;

/** The probability that content belongs to a category. */
export interface SafetyRating {
  category?: HarmCategory | undefined;
  probability?: OpenString<'NEGLIGIBLE' | 'LOW' | 'MEDIUM' | 'HIGH'> | undefined;
  blocked?: boolean | undefined;
}

/** One of the generated candidates. */
export interface Candidate {
  /** The content. Missing if it was blocked. */
  content?: Content | undefined;
  /** The finish reason; `undefined` or `null` while a stream continues. */
  finishReason?: FinishReason | null | undefined;
  finishMessage?: string | undefined;
  index?: number | undefined;
  safetyRatings?: SafetyRating[] | undefined;
  citationMetadata?: JsonObject | undefined;
  groundingMetadata?: JsonObject | undefined;
  urlContextMetadata?: JsonObject | undefined;
  logprobsResult?: JsonObject | undefined;
  avgLogprobs?: number | undefined;
  tokenCount?: number | undefined;
}

/** Feedback on the prompt. */
export interface PromptFeedback {
  /** The reason the prompt was blocked; `undefined` if it was not. */
  blockReason?: BlockedReason | undefined;
  blockReasonMessage?: string | undefined;
  safetyRatings?: SafetyRating[] | undefined;
}

/** Tokens of one kind of content. */
export interface ModalityTokenCount {
  modality?: OpenString<'TEXT' | 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT'> | undefined;
  tokenCount?: number | undefined;
}

/** Token usage of a response. */
export interface UsageMetadata {
  promptTokenCount?: number | undefined;
  candidatesTokenCount?: number | undefined;
  totalTokenCount?: number | undefined;
  cachedContentTokenCount?: number | undefined;
  thoughtsTokenCount?: number | undefined;
  toolUsePromptTokenCount?: number | undefined;
  promptTokensDetails?: ModalityTokenCount[] | undefined;
  candidatesTokensDetails?: ModalityTokenCount[] | undefined;
  cacheTokensDetails?: ModalityTokenCount[] | undefined;
  toolUsePromptTokensDetails?: ModalityTokenCount[] | undefined;
}

/** Getters of responses. */
export interface GenerateContentHelpers {
  /** The text of the first candidate without thoughts; `undefined` if there is none. */
  readonly text: string | undefined;
  /** The function calls of the first candidate; `undefined` if there are none. */
  readonly functionCalls: FunctionCall[] | undefined;
  /**
   * The reason content is missing or incomplete: the reason the prompt was blocked, or the first candidate's
   * finish reason if that means a block. `undefined` if nothing was blocked.
   */
  readonly blockReason: string | undefined;
}

/**
 * The response of `generate.content()`, or a piece of the stream of `generate.contentStream()`.
 *
 * Additional fields of the gateway are kept. Snake-case keys, which some proxies send, are renamed to camel
 * case. `text`, `functionCalls` and `blockReason` are getters that are absent from JSON.
 */
export interface GenerateContentResponse
  extends WithRequestId, GenerateContentHelpers, PieceOf<GenerateContentResponse, UsageMetadata> {
  /** The candidates. Missing or empty if the prompt was blocked. */
  candidates?: Candidate[] | undefined;
  promptFeedback?: PromptFeedback | undefined;
  usageMetadata?: UsageMetadata | undefined;
  modelVersion?: string | undefined;
  responseId?: string | undefined;
  /** An RFC 3339 time. */
  createTime?: string | undefined;
}
