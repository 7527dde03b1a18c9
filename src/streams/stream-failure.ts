import { APIUserAbortError, UnexpectedResponseError } from '../errors/api-errors.ts';
import {
  StreamError,
  type StreamErrorInit,
  StreamTimeoutError,
  StreamTruncatedError,
  type StreamVerdict,
} from './errors.ts';
import type { ErrorBody } from '../answers/error-body.ts';
import { ownCause } from '../answers/objects.ts';
import { ShapeMismatch } from '../answers/reader.ts';
import { SentError } from './event-decoder.ts';
import type { StreamErrorBase, StreamLimits } from './protocol.ts';
import { EventTooLarge } from './read-events.ts';
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
  const count = evidence?.attempts.length ?? 0;
  const tried = count > 1 ? [`${count} attempts were made.`] : [];
  const advice = [...tried, ...(partial === undefined ? [] : [kept]), charged].join(' ');
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

/** Why what came cannot be read on, in the words of its reader: an error of the gateway, or no fit answer. */
export function readingFailure(base: StreamErrorBase, received: Received, cause: unknown): unknown {
  const init = initOf(base, received);
  const failed = `The stream of ${base.operation} failed: `;
  if (cause instanceof SentError) {
    const body = base.redaction?.said(cause.body) ?? cause.body;
    const { code, type, param, error, requestId } = body;
    const requestID = init.requestID ?? requestId;
    const message = failed + asSentence(describeError(body));
    return new StreamError(message, { ...init, requestID, code, type, param, error });
  }
  if (cause instanceof ShapeMismatch) {
    const { issues, message } = cause;
    const text = `The stream of ${base.operation}: ${message}`;
    return new UnexpectedResponseError(text, { ...init, issues, data: received.partial });
  }
  return cause instanceof EventTooLarge ? new StreamError(failed + cause.message, init) : cause;
}

type BadEnding = Exclude<StreamVerdict, 'complete'>;

const endings: Readonly<Record<BadEnding, string>> = {
  no_finish_reason: 'ended with its terminator, but without a finish reason; it may have been cut',
  no_terminator: 'ended without a finish reason; it may have been cut',
  truncated: 'broke off',
};

/** Says how a stream ended that is not complete. */
export function describeEnding(verdict: BadEnding, started: boolean): string {
  return started ? endings[verdict] : 'ended without any content';
}

/** The stream ended without proof that the answer is whole. */
export function truncated(
  base: StreamErrorBase,
  received: Received,
  ending: { readonly verdict: BadEnding; readonly started: boolean; readonly cause?: unknown },
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
    cause: ownCause(cause),
  });
}

/** A run of tools, or of one streamed answer, was aborted. */
export function runAborted(
  { reason }: AbortSignal,
  whatRemains = 'it is in messages.',
): APIUserAbortError {
  return new APIUserAbortError('The run was aborted.', {
    outcome: 'unknown',
    advice: `What came before was paid for; ${whatRemains}`,
    cause: ownCause(reason),
  });
}
