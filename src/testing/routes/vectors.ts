import { hash, randomFrom } from '../media/hash.ts';

const common = new Set(
  'a an and are as at be by for from has i in is it of on or that the this to was were will with you'.split(
    ' ',
  ),
);

/** The features of a text with their weights: its words, their stems and their groups of letters. */
function featuresOf(text: string): Map<string, number> {
  const features = new Map<string, number>();
  const add = (feature: string, weight: number): void => {
    features.set(feature, (features.get(feature) ?? 0) + weight);
  };
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const weight = common.has(word) ? 0.1 : 1;
    add(`word ${word}`, weight);
    add(`stem ${word.slice(0, 5)}`, weight);
    const padded = `^${word}$`;
    for (let at = 0; at + 3 <= padded.length; at += 1) {
      add(`letters ${padded.slice(at, at + 3)}`, 0.3 * weight);
    }
  }
  return features;
}

/**
 * The embedding of a text: a vector of length 1 that is always the same for the same text.
 *
 * Texts that share words, or words with the same beginnings, have a high cosine similarity; texts
 * without anything in common one near 0.
 */
export function embed(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  const features = featuresOf(text);
  if (features.size === 0) features.set(`text ${text}`, 1);
  for (const [feature, weight] of features) {
    const random = randomFrom(hash(feature));
    // Each feature has a few places with a sign, so that two features rarely cover each other.
    for (let place = 0; place < 8; place += 1) {
      const index = Math.floor(random() * dimensions);
      vector[index] = (vector[index] ?? 0) + (random() < 0.5 ? -weight : weight);
    }
  }
  const length = Math.hypot(...vector);
  return length === 0
    ? vector.fill(1 / Math.sqrt(dimensions))
    : vector.map((value) => value / length);
}
