import type { JsonObject } from '../../types.ts';
import type { TokenCount } from '../routes/usage.ts';

/** Usage in the format of the Responses API. */
export function responseUsage({ prompt, completion, reasoning }: TokenCount): JsonObject {
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + completion,
  };
}

/** A response that failed before it had content. */
export function failedResponse(error: JsonObject): JsonObject {
  return {
    id: 'resp_failed',
    object: 'response',
    created_at: 0,
    status: 'failed',
    error,
    incomplete_details: null,
    output: [],
    text: { format: { type: 'text' } },
    usage: null,
  };
}
