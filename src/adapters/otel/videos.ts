import { isSpanContextValid, type Link, type SpanContext } from '@opentelemetry/api';

/** Maximum number of video tasks to remember. The next poll of a forgotten task counts as its first. */
const most = 10_000;

function dropOldest(tasks: Set<string> | Map<string, string>): void {
  for (const oldest of tasks.keys()) {
    if (tasks.size <= most) break;
    tasks.delete(oldest);
  }
}

/** Remembers the last status of video tasks to detect polls with changes. */
export class PollMemory {
  /** The last status by task, least recently polled first. */
  readonly #seen = new Map<string, string>();

  /** The tasks whose cost was reported, in the order of their reports. */
  readonly #paid = new Set<string>();

  /** Records that a poll reported a cost. Returns `true` for the first such poll of the task. */
  isFirstCost(task: string): boolean {
    if (this.#paid.has(task)) return false;
    this.#paid.add(task);
    dropOldest(this.#paid);
    return true;
  }

  /**
   * Records a poll. Returns `true` for the first poll of the task, and if its status changed.
   *
   * @param status - The status, or the name of the error.
   */
  isChange(task: string, status: string): boolean {
    const before = this.#seen.get(task);
    this.#seen.delete(task);
    if (status !== 'completed' && status !== 'failed') this.#seen.set(task, status);
    dropOldest(this.#seen);
    return before !== status;
  }
}

/** Formats a span as a W3C `traceparent`; returns `undefined` if it is not traced. */
export function formatTraceparent(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined;
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

/** Creates a link to the span of a `traceparent`. */
export function linksTo(traceparent: string | undefined): Link[] {
  const found = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(traceparent ?? '');
  const [, traceId = '', spanId = '', flags = ''] = found ?? [];
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? [{ context }] : [];
}
