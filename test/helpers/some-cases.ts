/** `true` if a sample is enough, as in `.ci/run`. */
export const takesSome = process.env['TEST_CASES'] === 'some';

/**
 * Returns each third case if `TEST_CASES` is `some`, as in `.ci/run`, and otherwise all. For cases that differ in
 * data alone and take a process, or a second of CPU, each.
 *
 * @param from - The index of the first case is its remainder by three.
 */
export function someOf<Case>(cases: readonly Case[], from = 0): readonly Case[] {
  if (!takesSome) return cases;
  return cases.filter((_, index) => index % 3 === from % 3);
}
