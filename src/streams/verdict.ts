import type { StreamVerdict } from '../errors/stream-error.ts';

/** What was seen of a stream when it ended. */
export interface StreamEnding {
  /** Whether there was anything of an answer; usage alone is not. */
  readonly started: boolean;
  /** Whether there is proof that the answer is whole. */
  readonly finished: boolean;
  /** Whether `[DONE]` came. */
  readonly terminated: boolean;
  /** Whether the connection broke, or an event was cut. */
  readonly broken: boolean;
  /** Whether a clean end of the bytes is proof enough, as for lines of JSON from a stream of ours. */
  readonly endIsProof: boolean;
}

/** Decides how a stream ended. A terminator alone proves nothing: gateways write it after time-outs. */
export function verdictOf(ending: StreamEnding): StreamVerdict {
  if (ending.finished) return 'complete';
  if (ending.broken) return 'truncated';
  if (ending.endIsProof) return 'complete';
  if (!ending.started) return 'truncated';
  return ending.terminated ? 'no_finish_reason' : 'no_terminator';
}
