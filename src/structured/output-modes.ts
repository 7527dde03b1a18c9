import type { AnswerFormat } from '../http/call.ts';
import type { ResponseKind } from '../endpoints.ts';
import type { NextRequest } from '../fallback/next-request.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions, StructuredOutput } from '../options.ts';
import { peek } from '../snapshot.ts';
import type { JsonObject } from '../types.ts';
import { StreamError } from '../streams/errors.ts';
import { namesStructuredOutput, refusesStructuredOutput } from './refusal.ts';

/** How a request asks for JSON. */
export type OutputMode = Exclude<StructuredOutput, 'auto'>;

/** The modes that worked after the provider rejected the first one, by gateway and model. */
const learned = new WeakMap<object, Map<string, OutputMode>>();

/** Returns the instruction for the modes that don't send the schema to the provider. */
export function outputInstruction(schema: JsonObject): string {
  return `Respond only with JSON that matches this JSON Schema:\n${JSON.stringify(schema)}`;
}

/**
 * The modes of structured output that a call, or a run of calls, uses for each model.
 *
 * Starts with the mode that worked for the model before, and moves on to the next one when the provider
 * rejects it. Copies of a client share what they learned.
 */
export class OutputModes {
  /** The mode of the latest request. */
  current: OutputMode = 'json_schema';
  readonly #order: readonly OutputMode[];
  readonly #setting: StructuredOutput;
  /** `false` if a request must not be repeated after an error with status 200. */
  readonly #mayRepeat: boolean;
  readonly #log: Transport['client']['log'];
  readonly #learned: Map<string, OutputMode>;
  readonly #prefix: string;
  readonly #modes = new Map<unknown, OutputMode>();
  #model: unknown;

  /**
   * @param kind - Describes the requests that a provider may treat alike, for example those with tools.
   * @param order - The modes to try.
   */
  constructor(
    { client, baseURL }: Pick<Transport, 'client' | 'baseURL'>,
    options: RequestOptions | undefined,
    kind: string,
    order: readonly OutputMode[],
  ) {
    const { log, call, shared } = client;
    this.#log = log;
    this.#setting = peek(options, 'structuredOutput') ?? call.structuredOutput;
    const repeats = peek(options, 'retryUnknownOutcome') ?? call.retryUnknownOutcome;
    this.#mayRepeat = repeats !== false;
    this.#order = order;
    this.#learned = learned.get(shared) ?? new Map();
    learned.set(shared, this.#learned);
    this.#prefix = `${baseURL} ${kind} `;
  }

  /** Returns the mode for the next request to a model. */
  choose(model: unknown): OutputMode {
    const setting = this.#setting;
    const start = setting === 'auto' ? this.#learned.get(this.#prefix + String(model)) : setting;
    const mode = this.#modes.get(model) ?? start ?? 'json_schema';
    this.#modes.set(model, mode);
    this.#model = model;
    this.current = mode;
    return mode;
  }

  /** Lets a request that the provider rejected for its mode be followed by one with the next mode. */
  readonly next: NextRequest = ({ failure, change }) => {
    const isRejected = failure !== undefined && refusesStructuredOutput(failure);
    return isRejected && this.#advance() ? { ...change } : undefined;
  };

  /**
   * Moves on to the next mode if a stream without content ended with an error that rejects this one. Returns
   * whether to ask again.
   *
   * Some gateways pass a provider's rejection on as the first event of a stream with status 200.
   */
  follow(error: unknown): boolean {
    return (
      this.#mayRepeat &&
      StreamError.isInstance(error) &&
      namesStructuredOutput(error) &&
      this.#advance()
    );
  }

  /** Moves on to the next mode. Returns `false` if there is none. */
  #advance(): boolean {
    const following = this.#order[this.#order.indexOf(this.current) + 1];
    if (this.#setting !== 'auto' || following === undefined) return false;
    this.#modes.set(this.#model, following);
    const details = { model: String(this.#model), mode: following };
    this.#log.write('info', 'Structured output was rejected; the next mode is used', details);
    return true;
  }

  /** Returns the format that also remembers the mode of a successful request. */
  remember<T, Kind extends ResponseKind>(format: AnswerFormat<T, Kind>): AnswerFormat<T, Kind> {
    return {
      kind: format.kind,
      read: (call, answer) => {
        const isLearned = this.#setting === 'auto' && this.current !== 'json_schema';
        if (isLearned) this.#learned.set(this.#prefix + String(this.#model), this.current);
        return format.read(call, answer);
      },
    };
  }
}

/**
 * Returns the last arguments of `Transport.call()` for a request that asks for JSON: one that the provider rejects
 * for its mode is followed by one with the next mode. Without `modes`, those of any other request.
 */
export function inModes<T, Kind extends ResponseKind>(
  format: AnswerFormat<T, Kind>,
  options: RequestOptions | undefined,
  modes: OutputModes | undefined,
) {
  return [modes?.remember(format) ?? format, options, undefined, modes?.next] as const;
}
