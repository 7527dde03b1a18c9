export { Gateway, Gateway as default } from './gateway.ts';
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
} from './errors/api-error.ts';
export {
  APIConnectionError,
  APIConnectionTimeoutError,
  APIUserAbortError,
  UnexpectedRedirectError,
} from './errors/connection-error.ts';
export { PartialEmbeddingsError, type FailedEmbeddings } from './errors/embeddings-error.ts';
export {
  GatewayError,
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
  type OutputIssue,
} from './errors/output-error.ts';
export {
  ContentExpiredError,
  ContentNotReadyError,
  UnexpectedResponseError,
  type ResponseIssue,
} from './errors/response-error.ts';
export {
  StreamError,
  StreamTimeoutError,
  StreamTruncatedError,
  type StreamVerdict,
} from './errors/stream-error.ts';
export {
  VideoFailedError,
  VideoSubmitAnswerError,
  VideoSubmitUnknownError,
  VideoWaitAbortedError,
  VideoWaitError,
  VideoWaitTimeoutError,
  type VideoWaitSummary,
} from './errors/video-error.ts';
export { endpoints } from './endpoints.ts';
export type { BodyKind, ChargeClass, Endpoint, Operation, ResponseKind } from './endpoints.ts';
export { toFile, toStreamingFile } from './http/multipart.ts';
export type { StreamingFileOptions, ToFileInput } from './http/multipart.ts';
export { GatewayPromise, type WithResponse } from './http/promise.ts';
export type { HTTPMethod, RawRequestOptions } from './http/undocumented.ts';
export type {
  ApiKey,
  Drift,
  Fetch,
  FetchOptions,
  GatewayOptions,
  HeaderValues,
  Idempotency,
  Logger,
  LogLevel,
  QueryValues,
  RequestOptions,
  SharedOptions,
} from './options.ts';
export type { Audio } from './resources/audio.ts';
export type { Chat, ChatCompletionStreamParams, Completions } from './resources/chat.ts';
export type {
  ChatCompletionStreamingToolRunnerParams,
  ChatCompletionToolRunnerParams,
  RunnableFunction,
  RunnableToolFunction,
  RunnerOptions,
} from './resources/chat-tools.ts';
export type { EmbeddingsCreateManyOptions } from './resources/embed-many.ts';
export type { Embeddings } from './resources/embeddings.ts';
export type {
  GenerateToolRun,
  GenerateToolRunOptions,
  GenerateToolRunParams,
} from './resources/generate-functions.ts';
export type { Generate } from './resources/generate.ts';
export type { Images } from './resources/images.ts';
export type { Models, ModelsPage, ModelsPagePromise } from './resources/models.ts';
export type { Speech } from './resources/speech.ts';
export type { Translations } from './resources/translations.ts';
export type { VideoDownloadOptions, Videos } from './resources/videos.ts';
export {
  ChatCompletionStream,
  ChatCompletionStreamingRunner,
} from './streams/chat-completion-stream.ts';
export { ChatCompletionRunner } from './streams/chat-runner.ts';
export type * from './streams/chat-stream-events.ts';
export { Stream } from './streams/stream.ts';
export { memoryLedger } from './tasks/memory-ledger.ts';
export { responseFormat } from './structured/response-format.ts';
export type { PlainSchemaOptions, SchemaOptions } from './structured/schema.ts';
export { tool, type PlainToolDefinition, type SchemaToolDefinition } from './structured/tool.ts';
export { parseVideoTaskRef } from './tasks/task-ref.ts';
export type {
  VideoCreateAndWaitOptions,
  VideoSubmitOptions,
  VideoUpdate,
  VideoWaitAllOptions,
  VideoWaitInterval,
  VideoWaitOptions,
  VideoWaitResult,
  VideoWaitState,
  VideoWaitStep,
  VideoWatchEvent,
} from './tasks/wait-options.ts';
export type * from './types/audio.ts';
export type * from './types/chat-messages.ts';
export type * from './types/chat-params.ts';
export type * from './types/chat-parsed.ts';
export type * from './types/chat-stream.ts';
export type * from './types/chat-tools.ts';
export type * from './types/chat.ts';
export type * from './types/common.ts';
export type * from './types/embeddings.ts';
export type * from './types/generate-content.ts';
export type * from './types/generate-params.ts';
export type * from './types/generate.ts';
export type * from './types/image-params.ts';
export type * from './types/image-stream.ts';
export type * from './types/images.ts';
export type * from './types/models.ts';
export type * from './types/submit-ledger.ts';
export type * from './types/standard-schema.ts';
export type * from './types/uploads.ts';
export type * from './types/videos.ts';
