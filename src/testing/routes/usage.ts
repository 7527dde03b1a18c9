import type { JsonObject } from '../../types.ts';
import type { Vendor } from '../control/models.ts';
import type { Quirks } from '../faults/quirks.ts';
import { costField } from '../server/call.ts';

/**
 * Splits text into tokens as a model would. Joining them restores the text.
 *
 * A token is a word with the space before it, a number, or a single other character.
 */
export function splitTokens(text: string): string[] {
  return text.match(/ ?\p{L}+| ?\p{N}+|\s+|./gsu) ?? [];
}

/** Counts the tokens of a text. */
export function countTokens(text: string): number {
  return splitTokens(text).length;
}

/** Token counts of a request and its response. */
export interface TokenCount {
  readonly prompt: number;
  readonly completion: number;
  /** Reasoning tokens, included in `completion`. */
  readonly reasoning: number;
}

const total = ({ prompt, completion }: TokenCount): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

/** Usage in OpenAI's format, which the gateway passes on. */
function passedUsage(count: TokenCount): JsonObject {
  return {
    ...total(count),
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: count.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** Usage in the gateway's format, for converted responses and for vendors that send none. */
export function gatewayUsage(count: TokenCount, vendor: Vendor | undefined): JsonObject {
  const isAnthropic = vendor === 'anthropic';
  return {
    ...total(count),
    ...(isAnthropic ? { usage_semantic: 'openai', usage_source: 'anthropic' } : {}),
    prompt_tokens_details: { cached_tokens: 0, text_tokens: 0, audio_tokens: 0, image_tokens: 0 },
    completion_tokens_details: {
      text_tokens: 0,
      audio_tokens: 0,
      image_tokens: 0,
      reasoning_tokens: count.reasoning,
    },
    input_tokens: isAnthropic ? count.prompt : 0,
    output_tokens: 0,
    input_tokens_details: null,
    claude_cache_creation_5_m_tokens: 0,
    claude_cache_creation_1_h_tokens: 0,
  };
}

/** Returns whether the gateway converts between its chat format and the vendor's. */
export function isConverted(vendor: Vendor | undefined): boolean {
  return vendor === 'google' || vendor === 'anthropic';
}

/** Returns the usage of a chat response, with its cost if responses report it. */
export function chatUsage(
  count: TokenCount,
  vendor: Vendor | undefined,
  quirks: Quirks,
): JsonObject {
  const usage = isConverted(vendor) ? gatewayUsage(count, vendor) : passedUsage(count);
  return { ...usage, ...costField(count.prompt + count.completion, quirks) };
}
