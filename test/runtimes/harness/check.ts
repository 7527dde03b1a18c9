import type { Family, World } from './world.ts';

/** One thing that has to hold in a runtime. */
export interface Check {
  readonly name: string;
  /** Runtimes that run it; all by default. */
  readonly only?: readonly Family[] | undefined;
  /** @returns a measurement to show beside the result, or nothing. */
  run(world: World): Promise<string | undefined | void>;
}

/** Receives results line by line, as in TAP. */
export type Report = (line: string) => void;

/** Limit of one check, in milliseconds. */
const limit = 60_000;

function describe(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const lines = (error.stack ?? String(error)).split('\n').slice(0, 8);
  // Some engines leave the message out of the stack.
  if (!lines.join('\n').includes(error.message)) lines.unshift(`${error.name}: ${error.message}`);
  return error.cause === undefined ? lines : [...lines, 'caused by:', ...describe(error.cause)];
}

async function withLimit<Result>(work: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Not finished after ${limit} ms`)), limit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs every check that applies, or a third of them, one after the other. */
export async function runChecks(
  checks: readonly Check[],
  world: World,
  report: Report,
): Promise<void> {
  const { family, third } = world;
  const wanted = checks
    .filter(({ only }) => only === undefined || only.includes(family))
    .filter((_, index) => third === undefined || index % 3 === third);
  let failures = 0;
  for (const [index, check] of wanted.entries()) {
    const line = `${index + 1} - ${check.name}`;
    try {
      const measured = await withLimit(check.run(world));
      report(`ok ${line}${typeof measured === 'string' ? ` # ${measured}` : ''}`);
    } catch (error) {
      failures += 1;
      report(`not ok ${line}`);
      for (const detail of describe(error)) report(`# ${detail.trimEnd()}`);
    }
  }
  const passed = wanted.length - failures;
  report(`1..${wanted.length}`);
  report(`# ${JSON.stringify({ runtime: world.runtime, passed, failed: failures })}`);
}
