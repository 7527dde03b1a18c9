import { refusal } from './errors.ts';

/** Words that, anywhere in a prompt, make the emulator's answer special. */
export const markers = {
  /** Gemini: `promptFeedback.blockReason` and no candidates. Chat: 400 `prompt_blocked`, charged. */
  block: '[block]',
  /** The answer is stopped by a content filter: `content_filter` in chat, `SAFETY` in Gemini. */
  filter: '[filter]',
  /** Chat: the model refuses in `message.refusal`. */
  refuse: '[refuse]',
  /** Any prompt: 500 `sensitive_words_detected`, before a charge. */
  sensitive: '[sensitive]',
  /** An answer of some hundred words. */
  long: '[long]',
  /** Video: the task fails in the review of its content. */
  fail: '[fail]',
  /** Video: the vendor stumbles once on the gateway's own poll, see the quirk `videoStumble`. */
  stumble: '[stumble]',
} as const;

/** Refuses a prompt that the gateway's own word filter stops. */
export function checkWords(prompt: string): void {
  if (prompt.includes(markers.sensitive)) {
    throw refusal(500, 'sensitive_words_detected', 'sensitive_words_detected');
  }
}
