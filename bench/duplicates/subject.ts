import type { GatewayName } from '../lib/model-gateway.ts';
import type { Answer } from './answers.ts';

/** The target of a subject's call. */
export interface Target {
  /** The root of the service, without a trailing slash. */
  readonly origin: string;
  /** A time-out to set, in milliseconds; otherwise the client keeps its own default. */
  readonly timeout: number | undefined;
  /** A `fetch` to set; otherwise the client takes the one of the runtime. */
  readonly fetch: typeof globalThis.fetch | undefined;
}

/** One paid call of one client, on the client's default options. */
export interface Subject {
  /** The npm package. */
  readonly package: string;
  readonly call: string;
  /** The kind of gateway that this client is set to. */
  readonly gateway?: GatewayName;
  /** Options that differ from the defaults. */
  readonly options?: string;
  /** `job`: an image or a video; `metered`: chat and the like. */
  readonly pays: 'job' | 'metered';
  /** `false` when nothing can end the call early: no time-out, no signal. */
  readonly takesTimeout?: false;
  /** Makes the call, to the end of its answer. */
  readonly run: (target: Target) => Promise<unknown>;
  readonly answer: Answer;
  /** Makes the call with a streamed answer and reads the stream to its end. */
  readonly stream?: { readonly run: Subject['run']; readonly answer: Answer };
}

/** Reads a stream to its end. */
export async function readAll(stream: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const item of stream) if (item !== undefined) count += 1;
  return count;
}

/** The time-out as the option `timeout`; nothing when there is none. */
export function timeoutOption({ timeout }: Target): { timeout?: number } {
  return timeout === undefined ? {} : { timeout };
}

/** The `fetch` as the option of that name; nothing when there is none. */
export function fetchOption({ fetch }: Target): { fetch?: typeof globalThis.fetch } {
  return fetch === undefined ? {} : { fetch };
}

/** The time-out as the option `signal`, for clients that have no option for a time. */
export function signalOption({ timeout }: Target): { signal?: AbortSignal } {
  return timeout === undefined ? {} : { signal: AbortSignal.timeout(timeout) };
}

/** The same under the name `abortSignal`. */
export function abortSignalOption({ timeout }: Target): { abortSignal?: AbortSignal } {
  return timeout === undefined ? {} : { abortSignal: AbortSignal.timeout(timeout) };
}
