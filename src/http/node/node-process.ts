/**
 * Returns `process` if the runtime provides Node's modules: Node, Bun, Deno and some workers. Those modules
 * are looked up through it and never imported, because bundlers for pages would fail on the imports.
 *
 * Next's edge runtime has a `process` whose functions throw; it can be recognized by its missing `versions`.
 */
export function nodeProcess(): NodeJS.Process | undefined {
  const { process } = globalThis;
  return typeof process?.versions === 'object' ? process : undefined;
}
