/**
 * Reads a stream that another program wrote with `toReadableStream()`: in a page, the stream that your server
 * passes on. It cannot make calls.
 *
 * @module model-gateway/stream
 */
export { APIError, APIUserAbortError, UnexpectedResponseError } from './errors/api-errors.ts';
export {
  GatewayError,
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
export {
  ChatCompletionRunner,
  ChatCompletionStream,
  ChatCompletionStreamingRunner,
} from './resources/chat/runs/runner.ts';
export { Stream } from './streams/stream.ts';
export type * from './resources/generate/types.ts';
export type * from './client/openai/audio.ts';
export type * from './client/openai/chat.ts';
export type * from './client/openai/errors.ts';
export type * from './client/openai/images.ts';
