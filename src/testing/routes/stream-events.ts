/**
 * What an event is for. Stream faults look for the finishing one. A `count` is what the gateway
 * counts itself, written only where the vendor's own usage did not come.
 */
export type EventRole = 'delta' | 'finish' | 'usage' | 'count' | 'done';

/** One event of a stream before it is written. */
export interface StreamEvent {
  readonly role: EventRole;
  /** The data: JSON, or text as it stands. */
  readonly data: unknown;
  /** The name of the event; most streams have none. */
  readonly event?: string | undefined;
}

/** What the writer of a stream does next. */
export type Step =
  | { readonly do: 'write'; readonly event: StreamEvent }
  | { readonly do: 'write-raw'; readonly text: string }
  | { readonly do: 'heartbeats'; readonly every: number }
  | { readonly do: 'nothing' }
  | { readonly do: 'reset' };

/** The end of most streams. */
export const doneEvent: StreamEvent = { role: 'done', data: '[DONE]' };
