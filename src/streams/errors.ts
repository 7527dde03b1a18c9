import {
  asSentence,
  type ErrorBody,
  quoteValue,
  readErrorText,
  readErrorValue,
} from '../answers/failure.ts';
import { safeReason } from '../answers/objects.ts';
import { ShapeMismatch } from '../answers/reader.ts';
import {
  APIError,
  APIUserAbortError,
  type StreamErrorInit,
  UnexpectedResponseError,
} from '../errors/api-errors.ts';
import type { Evidence } from '../errors/gateway-error.ts';
import type { Redaction } from '../http/redaction.ts';
import type { FailedAttempt } from '../http/retry.ts';
import type { StreamLimit } from './timeouts.ts';

/**
 * The way a stream ended.
 *
 * - `complete`: every choice has its finish reason, or the terminator arrived and each choice without one
 *   consists of tool calls with whole JSON arguments.
 * - `no_finish_reason`: the terminator arrived, but a choice has no finish reason. Gateways also write
 *   `[DONE]` after their own time-outs, so it proves nothing.
 * - `no_terminator`: neither a terminator nor a finish reason, although the connection closed cleanly.
 * - `truncated`: the connection broke, or the stream contained nothing but a terminator.
 */
export type StreamVerdict = 'complete' | 'no_finish_reason' | 'no_terminator' | 'truncated';

/** The gateway sent an error inside a stream. */
export class StreamError extends APIError {
  static override readonly kind: string = 'StreamError';

  /**
   * The response so far: a partial `ChatCompletion` for chat, a partial `GenerateContentResponse` for
   * generation, `undefined` if nothing arrived or was kept (`partial: false`).
   */
  declare readonly partial: unknown;
  /** The last token usage that the stream reported, or `undefined`. */
  declare readonly usage: unknown;

  constructor(message: string, init: StreamErrorInit) {
    super(message, init);
    this.partial = init.partial;
    this.usage = init.usage;
  }
}

/** A stream ended without proof that the response is complete. */
export class StreamTruncatedError extends StreamError {
  static override readonly kind: string = 'StreamTruncatedError';

  /** The way the stream ended. Never `complete`. */
  declare readonly verdict: StreamVerdict;

  constructor(message: string, init: StreamErrorInit & { readonly verdict: StreamVerdict }) {
    super(message, init);
    this.verdict = init.verdict;
  }
}

/** A stream stalled for longer than the limit named in `limit`. */
export class StreamTimeoutError extends StreamError {
  static override readonly kind: string = 'StreamTimeoutError';

  /** The option whose limit was exceeded. */
  declare readonly limit: 'firstByteTimeout' | 'idleTimeout' | 'chunkTimeout' | 'totalTimeout';
  /** That limit, in milliseconds. */
  declare readonly timeout: number;

  constructor(
    message: string,
    init: StreamErrorInit & {
      readonly limit: StreamTimeoutError['limit'];
      readonly timeout: number;
    },
  ) {
    super(message, init);
    this.limit = init.limit;
    this.timeout = init.timeout;
  }
}

/** The gateway sent an error inside a stream, or something unreadable. */
export class SentError extends Error {
  readonly body: ErrorBody;

  /** @param error - The error, or a description of what is unreadable. */
  constructor(error: ErrorBody | string) {
    const body =
      typeof error === 'string' ? { ...readErrorValue(undefined), message: error } : error;
    super(body.message);
    this.body = body;
  }
}

export interface StreamErrorBase {
  /** The operation, for messages, for example `chat.completions.create`. */
  readonly operation: string;
  readonly callId?: string | undefined;
  readonly requestID?: string | null | undefined;
  readonly status?: number | undefined;
  readonly headers?: Headers | undefined;
  readonly evidence?: Evidence | undefined;
  /** Returns the text of the stream so far, if it is kept. */
  readonly body?: (() => string) | undefined;
  /** Returns what is known of an error that was sent before any content, as of the same error in place of the stream. */
  readonly judge?: ((error: ErrorBody) => Judgement | undefined) | undefined;
  /** Removes secrets from messages of the gateway and the runtime. */
  readonly redaction?: Pick<Redaction, 'attempt'> | undefined;
}

/** Outcome and advice of an error that is known to have cost nothing. */
export type Judgement = Pick<StreamErrorInit, 'outcome' | 'advice'>;

/** What was received of a stream; see `StreamProgress`. */
interface Received {
  readonly started: boolean;
  readonly partial: unknown;
  readonly usage: unknown;
  readonly failure?: string | undefined;
  readonly proof?: string | undefined;
}

const kept = 'The field "partial" has the response so far. ';
const charged = 'The call was probably charged, and a new one is charged again.';

/** Returns a failure without secrets. */
function redact(
  { redaction, headers }: StreamErrorBase,
  failure?: Pick<FailedAttempt, 'body' | 'cause'>,
): FailedAttempt {
  const failed: FailedAttempt = { kind: 'interrupted', phase: 'body', headers, ...failure };
  return redaction?.attempt(failed) ?? failed;
}

