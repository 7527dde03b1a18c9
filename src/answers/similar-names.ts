/** Returns the edit distance (Levenshtein) of two strings. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split('').entries()) {
      const changed = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Returns up to three known names that are similar to an unknown one. */
export function closeTo(name: string, known: readonly string[]): string[] {
  return known
    .map((other) => ({ other, far: distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, far }) => far <= Math.max(2, other.length / 3) || other.includes(name))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ other }) => other);
}
