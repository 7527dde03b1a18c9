export { Gateway, Gateway as OpenAI, Gateway as default } from './gateway.ts';
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
} from './errors/api-errors.ts';
export {
  ContentExpiredError,
  ContentNotReadyError,
  VideoSubmitUnknownError,
} from './errors/operation-errors.ts';
export { BooksLimitError, BudgetError, UnsupportedByGatewayError } from './account/errors.ts';
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
export { ImageTaskError } from './images/errors.ts';
export {
  LedgerError,
  VideoFailedError,
  VideoSubmitAnswerError,
  VideoWaitAbortedError,
  VideoWaitError,
  VideoWaitTimeoutError,
  type VideoWaitSummary,
} from './videos/errors.ts';
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
} from './openai/resources.ts';
export * from './chat/run-tools.ts';
export type { EmbeddingsCreateManyOptions, EmbeddingsProgress } from './embeddings/operations.ts';
export type {
  GenerateToolRun,
  GenerateToolRunOptions,
  GenerateToolRunParams,
} from './generate/operations.ts';
export type { Generate } from './generate/generate.ts';
export type {
  ImageEditParams,
  ImageEditParamsBase,
  ImageEditParamsNonStreaming,
  ImageEditParamsStreaming,
  ImageReference,
  ImageReferenceObject,
} from './images/edit.ts';
export type { ImagesGenerateManyOptions, ImagesGenerateManyResult } from './images/operations.ts';
export type * from './models/models.ts';
export type { Model, ModelEndpointType, ModelsPage } from './models/answers.ts';
export {
  ChatCompletionRunner,
  ChatCompletionStream,
  ChatCompletionStreamingRunner,
} from './chat/runner.ts';
export { Stream } from './streams/stream.ts';
export {
  memoryLedger,
  type SubmitClaim,
  type SubmitEnd,
  type SubmitEntry,
  type SubmitLedger,
} from './videos/ledger.ts';
export type { PlainSchemaOptions, SchemaOptions } from './structured/schema.ts';
export {
  responseFormat,
  tool,
  type PlainToolDefinition,
  type SchemaToolDefinition,
} from './structured/tool.ts';
export { parseVideoTaskRef } from './videos/ref.ts';
export type {
  VideoCreateAndWaitAllOptions,
  VideoCreateAndWaitOptions,
  VideoCreateAndWaitResult,
  VideoDownloadContentParams,
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
export type * from './audio/transcription-types.ts';
export type * from './audio/types.ts';
export type * from './chat/params.ts';
export type * from './chat/types.ts';
export type * from './types.ts';
export type * from './embeddings/types.ts';
export type * from './generate/types.ts';
export type * from './generate/params.ts';
export type * from './images/types.ts';
export type * from './structured/types.ts';
export type * from './uploads/types.ts';
export type * from './videos/types.ts';
