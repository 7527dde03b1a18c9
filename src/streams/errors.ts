import { asSentence, type ErrorBody, readErrorValue } from '../answers/error-body.ts';
import { ownCause } from '../answers/objects.ts';
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
 * How a stream ended.
 *
 * - `complete`: every started choice has its finish reason, or the terminator came and each choice without
 *   one consists of tool calls with whole JSON arguments.
 * - `no_finish_reason`: the terminator came, but a choice has no finish reason. The gateway also
 *   writes `[DONE]` after its own time-outs, so it proves nothing.
 * - `no_terminator`: no terminator and no finish reason, although the connection closed cleanly.
 * - `truncated`: the connection broke, or nothing but a terminator came.
 */
export type StreamVerdict = 'complete' | 'no_finish_reason' | 'no_terminator' | 'truncated';

/** The gateway sent an error inside a stream. */
export class StreamError extends APIError {
  static override readonly kind: string = 'StreamError';

  /**
   * What had been received: a partial `ChatCompletion` for chat, a partial
   * `GenerateContentResponse` for generation, `undefined` when nothing came or was kept (`partial: false`).
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

/** A stream ended without proof that the answer is whole. */
export class StreamTruncatedError extends StreamError {
  static override readonly kind: string = 'StreamTruncatedError';

  /** How the stream ended. Never `complete`. */
  declare readonly verdict: StreamVerdict;

  constructor(message: string, init: StreamErrorInit & { readonly verdict: StreamVerdict }) {
    super(message, init);
    this.verdict = init.verdict;
  }
}

/** A stream fell silent for longer than the limit named in `limit`. */
export class StreamTimeoutError extends StreamError {
  static override readonly kind: string = 'StreamTimeoutError';

  /** The option whose limit was passed. */
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

/** What the gateway sent inside a stream is an error, or cannot be read. */
export class SentError extends Error {
  readonly body: ErrorBody;

  /** @param said - What it says, or what is wrong with it. */
  constructor(said: ErrorBody | string) {
    const body = typeof said === 'string' ? { ...readErrorValue(undefined), message: said } : said;
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
  /** Takes out of what the gateway or the runtime says what may not be in errors. */
  readonly redaction?: Pick<Redaction, 'attempt'> | undefined;
}

interface Received {
  readonly partial: unknown;
  readonly usage: unknown;
}

const kept = 'What had arrived is in the field "partial". ';
const charged = 'The call was probably charged, and a new one is charged again.';

/** What may be shown of a failure. */
function shownOf(
  { redaction, headers }: StreamErrorBase,
  said?: Pick<FailedAttempt, 'body' | 'cause'>,
): FailedAttempt {
  const failed: FailedAttempt = { kind: 'interrupted', phase: 'body', headers, ...said };
  return redaction?.attempt(failed) ?? failed;
}

function initOf(
  { callId, requestID, status, evidence }: StreamErrorBase,
  { partial, usage }: Received,
  { headers, cause, body }: FailedAttempt,
): StreamErrorInit {
  const count = evidence?.attempts.length ?? 0;
  const tried = count > 1 ? `${count} attempts were made. ` : '';
  const advice = tried + (partial === undefined ? '' : kept) + charged;
  const call = { callId, requestID: requestID ?? body?.requestId, status, headers, evidence };
  const { sentCode: code, type, param, error } = body ?? {};
  return { ...call, code, type, param, error, cause, outcome: 'unknown', advice, partial, usage };
}

function describeError({ envelope, message }: ErrorBody): string {
  if (envelope === 'html') return `an HTML page came${message ? ` (${message})` : ''}`;
  return message ?? 'the gateway sent an error without text';
}

/** The error of a stream of which something came that cannot be read, or that is an error. */
export function readingFailure(base: StreamErrorBase, received: Received, cause: unknown): unknown {
  if (cause instanceof SentError) {
    const failed = shownOf(base, { body: cause.body });
    const what = asSentence(describeError(failed.body ?? cause.body));
    return new StreamError(
      `The stream of ${base.operation} failed: ${what}`,
      initOf(base, received, failed),
    );
  }
  if (!(cause instanceof ShapeMismatch)) return cause;
  const { issues, message } = cause;
  const init = initOf(base, received, shownOf(base));
  const text = `The stream of ${base.operation}: ${message}`;
  return new UnexpectedResponseError(text, { ...init, issues, data: received.partial });
}

type BadEnding = Exclude<StreamVerdict, 'complete'>;

const endings: Readonly<Record<BadEnding, string>> = {
  no_finish_reason: 'ended with its terminator, but without a finish reason; it may have been cut',
  no_terminator: 'ended without a finish reason; it may have been cut',
  truncated: 'broke off',
};

export function describeEnding(verdict: BadEnding, { started }: { started: boolean }): string {
  return started ? endings[verdict] : 'ended without any content';
}

/** The stream ended without proof that the answer is whole. */
export function truncated(
  base: StreamErrorBase,
  received: Received & { readonly started: boolean },
  verdict: BadEnding,
  cause?: unknown,
): StreamTruncatedError {
  const ending = describeEnding(verdict, received);
  return new StreamTruncatedError(`The stream of ${base.operation} ${ending} (onTruncated).`, {
    ...initOf(base, received, shownOf(base, { cause })),
    verdict,
  });
}

const silences: Readonly<Record<Exclude<StreamLimit, 'ending'>, string>> = {
  firstByteTimeout: 'gave no byte',
  idleTimeout: 'was silent',
  chunkTimeout: 'gave no event',
  totalTimeout: 'was not over',
  unread: 'was not read by anybody',
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
    { ...initOf(base, received, shownOf(base)), limit: name, timeout },
  );
}

export function userAborted(
  base: StreamErrorBase,
  received: Received,
  cause: unknown,
): APIUserAbortError {
  return new APIUserAbortError(`The stream of ${base.operation} was aborted.`, {
    ...initOf(base, received, shownOf(base)),
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
