/** Tokens to assume for an image or audio in a message, and for a response without a requested maximum. */
export const assumedTokens = 1_000;

/** Matches encoded data, not text. */
const encoded = /^[\w+/=:;,.-]{500}/;

/** Limits recursion into nested parameters. */
const deepest = 100;

/** Estimates the tokens of a text: four letters of English, or one character of other scripts, for each. */
function estimateText(text: string): number {
  if (encoded.test(text)) return assumedTokens;
  const others = text.replaceAll(/[ -~\s]+/g, '').length;
  return (text.length - others) / 4 + others;
}

/** Estimates the input tokens of the texts in a value. */
export function estimateTokens(value: unknown, depth = 0): number {
  if (typeof value === 'string') return estimateText(value);
  // Embeddings accept tokens as numbers.
  if (typeof value === 'number') return 1;
  if (typeof value !== 'object' || value === null || depth > deepest) return 0;
  const isList = Array.isArray(value);
  let sum = 0;
  for (const [name, item] of Object.entries(value)) {
    sum += estimateTokens(item, depth + 1) + (isList ? 0 : estimateText(name));
  }
  return sum;
}
