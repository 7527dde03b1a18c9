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
