import type { ResponseIssue } from '../types.ts';
import type { Drift } from '../options.ts';
import type { Log } from '../http/log.ts';

/** Beyond this many different reports something is fundamentally off and more tell nothing new. */
const maxReports = 1_000;

/** Reports each difference between an answer and the expectation once per client. */
export class DriftReporter {
  readonly #onDrift: ((drift: Drift) => void) | undefined;
  readonly #log: Log;
  readonly #seen = new Set<string>();

  constructor(onDrift: ((drift: Drift) => void) | undefined, log: Log) {
    this.#onDrift = onDrift;
    this.#log = log;
  }

  report(operation: string, issue: ResponseIssue): void {
    // List positions are left out, or a list of a thousand items would report a thousand times.
    const path = issue.path.replace(/\[\d+\]/g, '[]');
    const key = `${operation} ${path} ${issue.expected} ${issue.received}`;
    if (this.#seen.has(key) || this.#seen.size >= maxReports) return;
    this.#seen.add(key);
    const drift: Drift = { operation, ...issue };
    this.#log.write('info', 'The answer differs from what was expected', { ...drift });
    const onError = (): void => this.#log.write('error', 'onDrift threw an error', { operation });
    try {
      const result: unknown = this.#onDrift?.(drift);
      // An async function fits the type, and its rejection would end a Node process.
      if (result instanceof Promise) result.catch(onError);
    } catch {
      onError();
    }
  }
}
