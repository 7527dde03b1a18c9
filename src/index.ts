/**
 * The client, its errors, ledgers in memory, and the types of all operations.
 *
 * @module model-gateway
 */
export { Gateway, Gateway as OpenAI, Gateway as default } from './openai/gateway.ts';
export { asOpenAI } from './openai/as-openai.ts';
export {
  APIError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  InternalServerError,
  NotFoundError,
  PaymentRequiredError,
  PermissionDeniedError,
  RateLimitError,
  RequestTooLargeError,
  UnprocessableEntityError,
  APIConnectionError,
  APIConnectionTimeoutError,
  APIUserAbortError,
  UnexpectedRedirectError,
  UnexpectedResponseError,
  UnsupportedByGatewayError,
} from './errors/api-errors.ts';
export {
  ContentExpiredError,
  ContentNotReadyError,
  ImageSubmitUnknownError,
  VideoSubmitUnknownError,
} from './errors/operation-errors.ts';
export { defineGateway } from './gateways/define.ts';
export { liteLLM } from './gateways/litellm.ts';
export { newApi } from './gateways/new-api.ts';
export { openAICompatible } from './gateways/openai.ts';
export { openRouter } from './gateways/openrouter.ts';
export type {
  AccountRules,
  DefinedGateway,
  GatewayName,
  GatewayProfile,
  RequestRules,
  UsageLogEntry,
  VideoRules,
} from './gateways/profile.ts';
export { UsageLogLimitError, BudgetError } from './account/errors.ts';
export { PartialEmbeddingsError, type FailedEmbeddings } from './embeddings/types.ts';
export {
  GatewayError,
  GatewayError as OpenAIError,
  InvalidInputError,
  type AttemptEvidence,
  type Evidence,
  type Outcome,
  type Phase,
} from './errors/gateway-error.ts';
export {
  ContentFilterFinishReasonError,
  InvalidOutputError,
  LengthFinishReasonError,
  OutputError,
} from './chat/errors.ts';
export {
  StreamError,
  StreamTimeoutError,
  StreamTruncatedError,
  type StreamVerdict,
} from './streams/errors.ts';
export {
  ImageFailedError,
  type ImageFailedErrorInit,
  ImageWaitAbortedError,
  ImageWaitError,
  type ImageWaitSummary,
  ImageWaitTimeoutError,
} from './images/errors.ts';
export type {
  ImageRequestOptions,
  ImageWaitOptions,
  ImageWaitState,
  ImageWaitStep,
} from './images/wait-options.ts';
export { LedgerError } from './tasks/errors.ts';
export {
  VideoFailedError,
  VideoSubmitResponseError,
  VideoWaitAbortedError,
  VideoWaitError,
  VideoWaitTimeoutError,
  type VideoWaitSummary,
} from './videos/errors.ts';
export { usageOf, type AnswerUsage } from './answers/usage.ts';
export { endpoints } from './endpoints.ts';
export type { BodyKind, ChargeClass, Endpoint, Operation, ResponseKind } from './endpoints.ts';
export {
  toStreamingFile,
  type StreamingFileOptions,
  toFile,
  type ToFileInput,
} from './uploads/to-file.ts';
export { GatewayPromise, GatewayPromise as APIPromise, type WithResponse } from './http/promise.ts';
export type { ManyOptions, ManyProgress } from './many.ts';
export type {
  HTTPMethod,
  RawRequestOptions,
  RouteRequest,
  StreamedRequestOptions,
} from './http/request.ts';
export type * from './options.ts';
export type { GatewayOptions as ClientOptions } from './options.ts';
export type { Account } from './account/account.ts';
export type { ChatCompletionStreamParams } from './chat/chat.ts';
export type {
  Audio,
  Chat,
  Completions,
  Embeddings,
  Images,
  Models,
  Speech,
  Transcriptions,
  Translations,
  Videos,
} from './openai/gateway.ts';
export * from './chat/runs/run-tools.ts';
export type { EmbeddingsCreateManyOptions, EmbeddingsProgress } from './embeddings/operations.ts';
export type {
  GenerateToolRun,
  GenerateToolRunOptions,
  GenerateToolRunParams,
} from './generate/operations.ts';
export type { Generate } from './generate/generate.ts';
export type { ImagesGenerateManyOptions, ImagesGenerateManyResult } from './images/operations.ts';
export {
  ChatCompletionRunner,
  ChatCompletionStream,
  ChatCompletionStreamingRunner,
} from './chat/runs/runner.ts';
export { Stream } from './streams/stream.ts';
export {
  memoryLedger,
  type SubmitClaim,
  type SubmitEnd,
  type SubmitEntry,
  type SubmitLedger,
} from './tasks/ledger.ts';
export type { PlainSchemaOptions, SchemaOptions } from './structured/schema.ts';
export {
  responseFormat,
  tool,
  type PlainToolDefinition,
  type SchemaToolDefinition,
} from './structured/tool.ts';
export {
  type ImageTaskRef,
  parseImageTaskRef,
  parseTaskRef,
  parseVideoTaskRef,
  type TaskRef,
} from './tasks/ref.ts';
export type { LedgerOptions } from './tasks/submit.ts';
export type {
  NextPoll,
  TaskErrorDetails,
  TaskStatus,
  TaskUpdate,
  TaskWaitState,
} from './tasks/types.ts';
export type { TaskFailedErrorInit, TaskWaitSummary } from './tasks/errors.ts';
export type {
  VideoCreateAndWaitAllOptions,
  VideoCreateAndWaitOptions,
  VideoCreateAndWaitResult,
  VideoDownloadOptions,
  VideoSubmitOptions,
  VideoUpdate,
  VideoWaitAllOptions,
  VideoWaitInterval,
  VideoWaitOptions,
  VideoWaitResult,
  VideoWaitState,
  VideoWaitStep,
  VideoWatchEvent,
} from './videos/wait-options.ts';
export type * from './account/types.ts';
export type * from './openai/audio.ts';
export type * from './openai/chat.ts';
export type * from './openai/embeddings.ts';
export type * from './openai/errors.ts';
export type * from './openai/images.ts';
export type * from './openai/models.ts';
export type * from './openai/run-tools.ts';
export type * from './openai/videos.ts';
export type * from './generate/types.ts';
export type * from './generate/params.ts';
export type * from './uploads/types.ts';
