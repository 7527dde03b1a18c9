import assert from 'node:assert/strict';

/** Checks, and those that failed. */
export class Checks {
  passed = 0;
  readonly failures: string[] = [];
  /** Returns what a person sees, which is printed with a failure. */
  describe: (() => Promise<string>) | undefined;

  /** Runs one check to its end, whatever it finds. */
  async check(name: string, run: () => Promise<void>): Promise<void> {
    const started = performance.now();
    try {
      await run();
      this.passed += 1;
      console.log(`ok ${name} (${Math.round(performance.now() - started)} ms)`);
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.failures.push(name);
      console.log(`not ok ${name}\n  ${message.replaceAll('\n', '\n  ')}`);
      const shown = await this.describe?.();
      if (shown !== undefined)
        console.log(`  What is shown:\n    ${shown.replaceAll('\n', '\n    ')}`);
    }
  }
}

/** Holds when nothing was found. */
export function nothing(found: readonly string[], what: string): void {
  assert.deepEqual([...new Set(found)], [], what);
}
