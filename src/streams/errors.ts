import { APIError, type APIErrorInit } from '../errors/api-errors.ts';

/**
 * How a stream ended.
 *
 * - `complete`: every started choice has its finish reason.
 * - `no_finish_reason`: the terminator came, but a choice has no finish reason. The gateway also
 *   writes `[DONE]` after its own time-outs, so it proves nothing.
 * - `no_terminator`: no terminator and no finish reason, although the connection closed cleanly.
 * - `truncated`: the connection broke, or nothing but a terminator came.
 */
export type StreamVerdict = 'complete' | 'no_finish_reason' | 'no_terminator' | 'truncated';

/** What a {@link StreamError} is made from. */
export interface StreamErrorInit extends APIErrorInit {
  readonly partial?: unknown;
  readonly usage?: unknown;
}

/** The gateway sent an error inside a stream. */
export class StreamError extends APIError {
  static override readonly kind: string = 'StreamError';

  /**
   * What had been received: a partial `ChatCompletion` for chat, a partial
   * `GenerateContentResponse` for generation, `undefined` when nothing came or was kept (`partial: false`).
   */
  readonly partial: unknown;
  /** The last token usage that the stream reported, or `undefined`. */
  readonly usage: unknown;

  constructor(message: string, init: StreamErrorInit) {
    super(message, init);
    this.partial = init.partial;
    this.usage = init.usage;
  }
}

/** A stream ended without proof that the answer is whole. */
export class StreamTruncatedError extends StreamError {
  static override readonly kind: string = 'StreamTruncatedError';

  /** How the stream ended. Never `complete`. */
  readonly verdict: StreamVerdict;

  constructor(message: string, init: StreamErrorInit & { readonly verdict: StreamVerdict }) {
    super(message, init);
    this.verdict = init.verdict;
  }
}

/** A stream fell silent for longer than the limit named in `limit`. */
export class StreamTimeoutError extends StreamError {
  static override readonly kind: string = 'StreamTimeoutError';

  /** The option whose limit was passed. */
  readonly limit: 'firstByteTimeout' | 'idleTimeout' | 'chunkTimeout' | 'totalTimeout';
  /** That limit, in milliseconds. */
  readonly timeout: number;

  constructor(
    message: string,
    init: StreamErrorInit & {
      readonly limit: StreamTimeoutError['limit'];
      readonly timeout: number;
    },
  ) {
    super(message, init);
    this.limit = init.limit;
    this.timeout = init.timeout;
  }
}
