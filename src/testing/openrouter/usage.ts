import type { JsonObject } from '../../types.ts';
import { number, record } from '../control/json.ts';

/** Credit units in one US dollar. */
export const unitsPerDollar = 500_000;

/** Returns usage with the fields that OpenRouter adds to a cost. */
export function costedUsage(value: unknown): JsonObject {
  const usage = record(value);
  const cost = number(usage['cost']);
  if (cost === undefined) return usage;
  const prompt = number(usage['prompt_tokens']) ?? 0;
  const share = prompt / Math.max(1, number(usage['total_tokens']) ?? 0);
  const details = {
    upstream_inference_cost: null,
    upstream_inference_prompt_cost: cost * share,
    upstream_inference_completions_cost: cost * (1 - share),
  };
  return { ...usage, cost, is_byok: false, cost_details: details };
}