function toInit(
  { callId, requestID, status, evidence, body: readBody }: StreamErrorBase,
  { partial, usage }: Received,
  { headers, cause, body }: FailedAttempt,
): StreamErrorInit {
  const count = evidence?.attempts.length ?? 0;
  const tried = count > 1 ? `${count} attempts were made. ` : '';
  const advice = tried + (partial === undefined ? '' : kept) + charged;
  const call = { callId, requestID: requestID ?? body?.requestId, status, headers, evidence };
  const { sentCode: code, type, param, error } = body ?? {};
  const text = readBody === undefined ? {} : { body: readBody() };
  const received = { error, cause, partial, usage, ...text };
  return { ...call, code, type, param, outcome: 'unknown', advice, ...received };
}

function describeError({ envelope, message, error }: ErrorBody): string {
  const title = message ?? quoteValue(error);
  if (envelope === 'html') return `the gateway sent an HTML page${title ? ` (${title})` : ''}`;
  return title ?? 'the gateway sent an error without a message';
}

/** Creates the error of a stream that contains an error or something unreadable. */
export function readingFailure(base: StreamErrorBase, received: Received, cause: unknown): unknown {
  if (cause instanceof SentError) {
    const failed = redact(base, { body: cause.body });
    const reason = asSentence(describeError(failed.body ?? cause.body));
    const init = toInit(base, received, failed);
    const judged = received.started ? undefined : base.judge?.(cause.body);
    return new StreamError(`The stream of ${base.operation} failed: ${reason}`, {
      ...init,
      ...judged,
    });
  }
  if (!(cause instanceof ShapeMismatch)) return cause;
  const { issues, message } = cause;
  const init = toInit(base, received, redact(base));
  const text = `The stream of ${base.operation}: ${message}`;
  return new UnexpectedResponseError(text, { ...init, issues, data: received.partial });
}

type BadEnding = Exclude<StreamVerdict, 'complete'>;

const endings: Readonly<Record<BadEnding, string>> = {
  no_finish_reason: 'ended with its terminator, but without {proof}; it may have been cut',
  no_terminator: 'ended without {proof}; it may have been cut',
  truncated: 'broke off',
};

/** Describes how a stream ended. */
export function describeEnding(
  verdict: BadEnding,
  { started, failure, proof = 'a finish reason' }: Received,
): string {
  if (failure !== undefined && verdict !== 'truncated') return failure;
  if (!started) return 'ended without any content';
  return endings[verdict].replace('{proof}', proof);
}

/** Creates the error of a stream that ended without proof that the response is complete. */
export function truncated(
  base: StreamErrorBase,
  received: Received,
  verdict: BadEnding,
  cause?: unknown,
  unread?: string,
): StreamTruncatedError {
  const ending = describeEnding(verdict, received);
  const body = unread === undefined ? undefined : readErrorText(unread);
  const failed = redact(base, { cause, body });
  return new StreamTruncatedError(
    `The stream of ${base.operation} ${ending} (onTruncated).${describeUnread(failed)}`,
    { ...toInit(base, received, failed), verdict },
  );
}

/** Returns a sentence with the last event of a stream without content. */
function describeUnread({ body }: FailedAttempt): string {
  if (body?.message !== undefined) return ` It says: ${asSentence(body.message)}`;
  const received = quoteValue(body?.error);
  return received === undefined ? '' : ` It received: ${asSentence(received)}`;
}

const silences: Readonly<Record<Exclude<StreamLimit, 'ending'>, string>> = {
  firstByteTimeout: 'sent no bytes',
  idleTimeout: 'was silent',
  chunkTimeout: 'sent no events',
  totalTimeout: 'did not end',
  unread: 'was not read',
};

export function timedOut(
  base: StreamErrorBase,
  received: Received,
  limit: Exclude<StreamLimit, 'ending'>,
  timeout: number,
): StreamTimeoutError {
  const name = limit === 'unread' ? 'idleTimeout' : limit;
  return new StreamTimeoutError(
    `The stream of ${base.operation} ${silences[limit]} for ${timeout} ms (${name}).`,
    { ...toInit(base, received, redact(base)), limit: name, timeout },
  );
}

export function userAborted(
  base: StreamErrorBase,
  received: Received,
  cause: unknown,
): APIUserAbortError {
  return new APIUserAbortError(`The stream of ${base.operation} was aborted.`, {
    ...toInit(base, received, redact(base)),
    cause: safeReason(cause),
  });
}

/** Creates the error of an aborted run. */
export function runAborted(
  { reason }: AbortSignal,
  whatRemains = 'it is in messages.',
): APIUserAbortError {
  return new APIUserAbortError('The run was aborted.', {
    outcome: 'unknown',
    advice: `The response so far is paid for; ${whatRemains}`,
    cause: safeReason(reason),
  });
}
