import type { Gateway, GatewayProfile, Operation, VideoTask } from '../../../../index.ts';
import type { Exchange } from './exchanges.ts';
import type { Facts } from './facts.ts';
import type { ModelKind } from './models.ts';

/** The most that a call can be charged for. */
export interface Work {
  /** @defaultValue 1 */
  readonly requests?: number;
  /** Tokens of all requests; for speech, characters. */
  readonly input?: number;
  readonly output?: number;
  readonly images?: number;
  /** The call makes a video of the length of `videoSeconds()`. */
  readonly isVideo?: boolean;
}

/** Results of calls that later calls use. */
export interface Shared {
  /** Models that limit their output by `max_completion_tokens` instead of `max_tokens`. */
  readonly newLimits: Set<string>;
  speech?: File;
  video?: VideoTask;
}

/** Everything that a call needs. */
export interface CallContext {
  readonly client: Gateway;
  readonly profile: GatewayProfile | undefined;
  readonly model: string;
  readonly shared: Shared;
  /** The requests of the call so far, and their responses. */
  readonly exchanges: readonly Exchange[];
  /** Time limit of the call, in milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Called with a task that continues if the report ends. */
  readonly onTask: (id: string) => void;
}

/** The response arrived, but not what was requested. */
export class CallFailure extends Error {
  readonly isUnsupported: boolean;

  constructor(message: string, isUnsupported = false) {
    super(message);
    this.isUnsupported = isUnsupported;
  }
}

/** A row that a call adds without another request. */
export interface ExtraRow {
  readonly id: string;
  readonly status: 'pass' | 'fail' | 'unsupported';
  readonly detail: string;
}

/** A call of a report. */
export interface ReportCall {
  readonly id: string;
  readonly operation: Operation;
  readonly kind: ModelKind;
  readonly work: Work;
  /** The time limit, in multiples of the limit of a free request. */
  readonly patience: number;
  /** Makes the call as a program would. Throws unless it returns what was requested. */
  readonly run: (context: CallContext) => Promise<unknown>;
  /** Reads the response of the last paid request that succeeded, or of the last request. */
  readonly facts: (answer: Exchange, context: CallContext) => Facts;
  readonly extraRows?: (answer: Exchange, context: CallContext) => readonly ExtraRow[];
  /** Returns the reason why the call cannot be made, if there is one. */
  readonly lacks?: (shared: Shared) => string | undefined;
  /** Errors which mean that the gateway serves something else on this route. */
  readonly foreign?: RegExp;
  /** Errors which mean that another model may serve the call, besides those of all calls. */
  readonly otherModel?: RegExp;
  /** Errors about what the call tests. They are its result, although another model may not have them. */
  readonly tested?: RegExp;
}

/** @throws `CallFailure` unless the condition holds */
export function must(holds: boolean, problem: string, isUnsupported = false): asserts holds {
  if (!holds) throw new CallFailure(problem, isUnsupported);
}

/** Reads a stream to its end. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
