import { findBundled } from '../licences.ts';

/** Returns the packages that are bundled into `dist`, and the number of all with their dependencies. */
export async function describeBundled(): Promise<string> {
  const all = await findBundled();
  const direct = all.filter(({ isDirect }) => isDirect).map(({ name }) => name);
  return `${direct.toSorted().join(', ')}; with their dependencies ${all.length}`;
}
