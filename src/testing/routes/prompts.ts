import { refusal } from '../server/errors.ts';
import { isReasoning } from '../control/models.ts';

/** Markers in a prompt that trigger special responses. */
export const markers = {
  /** Gemini: `promptFeedback.blockReason` and no candidates. Chat: 400 `prompt_blocked`, charged. */
  block: '[block]',
  /** A content filter stops the answer: `content_filter` in chat, `SAFETY` in Gemini. */
  filter: '[filter]',
  /** Chat: the model refuses in `message.refusal`. */
  refuse: '[refuse]',
  /** Any prompt: 500 `sensitive_words_detected`, without a charge. */
  sensitive: '[sensitive]',
  /** An answer of several hundred words. */
  long: '[long]',
  /** Video, and images made as a task: the task fails moderation. */
  fail: '[fail]',
  /** Video: the vendor fails once on the gateway's own poll, see the quirk `videoPollError`. */
  pollError: '[poll-error]',
} as const;

/** Throws if the gateway's word filter blocks the prompt. */
export function checkWords(prompt: string): void {
  if (prompt.includes(markers.sensitive)) {
    throw refusal(500, 'sensitive_words_detected', 'sensitive_words_detected');
  }
}

/** Input for an answer, independent of the request format. */
export interface Question {
  readonly model: string;
  /** Text of the last user message. */
  readonly prompt: string;
  /** Descriptions of the media in that message, for example `a PNG image of 640x480`. */
  readonly media: readonly string[];
  /** Tool results after that message. */
  readonly toolResults: readonly { readonly name: string; readonly result: string }[];
}

const filler =
  'This sentence is one of many that make the answer long, so that there is something to watch while it streams.';

/** Creates the text of an answer, which is always the same for the same question. */
export function answerText({ model, prompt, media, toolResults }: Question): string {
  if (toolResults.length > 0) {
    return toolResults.map(({ name, result }) => `${name} says: ${result}`).join('\n');
  }
  const quote = prompt === '' ? 'You wrote nothing.' : `You said: "${prompt}"`;
  const seen = media.length === 0 ? '' : ` You sent ${media.join(' and ')}.`;
  const answer = `${quote}${seen} This is the answer of ${model}.`;
  if (!prompt.includes(markers.long)) return answer;
  return [answer, ...Array.from({ length: 30 }, () => filler)].join(' ');
}

/** Returns the reasoning of a reasoning model; empty for other models. */
export function reasoningText({ model, prompt, toolResults }: Question): string {
  if (!isReasoning(model)) return '';
  if (toolResults.length > 0) return 'The tools have answered, so I can pass that on.';
  return `The user wrote ${prompt.split(/\s+/).length} words. I repeat them.`;
}
