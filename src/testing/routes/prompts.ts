import { refusal } from '../server/errors.ts';
import { isReasoning } from '../control/models.ts';

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

/** What an answer is made from, whatever the request's format. */
export interface Question {
  readonly model: string;
  /** The text of the last message of the user. */
  readonly prompt: string;
  /** The media of that message in words, for example `a PNG image of 640x480`. */
  readonly media: readonly string[];
  /** What tools answered after that message. */
  readonly toolResults: readonly { readonly name: string; readonly result: string }[];
}

const filler =
  'This sentence is one of many that make the answer long, so that there is something to watch while it streams.';

/** The text that the emulator's models answer: always the same for the same question. */
export function answerText({ model, prompt, media, toolResults }: Question): string {
  if (toolResults.length > 0) {
    return toolResults.map(({ name, result }) => `${name} says: ${result}`).join('\n');
  }
  const said = prompt === '' ? 'You wrote nothing.' : `You said: "${prompt}"`;
  const seen = media.length === 0 ? '' : ` You sent ${media.join(' and ')}.`;
  const answer = `${said}${seen} This is the answer of ${model}.`;
  if (!prompt.includes(markers.long)) return answer;
  return [answer, ...Array.from({ length: 30 }, () => filler)].join(' ');
}

/** What a reasoning model thinks before it answers; other models think nothing. */
export function thoughtsOf({ model, prompt, toolResults }: Question): string {
  if (!isReasoning(model)) return '';
  if (toolResults.length > 0) return 'The tools have answered, so I can pass that on.';
  return `The user wrote ${prompt.split(/\s+/).length} words. I repeat them.`;
}
