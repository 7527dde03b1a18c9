import { errorMessage } from '../../answers/objects.ts';
import type { CallInfo } from '../../calls/response.ts';
import { GatewayError, type Evidence } from '../../errors/gateway-error.ts';
import { SchemaMismatch } from '../../structured/json.ts';
import type { OutputIssue } from '../../structured/types.ts';
import type { ChatCompletion } from './types.ts';

/** Fields of an `OutputError`. */
export interface OutputErrorInit {
  readonly completion?: ChatCompletion | undefined;
  /** The response of `responses.parse()`, which has no completion. */
  readonly response?: PaidResponse | undefined;
  readonly issues?: readonly OutputIssue[] | undefined;
  readonly cause?: unknown;
  readonly callId?: string | undefined;
  readonly evidence?: Evidence | undefined;
}

/** The fields of a response that its error reads. */
interface PaidResponse {
  readonly _request_id?: string | null;
  readonly usage?: object | null | undefined;
}

/** An empty completion, as `openai` uses for errors created without arguments. */
const noCompletion = (): OutputErrorInit & { completion: ChatCompletion } => ({
  completion: { id: '', object: 'chat.completion', created: 0, model: '', choices: [] },
});

/** The model responded, but the text cannot be parsed in the requested format. */
export class OutputError extends GatewayError {
  static override readonly kind: string = 'OutputError';

  /**
   * The whole completion with its text and usage, because it was paid for. Errors of `responses.parse()` have
   * `response` instead.
   */
  declare readonly completion: ChatCompletion;
  /** The whole response of `responses.parse()`; `undefined` for chat. */
  declare readonly response: unknown;

  constructor(message: string, init: OutputErrorInit) {
    const { completion = noCompletion().completion, response, cause, callId, evidence } = init;
    const requestId = (response ?? completion)._request_id ?? undefined;
    const field = response === undefined ? 'completion' : 'response';
    super(message, {
      outcome: 'unknown',
      evidence: evidence ?? { phase: 'body', requestId, attempts: [] },
      callId,
      advice: `The response was paid for and is in \`${field}\`; a new request is charged again.`,
      cause,
    });
    if (response === undefined) this.completion = completion;
    else this.response = response;
    // Counted as spent. Not enumerable, because the response has it too.
    Object.defineProperty(this, 'usage', { value: (response ?? completion).usage });
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

/** Creates the error for the text of an answer, or for the arguments of a tool, that cannot be parsed. */
export function unparsed(
  tool: string | undefined,
  cause: unknown,
  init: OutputErrorInit,
): InvalidOutputError {
  const what = tool === undefined ? 'The answer' : `The arguments of "${tool}"`;
  const issues = cause instanceof SchemaMismatch ? cause.issues : [];
  const problem = `${what} cannot be parsed: ${errorMessage(cause)}.`;
  return new InvalidOutputError(problem, { ...init, issues, cause });
}

/** Returns the fields of an `OutputError` that tell which call was answered. */
export function answeredCall({ callId, requestId, status }: CallInfo): OutputErrorInit {
  const sent = { phase: 'body', status, requestId } as const;
  return { callId, evidence: { ...sent, attempts: [sent] } };
}
