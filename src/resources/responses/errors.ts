import { isObject, parseJSON } from '../../answers/objects.ts';
import { normalizeValue } from '../../answers/reader.ts';
import { APIError, type StreamErrorInit } from '../../errors/api-errors.ts';
import type { DescribedFailure } from '../../errors/operation-errors.ts';
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

/** Builds the error of a call whose body is a failed response. */
export function explainFailure({ summary, init }: DescribedFailure): Error | undefined {
  if (init.body === undefined) return undefined;
  const value = parseJSON(init.body);
  if (!isObject(value) || !isFailedResponse(value)) return undefined;
  return new ResponseFailedError(summary, {
    ...init,
    partial: normalizeValue(value, responseSchema),
  });
}
