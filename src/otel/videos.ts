import { isSpanContextValid, type Link, type SpanContext } from '@opentelemetry/api';

/** How many video tasks are remembered; of older ones a poll counts as the first again. */
const most = 10_000;

/** Knows which polls of video tasks tell something new. */
export class PollMemory {
  /** What was seen last, the task that was polled last at the end. */
  readonly #seen = new Map<string, string>();

  /**
   * Takes note of a poll.
   *
   * @param status - What it saw: a status, or the name of an error.
   * @returns Whether that is the first of this task, or differs from the one before.
   */
  isNews(task: string, status: string): boolean {
    const before = this.#seen.get(task);
    this.#seen.delete(task);
    if (status !== 'completed' && status !== 'failed') this.#seen.set(task, status);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= most) break;
      this.#seen.delete(oldest);
    }
    return before !== status;
  }
}

/** A span as a W3C `traceparent`; `undefined` when nothing is traced. */
export function traceparentOf(span: SpanContext): string | undefined {
  if (!isSpanContextValid(span)) return undefined;
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  return `00-${span.traceId}-${span.spanId}-${flags}`;
}

/** A link to the span that a `traceparent` names. */
export function linksTo(traceparent: string | undefined): Link[] {
  const found = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(traceparent ?? '');
  const [, traceId = '', spanId = '', flags = ''] = found ?? [];
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? [{ context }] : [];
}
