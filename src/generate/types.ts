import type { OpenString, WithRequestId } from '../types.ts';
import type { Content, FunctionCall } from './content-types.ts';
import type { HarmCategory } from './params.ts';

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
  citationMetadata?: Record<string, unknown> | undefined;
  groundingMetadata?: Record<string, unknown> | undefined;
  urlContextMetadata?: Record<string, unknown> | undefined;
  logprobsResult?: Record<string, unknown> | undefined;
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
export interface GenerateContentResponse extends WithRequestId, GenerateContentHelpers {
  /** The answers. Missing or empty when the prompt was refused. */
  candidates?: Candidate[] | undefined;
  promptFeedback?: PromptFeedback | undefined;
  usageMetadata?: UsageMetadata | undefined;
  modelVersion?: string | undefined;
  responseId?: string | undefined;
  /** An RFC 3339 time. */
  createTime?: string | undefined;
}
