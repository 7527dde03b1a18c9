import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';

const session = new Session();
let parsed = 0;

/** Starts to count. Call it before the counted code is loaded, because it may be compiled already. */
export async function countSteps(): Promise<void> {
  // Optimized code stops counting the calls of functions, and the report then omits these functions.
  for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag);
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
 * Counts executed blocks of the source and characters parsed as JSON: a measure of work that does not depend
 * on the load of the machine.
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
