import { GatewayError } from '../../errors/gateway-error.ts';
import type { GenerateContentResponse } from './types.ts';

/** Fields of a `FunctionCallFinishReasonError`. */
export interface FunctionCallFinishReasonErrorInit {
  readonly responses: readonly GenerateContentResponse[];
  /** The request id of the last response. */
  readonly requestId?: string | undefined;
}

/**
 * In `generate.runTools()`, a response ended because the model wrote an invalid function call
 * (`MALFORMED_FUNCTION_CALL`) or called a function that the request does not allow (`UNEXPECTED_TOOL_CALL`).
 * No function of that response was called.
 */
export class FunctionCallFinishReasonError extends GatewayError {
  static override readonly kind: string = 'FunctionCallFinishReasonError';

  /** All responses of the run, because they were paid for. The last one has the finish reason. */
  declare readonly responses: readonly GenerateContentResponse[];

  constructor(message: string, { responses, requestId }: FunctionCallFinishReasonErrorInit) {
    const sent = { phase: 'body', requestId } as const;
    super(message, {
      outcome: 'unknown',
      evidence: { ...sent, attempts: [sent] },
      advice: 'The responses were paid for and are in `responses`; a new run is charged again.',
    });
    this.responses = responses;
  }
}
