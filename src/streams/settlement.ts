import { GatewayError } from '../errors/gateway-error.ts';
import type { StreamVerdict } from '../errors/stream-error.ts';
import { ShapeMismatch } from '../schemas/reader.ts';
import type { EventDecoder } from './event-decoder.ts';
import type { Settlement, StreamContext } from './protocol.ts';
import { EventTooLarge } from './read-events.ts';
import { SentError } from './sent-error.ts';
import {
  brokenStream,
  describeEnding,
  mismatched,
  type Received,
  sentError,
  timedOut,
  truncated,
  userAborted,
} from './stream-failure.ts';
import { verdictOf } from './verdict.ts';
import type { Expiry } from './watchdog.ts';

/** Decides how a stream is over, by what was received of it and by what has ended it. */
export class Settler<Item> {
  readonly #context: StreamContext;
  readonly #decoder: EventDecoder<Item>;
  readonly #endIsProof: boolean;

  constructor(context: StreamContext, decoder: EventDecoder<Item>, endIsProof: boolean) {
    this.#context = context;
    this.#decoder = decoder;
    this.#endIsProof = endIsProof;
  }

  get #received(): Received {
    const { partial, usage } = this.#decoder.progress;
    return { partial, usage };
  }

  /** Nothing more came: the body has ended, or broken with a cause. */
  ended(broken?: { readonly cause: unknown }): Settlement {
    const verdict = this.#verdict(broken !== undefined);
    const { onTruncated, error: base } = this.#context;
    if (verdict === 'complete' || onTruncated === 'allow') return { verdict };
    const { started } = this.#decoder.progress;
    if (onTruncated === 'warn') {
      this.warn(`The stream ${describeEnding(verdict, started)}`);
      return { verdict };
    }
    const ending = { verdict, started, cause: broken?.cause };
    return { verdict, error: truncated(base, this.#received, ending) };
  }

  /** What came cannot be read, or is an error. */
  failed(error: unknown): Settlement {
    return { verdict: 'truncated', error: this.#explain(error) };
  }

  #explain(error: unknown): unknown {
    const { error: base } = this.#context;
    if (error instanceof SentError) return sentError(base, this.#received, error.body);
    if (error instanceof ShapeMismatch) return mismatched(base, this.#received, error);
    if (error instanceof EventTooLarge) return brokenStream(base, this.#received, error.message);
    return error;
  }

  /** The reader has left. */
  left(): Settlement {
    return { verdict: this.#verdict(true) };
  }

  /** The caller's signal or the controller was aborted. */
  aborted(): Settlement {
    const { signal, controller, error: base } = this.#context;
    const { reason }: { reason: unknown } = controller.signal;
    const verdict = this.#verdict(true);
    if (signal?.aborted === true) {
      return { verdict, error: userAborted(base, this.#received, signal.reason) };
    }
    return { verdict, error: reason instanceof GatewayError ? reason : undefined };
  }

  /** A time limit was passed before the answer was whole. */
  expired(limit: Exclude<Expiry['limit'], 'ending'>, timeout: number): Settlement {
    if (limit === 'unread') this.warn('A stream was not read by anybody; it is closed now');
    const error = timedOut(this.#context.error, this.#received, limit, timeout);
    return { verdict: this.#verdict(true), error };
  }

  warn(message: string): void {
    this.#context.warn(message, { operation: this.#context.error.operation });
  }

  #verdict(broken: boolean): StreamVerdict {
    const { progress, terminated, isFinished, isCut } = this.#decoder;
    return verdictOf({
      started: progress.started,
      finished: isFinished,
      terminated,
      broken: broken || isCut,
      endIsProof: this.#endIsProof,
    });
  }
}
