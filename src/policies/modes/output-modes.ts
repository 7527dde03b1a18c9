import type { AnswerFormat } from '../../calls/call.ts';
import type { ResponseKind } from '../../endpoints.ts';
import type { RequestPolicy } from '../fallback/next-request.ts';
import type { Change } from '../../http/request.ts';
import type { Transport } from '../../calls/transport.ts';
import type { RequestOptions, StructuredOutput } from '../../options/options.ts';
import { peek } from '../../options/snapshot.ts';
import type { JsonObject } from '../../types.ts';
import { refusesStructuredOutput } from './refusal.ts';

/** How a request specifies JSON. */
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
export class OutputModes implements RequestPolicy {
  /** The mode of the latest request. */
  current: OutputMode = 'json_schema';
  readonly #order: readonly OutputMode[];
  readonly #setting: StructuredOutput;
  /** `false` if a request must not be repeated after an error with a success status. */
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
  next({ failure, change }: Parameters<RequestPolicy['next']>[0]): Change | undefined {
    const following = this.#following;
    if (following === undefined || failure === undefined) return undefined;
    const mayFollow = failure.kind === 'refused' || this.#mayRepeat;
    if (!mayFollow || !refusesStructuredOutput(failure)) return undefined;
    this.#modes.set(this.#model, following);
    this.#learned.delete(this.#prefix + String(this.#model));
    const details = { model: String(this.#model), mode: following };
    this.#log.write('info', 'Structured output was rejected; the next mode is used', details);
    return { ...change };
  }

  /** Some gateways return a provider's rejection as the first event of a stream with status 200. */
  holdsStream(): boolean {
    return this.#following !== undefined && this.#mayRepeat;
  }

  /** The mode after the current one. */
  get #following(): OutputMode | undefined {
    if (this.#setting !== 'auto') return undefined;
    return this.#order[this.#order.indexOf(this.current) + 1];
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
 * Returns the last arguments of `Transport.call()` for a request for JSON: one that the provider rejects
 * for its mode is followed by one with the next mode. Without `modes`, those of any other request.
 */
export function inModes<T, Kind extends ResponseKind>(
  format: AnswerFormat<T, Kind>,
  options: RequestOptions | undefined,
  modes: OutputModes | undefined,
) {
  return [modes?.remember(format) ?? format, options, undefined, modes] as const;
}
