const mebibyte = 1 << 20;

/** Frees what can be freed. Needs `--expose-gc`. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/** The memory growth of a process, in MiB. */
export interface Growth {
  /** The resident set before. */
  readonly before: number;
  /** The growth of the peak resident set. */
  readonly growth: number;
}

/** Watches the memory of this process while something is done. */
export async function growthDuring(work: () => Promise<void>): Promise<Growth> {
  await collectGarbage();
  const before = process.memoryUsage.rss();
  let largest = before;
  const look = (): void => {
    largest = Math.max(largest, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 20);
  try {
    await work();
    look();
  } finally {
    clearInterval(timer);
  }
  return { before: before / mebibyte, growth: (largest - before) / mebibyte };
}

/** The memory in use on the heap and in buffers, in bytes, after everything else was freed. */
export async function memoryInUse(): Promise<number> {
  await collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
