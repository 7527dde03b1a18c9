/** Returns the edit distance of two words, where swapping neighbouring letters counts as one edit. */
export function editDistance(one: string, other: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], []];
  for (let row = 0; row <= one.length; row += 1) {
    const costs = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      costs.push(
        row === 0
          ? column
          : Math.min(
              (last[column] ?? 0) + 1,
              (costs[column - 1] ?? 0) + 1,
              (last[column - 1] ?? 0) + (isSame ? 0 : 1),
              row > 1 && column > 1 && isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
            ),
      );
    }
    [beforeLast, last] = [last, costs];
  }
  return last[other.length] ?? 0;
}

/** Returns up to three known names that are similar to an unknown one. */
export function closeTo(name: string, known: readonly string[]): string[] {
  return known
    .map((other) => ({ other, far: editDistance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, far }) => far <= Math.max(2, other.length / 3) || other.includes(name))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ other }) => other);
}
