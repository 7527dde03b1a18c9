import type { PieceOf } from '../streams/protocol.ts';
import type { JsonObject, OpenString, WithRequestId } from '../types.ts';

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
  args?: JsonObject | undefined;
  /** The arguments in pieces, where the model streams them. */
  partialArgs?: PartialArg[] | undefined;
  /** Whether more pieces of this call follow. */
  willContinue?: boolean | undefined;
}

/** The result of a function call. */
export interface FunctionResponse {
  id?: string | undefined;
  name?: string | undefined;
  response?: JsonObject | undefined;
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
  args?: JsonObject | undefined;
}

/** What that tool gave. To be sent back as it came. */
export interface ToolResponse extends Omit<ToolCall, 'args'> {
  response?: JsonObject | undefined;
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
  mediaResolution?: JsonObject | undefined;
}

/** One turn of a conversation. The `content` of a candidate fits as it is. */
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

/** Why a candidate ended. Everything but `STOP` and `MAX_TOKENS` means that something was blocked or failed. */
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

/** Why a prompt was refused. */
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

/** How likely content falls into a category. */
export interface SafetyRating {
  category?: HarmCategory | undefined;
  probability?: OpenString<'NEGLIGIBLE' | 'LOW' | 'MEDIUM' | 'HIGH'> | undefined;
  blocked?: boolean | undefined;
}

/** One of the answers. */
export interface Candidate {
  /** The answer. Missing when it was blocked. */
  content?: Content | undefined;
  /** Why it ended; `undefined` or `null` while a stream goes on. */
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

/** What became of the prompt. */
export interface PromptFeedback {
  /** Why the prompt was refused; `undefined` when it was not. */
  blockReason?: BlockedReason | undefined;
  blockReasonMessage?: string | undefined;
  safetyRatings?: SafetyRating[] | undefined;
}

/** Tokens of one kind of content. */
export interface ModalityTokenCount {
  modality?: OpenString<'TEXT' | 'IMAGE' | 'AUDIO' | 'VIDEO' | 'DOCUMENT'> | undefined;
  tokenCount?: number | undefined;
}

/** How many tokens an answer took. */
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

/** What `text`, `functionCalls` and `blockReason` are read from. */
export interface GenerateContentHelpers {
  /** The text of the first candidate without its thoughts; `undefined` when there is none. */
  readonly text: string | undefined;
  /** The function calls of the first candidate; `undefined` when there are none. */
  readonly functionCalls: FunctionCall[] | undefined;
  /**
   * Why nothing, or not everything, was answered: the reason why the prompt was refused, or the
   * first candidate's finish reason when that names a block. `undefined` when nothing was blocked.
   */
  readonly blockReason: string | undefined;
}

/**
 * The answer of `generate.content()`, and one piece of the answer of `generate.contentStream()`.
 *
 * Fields that the gateway adds beyond these are kept. Keys in snake case, which some proxies send,
 * are renamed to camel case. `text`, `functionCalls` and `blockReason` are getters that do not show
 * in JSON.
 */
export interface GenerateContentResponse
  extends WithRequestId, GenerateContentHelpers, PieceOf<GenerateContentResponse, UsageMetadata> {
  /** The answers. Missing or empty when the prompt was refused. */
  candidates?: Candidate[] | undefined;
  promptFeedback?: PromptFeedback | undefined;
  usageMetadata?: UsageMetadata | undefined;
  modelVersion?: string | undefined;
  responseId?: string | undefined;
  /** An RFC 3339 time. */
  createTime?: string | undefined;
}
