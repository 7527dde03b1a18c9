import { Session } from 'node:inspector/promises';

const session = new Session();
let parsed = 0;

/** Begins to count; before the code that is counted is loaded, or it may be compiled already. */
export async function countSteps(): Promise<void> {
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const { parse } = JSON;
  JSON.parse = (text, reviver) => {
    parsed += text.length;
    return parse(text, reviver);
  };
}

/**
 * How many blocks of our own code run, and how many characters they have parsed as JSON: a count of
 * work that no busy machine changes.
 */
export async function stepsOf(work: () => unknown): Promise<number> {
  await session.post('Profiler.takePreciseCoverage');
  parsed = 0;
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.includes('/src/'))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((steps, { count }) => steps + count, parsed);
}
