/**
 * Reads in one program, as in the page of a browser, what `toReadableStream()` wrote in another: a server
 * that holds the key and makes the call. Nothing here makes a call.
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
} from './chat/runner.ts';
export { Stream } from './streams/stream.ts';
export type * from './audio/types.ts';
export type * from './chat/params.ts';
export type * from './chat/types.ts';
export type * from './generate/types.ts';
export type * from './images/types.ts';
export type * from './structured/types.ts';
export type * from './types.ts';
