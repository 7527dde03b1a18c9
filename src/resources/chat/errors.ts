import { GatewayError, type Evidence } from '../../errors/gateway-error.ts';
import type { OutputIssue } from '../../structured/types.ts';
import type { ChatCompletion } from './types.ts';

/** Fields of an `OutputError`. */
export interface OutputErrorInit {
  readonly completion: ChatCompletion;
  readonly issues?: readonly OutputIssue[] | undefined;
  readonly cause?: unknown;
  readonly callId?: string | undefined;
  readonly evidence?: Evidence | undefined;
}

/** An empty completion, as `openai` uses for errors created without arguments. */
const noCompletion = (): OutputErrorInit => ({
  completion: { id: '', object: 'chat.completion', created: 0, model: '', choices: [] },
});

const advice = 'The response was paid for and is in `completion`; a new request is charged again.';

/** The model responded, but the text cannot be parsed in the requested format. */
export class OutputError extends GatewayError {
  static override readonly kind: string = 'OutputError';

  /** The whole completion with its text and usage, because it was paid for. */
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

/** The response was cut off at the token limit, so it cannot be parsed. Raise `max_tokens`. */
export class LengthFinishReasonError extends OutputError {
  static override readonly kind: string = 'LengthFinishReasonError';

  /** @param init - Defaults to an empty completion. */
  constructor(init: OutputErrorInit = noCompletion()) {
    super('The response was cut off at the token limit, so it cannot be parsed.', init);
  }
}

/** The response was stopped by a content filter, so it cannot be parsed. */
export class ContentFilterFinishReasonError extends OutputError {
  static override readonly kind: string = 'ContentFilterFinishReasonError';

  /** @param init - Defaults to an empty completion. */
  constructor(init: OutputErrorInit = noCompletion()) {
    super('The response was stopped by a content filter, so it cannot be parsed.', init);
  }
}

/** The text, or the arguments of a tool call, are not JSON or do not match their schema. */
export class InvalidOutputError extends OutputError {
  static override readonly kind: string = 'InvalidOutputError';

  /** Mismatches with the schema; empty if the text is not JSON or the parser gave no details. */
  declare readonly issues: readonly OutputIssue[];

  constructor(message: string, init: OutputErrorInit) {
    super(message, init);
    this.issues = init.issues ?? [];
  }
}
