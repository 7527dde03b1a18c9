/**
 * The client, its errors, ledgers in memory, and the types of all operations.
 *
 * @module model-gateway
 */
export { Gateway, Gateway as OpenAI, Gateway as default } from './client/openai/gateway.ts';
export { asOpenAI } from './client/openai/as-openai.ts';
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
  ContentUnavailableError,
  ContentNotReadyError,
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
} from './options/gateway-profile.ts';
export { ResponseFailedError } from './resources/responses/errors.ts';
export * from './resources/account/errors.ts';
export { PartialEmbeddingsError, type FailedEmbeddings } from './resources/embeddings/types.ts';
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
} from './resources/chat/errors.ts';
export {
  StreamError,
  StreamTimeoutError,
  StreamTruncatedError,
  type StreamVerdict,
} from './streams/errors.ts';
export * from './resources/images/errors.ts';
export type * from './resources/images/wait-options.ts';
export { LedgerError } from './tasks/errors.ts';
export * from './resources/videos/errors.ts';
export { usageOf, type AnswerUsage } from './answers/usage.ts';
export { endpoints } from './endpoints.ts';
export type { BodyKind, ChargeClass, Endpoint, Operation, ResponseKind } from './endpoints.ts';
export * from './uploads/to-file.ts';
export {
  GatewayPromise,
  GatewayPromise as APIPromise,
  type WithResponse,
} from './calls/promise.ts';
export type { ManyOptions, ManyProgress } from './tasks/many.ts';
export type {
  HTTPMethod,
  RawRequestOptions,
  RouteRequest,
  StreamedRequestOptions,
} from './http/request.ts';
export type * from './options/options.ts';
export type { Drift } from './answers/reader.ts';
export type { GatewayOptions as ClientOptions } from './options/options.ts';
export type { Account } from './resources/account/account.ts';
export type { ChatCompletionStreamParams } from './resources/chat/chat.ts';
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
} from './client/openai/gateway.ts';
export * from './resources/chat/runs/run-tools.ts';
export type {
  EmbeddingsCreateManyOptions,
  EmbeddingsProgress,
} from './resources/embeddings/operations.ts';
export type {
  GenerateToolRun,
  GenerateToolRunOptions,
  GenerateToolRunParams,
} from './resources/generate/operations.ts';
export * from './resources/generate/errors.ts';
export type { Generate } from './resources/generate/generate.ts';
export type {
  ImagesGenerateManyOptions,
  ImagesGenerateManyResult,
} from './resources/images/operations.ts';
export {
  ChatCompletionRunner,
  ChatCompletionStream,
  ChatCompletionStreamingRunner,
} from './resources/chat/runs/runner.ts';
export { Stream } from './streams/stream.ts';
export {
  type FinishDetails,
  type ListingLedger,
  type OpenCall,
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
export type { TaskWaitInterval, TaskWaitOptions } from './tasks/wait-options.ts';
export type {
  NextPoll,
  PolledTask,
  TaskErrorDetails,
  TaskStatus,
  TaskUpdate,
  TaskWaitState,
} from './tasks/types.ts';
export type { TaskFailedErrorInit, TaskWaitSummary } from './tasks/errors.ts';
export type * from './resources/videos/wait-options.ts';
export type * from './resources/account/types.ts';
export type * from './client/openai/audio.ts';
export type * from './client/openai/chat.ts';
export type * from './client/openai/embeddings.ts';
export type * from './client/openai/errors.ts';
export type * from './client/openai/images.ts';
export type * from './client/openai/models.ts';
export type * from './client/openai/responses.ts';
export type * from './client/openai/run-tools.ts';
export type * from './client/openai/videos.ts';
export type * from './resources/generate/types.ts';
export type * from './resources/generate/params.ts';
export type * from './uploads/types.ts';
