import { isObject, parseJSON } from '../../answers/objects.ts';
import { normalizeValue } from '../../answers/reader.ts';
import { APIError, type StreamErrorInit } from '../../errors/api-errors.ts';
import { toInit } from '../../errors/operation-errors.ts';
import { isFailedResponse, responseSchema } from './schema.ts';
import type { ModelResponse, ResponseUsage } from './types.ts';

/** Fields of a `ResponseFailedError`. */
export interface ResponseFailedErrorInit extends StreamErrorInit {
  readonly partial: ModelResponse;
}

/**
 * The gateway returned a response with `status: "failed"` or an `error`. A stream that fails throws a
 * `StreamError` with the same fields.
 */
export class ResponseFailedError extends APIError {
  static override readonly kind: string = 'ResponseFailedError';

  /** The failed response, with the items that were generated, because they may be paid for. */
  declare readonly partial: ModelResponse;
  /** Its token usage, if it reports one. */
  declare readonly usage: ResponseUsage | undefined;

  constructor(message: string, init: ResponseFailedErrorInit) {
    super(message, init);
    this.partial = init.partial;
    this.usage = init.partial.usage ?? undefined;
  }
}

/** Converts the error of a call whose body is a failed response. */
export function explainFailure(error: Error): Error | undefined {
  if (!APIError.isInstance(error) || error.body === undefined) return undefined;
  const value = parseJSON(error.body);
  if (!isObject(value) || !isFailedResponse(value)) return undefined;
  const [message, init] = toInit(error);
  return new ResponseFailedError(message, {
    ...init,
    partial: normalizeValue(value, responseSchema),
  });
}
