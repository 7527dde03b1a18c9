/**
 * `process` where Node's own modules can be had: in Node, Bun, Deno and some workers. They are looked up in
 * it and never imported, as bundlers for pages would stumble over them.
 *
 * Next's edge runtime has a `process` too, whose functions throw; only its `versions` are missing.
 */
export function nodeProcess(): NodeJS.Process | undefined {
  const { process } = globalThis;
  return typeof process?.versions === 'object' ? process : undefined;
}
