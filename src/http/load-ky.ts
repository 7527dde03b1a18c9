import type { KyInstance } from 'ky';

/**
 * Loads ky, with the first call.
 *
 * While it loads it tries what the runtime's `Request` can do, which makes Node load all of its `fetch`:
 * more than everything else that an import of this package does, and for nothing in a process that makes
 * no call. The build puts ky into the same file, still run with the first call only, and replaces the
 * `import()` below (tsup.config.ts): a page has no second file to load, and test runners that turn
 * modules into CommonJS do not all turn `import()`.
 */
export async function loadKy(): Promise<KyInstance> {
  return (await import('ky')).default;
}
