import type { OutputIssue } from '../structured/types.ts';
import type { ChatCompletion } from './types.ts';
import { GatewayError, type Evidence } from '../errors/gateway-error.ts';

/** What an {@link OutputError} is made from. */
export interface OutputErrorInit {
  readonly completion: ChatCompletion;
  readonly issues?: readonly OutputIssue[] | undefined;
  readonly cause?: unknown;
  readonly callId?: string | undefined;
  readonly evidence?: Evidence | undefined;
}

const advice = 'The answer was paid for and is in `completion`; asking again costs the same again.';

/** The model answered, but the answer cannot be parsed as what was asked for. */
export class OutputError extends GatewayError {
  static override readonly kind: string = 'OutputError';

  /** The whole answer, with its text and its usage: it was paid for. */
  readonly completion: ChatCompletion;

  constructor(message: string, { completion, cause, callId, evidence }: OutputErrorInit) {
    const requestId = completion._request_id ?? undefined;
    super(message, {
      outcome: 'unknown',
      evidence: evidence ?? { phase: 'body', requestId, attempts: [] },
      callId,
      advice,
      cause,
    });
    this.completion = completion;
  }
}

/** The answer was cut off at the token limit, so it cannot be parsed. Raise `max_tokens`. */
export class LengthFinishReasonError extends OutputError {
  static override readonly kind: string = 'LengthFinishReasonError';

  constructor(init: OutputErrorInit) {
    super('The answer was cut off at the token limit, so it cannot be parsed.', init);
  }
}

/** The answer was stopped by a content filter, so it cannot be parsed. */
export class ContentFilterFinishReasonError extends OutputError {
  static override readonly kind: string = 'ContentFilterFinishReasonError';

  constructor(init: OutputErrorInit) {
    super('The answer was stopped by a content filter, so it cannot be parsed.', init);
  }
}

/** The answer, or the arguments of a tool call in it, are not JSON or do not fit their schema. */
export class InvalidOutputError extends OutputError {
  static override readonly kind: string = 'InvalidOutputError';

  /** What does not fit; empty when it is not JSON, or when the parser gave no details. */
  readonly issues: readonly OutputIssue[];

  constructor(message: string, init: OutputErrorInit) {
    super(message, init);
    this.issues = init.issues ?? [];
  }
}
