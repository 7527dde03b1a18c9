/** Milliseconds of CPU that this process has used, all its threads counted. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds of CPU per run of `work`, after runs that only warm up. */
export async function cpuPerRun(
  work: () => Promise<void>,
  { warmup, runs }: { readonly warmup: number; readonly runs: number },
): Promise<number> {
  for (let run = 0; run < warmup; run++) await work();
  globalThis.gc?.();
  const start = cpuTime();
  for (let run = 0; run < runs; run++) await work();
  return (cpuTime() - start) / runs;
}
