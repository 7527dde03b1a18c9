import type { JsonObject } from '../../types.ts';
import type { Vendor } from '../control/models.ts';

/**
 * Text in the pieces in which a model would produce it. Joined they are the text again.
 *
 * A piece is a word with the space before it, a number, or one other character.
 */
export function tokensOf(text: string): string[] {
  return text.match(/ ?\p{L}+| ?\p{N}+|\s+|./gsu) ?? [];
}

/** How many tokens a text has. */
export function countTokens(text: string): number {
  return tokensOf(text).length;
}

/** The tokens of a request and its answer. */
export interface TokenCount {
  readonly prompt: number;
  readonly completion: number;
  /** Those of `completion` that were spent on thoughts. */
  readonly reasoning: number;
}

const total = ({ prompt, completion }: TokenCount): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
});

/** Usage as OpenAI counts it, which the gateway passes on. */
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

/** Usage as the gateway writes it where it converts an answer, or where the vendor sent none. */
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

/** Whether the gateway translates between its own format for chat and that of the vendor. */
export function isConverted(vendor: Vendor | undefined): boolean {
  return vendor === 'google' || vendor === 'anthropic';
}

/** The usage of a chat answer. */
export function chatUsage(count: TokenCount, vendor: Vendor | undefined): JsonObject {
  return isConverted(vendor) ? gatewayUsage(count, vendor) : passedUsage(count);
}
