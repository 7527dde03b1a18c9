import type { Report } from '../harness/check.ts';

/** A tab of a browser, as its driver controls it. */
export interface Tab {
  /** Opens an address, and resolves once its document is loaded. */
  open(address: string): Promise<void>;
  /** Evaluates an expression whose value is text. */
  evaluate(expression: string): Promise<string>;
}

/** Time between two looks at what a page has printed, in milliseconds. */
const interval = 200;

const takeLines = 'JSON.stringify((globalThis.lines ?? []).splice(0))';

/** Opens pages whose checks run by themselves, and passes their lines on until they have ended. */
export async function runInTab(
  tab: Tab,
  pages: readonly string[],
  report: Report,
  signal: AbortSignal,
): Promise<void> {
  for (const page of pages) {
    await tab.open(page);
    for (let hasEnded = false; !hasEnded;) {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, interval));
      const lines: unknown = JSON.parse(await tab.evaluate(takeLines));
      for (const line of Array.isArray(lines) ? lines.map(String) : []) {
        if (line.startsWith('Bail out!')) throw new Error(`${page}: ${line}`);
        if (/^(ok|not ok|1\.\.|#)/.test(line)) report(line);
        hasEnded ||= line.startsWith('# {');
      }
    }
  }
}
