import inspector from 'node:inspector/promises';
import { afterAll, beforeAll } from 'vitest';

/**
 * Counts the functions of `src` that are entered, with those of callbacks that have a name.
 *
 * @returns a function that returns how often each was entered since the last call, by its file, name and place
 */
export function coverSource(): () => Promise<ReadonlyMap<string, number>> {
  const session = new inspector.Session();

  beforeAll(async () => {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  });

  afterAll(async () => {
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  });

  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const entries = new Map<string, number>();
    for (const { url, functions } of result) {
      const [, file] = url.split('/src/');
      if (file === undefined) continue;
      for (const { functionName, ranges } of functions) {
        const [{ startOffset, count } = { startOffset: 0, count: 0 }] = ranges;
        // Without a name are files, and the functions by which Vite exports.
        if (count > 0 && functionName !== '')
          entries.set(`${file} ${functionName} ${startOffset}`, count);
      }
    }
    return entries;
  };
}
