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
} from './chat/errors.ts';
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
} from './chat/runs/runner.ts';
export { Stream } from './streams/stream.ts';
export type * from './generate/types.ts';
export type * from './openai/audio.ts';
export type * from './openai/chat.ts';
export type * from './openai/errors.ts';
export type * from './openai/images.ts';
