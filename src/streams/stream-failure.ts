import { APIUserAbortError } from '../errors/connection-error.ts';
import {
  StreamError,
  type StreamErrorInit,
  StreamTimeoutError,
  StreamTruncatedError,
  type StreamVerdict,
} from '../errors/stream-error.ts';
import { UnexpectedResponseError } from '../errors/response-error.ts';
import type { ErrorBody } from '../schemas/error-body.ts';
import type { ShapeMismatch } from '../schemas/reader.ts';
import type { StreamErrorBase, StreamLimits } from './protocol.ts';
import type { Expiry } from './watchdog.ts';

/** What had been received when a stream failed. */
export interface Received {
  readonly partial: unknown;
  readonly usage: unknown;
}

const kept = 'What had arrived is in the field "partial".';
const charged = 'The call was probably charged, and a new one is charged again.';

function initOf(base: StreamErrorBase, { partial, usage }: Received): StreamErrorInit {
  const { callId, requestID, status, evidence, redaction } = base;
  const headers = base.headers && (redaction?.headers(base.headers) ?? base.headers);
  const advice = partial === undefined ? charged : `${kept} ${charged}`;
  const call = { callId, requestID, status, headers, evidence };
  return { ...call, outcome: 'unknown', advice, partial, usage };
}

/** Providers end their messages as they like; the advice that follows needs an end. */
function asSentence(message: string): string {
  return /[.!?。！？…]$/u.test(message) ? message : `${message}.`;
}

function describeError({ envelope, message }: ErrorBody): string {
  if (envelope === 'html') return `an HTML page came${message ? ` (${message})` : ''}`;
  return message ?? 'the gateway sent an error without text';
}

/** The gateway sent an error inside the stream. */
export function sentError(base: StreamErrorBase, received: Received, sent: ErrorBody): StreamError {
  const body = base.redaction?.said(sent) ?? sent;
  const { code, type, param, error, requestId } = body;
  const init = initOf(base, received);
  const message = asSentence(describeError(body));
  return new StreamError(`The stream of ${base.operation} failed: ${message}`, {
    ...init,
    requestID: init.requestID ?? requestId,
    code,
    type,
    param,
    error,
  });
}

/** The stream cannot be read on. */
export function brokenStream(
  base: StreamErrorBase,
  received: Received,
  problem: string,
): StreamError {
  return new StreamError(`The stream of ${base.operation} failed: ${problem}`, {
    ...initOf(base, received),
  });
}

const endings: Readonly<Record<StreamVerdict, string>> = {
  complete: 'is complete',
  no_finish_reason: 'ended with its terminator, but without a finish reason; it may have been cut',
  no_terminator: 'ended without a finish reason; it may have been cut',
  truncated: 'broke off',
};

/** Says how a stream ended that is not complete. */
export function describeEnding(verdict: StreamVerdict, started: boolean): string {
  return started ? endings[verdict] : 'ended without any content';
}

/** The stream ended without proof that the answer is whole. */
export function truncated(
  base: StreamErrorBase,
  received: Received,
  ending: { readonly verdict: StreamVerdict; readonly started: boolean; readonly cause?: unknown },
): StreamTruncatedError {
  const { verdict, started } = ending;
  const cause = base.redaction === undefined ? ending.cause : base.redaction.cause(ending.cause);
  const message = `The stream of ${base.operation} ${describeEnding(verdict, started)} (onTruncated).`;
  return new StreamTruncatedError(message, { ...initOf(base, received), verdict, cause });
}

const silences: Readonly<Record<keyof StreamLimits | 'unread', string>> = {
  firstByteTimeout: 'gave no byte',
  idleTimeout: 'was silent',
  chunkTimeout: 'gave no event',
  totalTimeout: 'was not over',
  unread: 'was not read by anybody',
};

/** A time limit was passed. */
export function timedOut(
  base: StreamErrorBase,
  received: Received,
  limit: Exclude<Expiry['limit'], 'ending'>,
  timeout: number,
): StreamTimeoutError {
  const name = limit === 'unread' ? 'idleTimeout' : limit;
  return new StreamTimeoutError(
    `The stream of ${base.operation} ${silences[limit]} for ${timeout} ms (${name}).`,
    { ...initOf(base, received), limit: name, timeout },
  );
}

/** The caller's signal was aborted. */
export function userAborted(
  base: StreamErrorBase,
  received: Received,
  cause: unknown,
): APIUserAbortError {
  return new APIUserAbortError(`The stream of ${base.operation} was aborted.`, {
    ...initOf(base, received),
    cause,
  });
}

/** An event differs from what is promised, in strict mode. */
export function mismatched(
  base: StreamErrorBase,
  received: Received,
  mismatch: ShapeMismatch,
): UnexpectedResponseError {
  return new UnexpectedResponseError(`The stream of ${base.operation}: ${mismatch.message}`, {
    ...initOf(base, received),
    issues: mismatch.issues,
    data: received.partial,
  });
}
