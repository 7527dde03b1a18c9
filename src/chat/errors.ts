import { GatewayError, type Evidence } from '../errors/gateway-error.ts';
import type { OutputIssue } from '../structured/types.ts';
import type { ChatCompletion } from './types.ts';

/** What an `OutputError` is made from. */
export interface OutputErrorInit {
  readonly completion: ChatCompletion;
  readonly issues?: readonly OutputIssue[] | undefined;
  readonly cause?: unknown;
  readonly callId?: string | undefined;
  readonly evidence?: Evidence | undefined;
}

/** What an error has that was made without an answer, as the `openai` package makes it. */
const noCompletion = (): OutputErrorInit => ({
  completion: { id: '', object: 'chat.completion', created: 0, model: '', choices: [] },
});

const advice = 'The answer was paid for and is in `completion`; asking again costs the same again.';

/** The model answered, but the answer cannot be parsed as what was asked for. */
export class OutputError extends GatewayError {
  static override readonly kind: string = 'OutputError';

  /** The whole answer, with its text and its usage: it was paid for. */
  declare readonly completion: ChatCompletion;

  constructor(message: string, init: OutputErrorInit) {
    const { completion, cause, callId, evidence } = init;
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

  /** @param init - An error that is made without has an empty completion. */
  constructor(init: OutputErrorInit = noCompletion()) {
    super('The answer was cut off at the token limit, so it cannot be parsed.', init);
  }
}

/** The answer was stopped by a content filter, so it cannot be parsed. */
export class ContentFilterFinishReasonError extends OutputError {
  static override readonly kind: string = 'ContentFilterFinishReasonError';

  /** @param init - An error that is made without has an empty completion. */
  constructor(init: OutputErrorInit = noCompletion()) {
    super('The answer was stopped by a content filter, so it cannot be parsed.', init);
  }
}

/** The answer, or the arguments of a tool call in it, are not JSON or do not fit their schema. */
export class InvalidOutputError extends OutputError {
  static override readonly kind: string = 'InvalidOutputError';

  /** What does not fit; empty when it is not JSON, or when the parser gave no details. */
  declare readonly issues: readonly OutputIssue[];

  constructor(message: string, init: OutputErrorInit) {
    super(message, init);
    this.issues = init.issues ?? [];
  }
}
