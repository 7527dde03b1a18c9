import { addCounts } from '../answers/objects.ts';
import { APIUserAbortError } from '../errors/api-errors.ts';
import { withAbortGrace } from '../http/abort.ts';
import { runAborted, truncated } from '../streams/errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { type Aborted, ChunkQueue, ignoreRejection } from '../streams/stream-reader.ts';
import type { Stream } from '../streams/stream.ts';
import { ChatAccumulator } from './accumulator.ts';
import type { ChatCompletionFunctionCall, ChatCompletionMessageParam } from './params.ts';
import type {
  ChatCompletionChunk,
  ChatCompletionSnapshot,
  ChatCompletionStreamEvents,
  CompletionUsage,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
} from './types.ts';

interface Registration<Values extends readonly unknown[]> {
  // A method: a run with narrow events is then one with wider events too.
  listener(this: void, ...values: Values): void;
  readonly isOnce: boolean;
}

type EventMap<Events> = { [Event in keyof Events]: readonly unknown[] };

/** Calls listeners by the name of an event. `Events` maps names to what listeners are given. */
class EventEmitter<Events extends EventMap<Events>> {
  #listeners: { [Event in keyof Events]?: readonly Registration<Events[Event]>[] } = {};

  /** Adds a listener; the same one can be added more than once. */
  on<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
    isOnce = false,
  ): void {
    // A new list each time, so that a listener may add and remove listeners while it is called.
    this.#listeners[event] = [...(this.#listeners[event] ?? []), { listener, isOnce }];
  }

  /** Removes one registration of a listener. */
  off<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
  ): void {
    const registrations = this.#listeners[event] ?? [];
    const position = registrations.findIndex((registration) => registration.listener === listener);
    if (position >= 0) this.#listeners[event] = registrations.toSpliced(position, 1);
  }

  /** Whether anybody listens. */
  has(event: keyof Events): boolean {
    return Boolean(this.#listeners[event]?.length);
  }

  /** Calls the listeners of an event in the order in which they were added. */
  emit<Event extends keyof Events>(event: Event, ...values: Events[Event]): void {
    const registrations = this.#listeners[event] ?? [];
    this.#listeners[event] = registrations.filter(({ isOnce }) => !isOnce);
    for (const { listener } of registrations) listener(...values);
  }

  /** The same after the end, when a listener that throws can no longer fail the run: its error is uncaught. */
  emitLast<Event extends keyof Events>(event: Event, ...values: Events[Event]): void {
    try {
      this.emit(event, ...values);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  /** Removes every listener: events that come late reach nobody. */
  clear(): void {
    this.#listeners = {};
  }
}

/** What a run has come to. */
export interface RunResult<Parsed> {
  /** The last completion. */
  readonly completion: ParsedChatCompletion<Parsed>;
  /** The last message of the model. */
  readonly message: ParsedChatCompletionMessage<Parsed>;
  /** The last function that the model wanted called. */
  readonly functionCall: ChatCompletionFunctionCall | undefined;
  /** What the last tool gave. */
  readonly toolResult: string | undefined;
  /** Emits all that. */
  finish(): void;
}

/** What is read of a stream. */
export type Chunks = AsyncIterable<ChatCompletionChunk> &
  Pick<Stream<ChatCompletionChunk>, 'verdict'>;

/** Aborts the run when its caller says so, until the function that it returns is called. */
export type FollowCaller = (controller: AbortController) => () => void;

/** Logs a warning. */
export type Warn = (message: string, details: { readonly error: string }) => void;

/** A promise that reports when it is awaited. */
class AwaitedPromise<Value> extends Promise<Value> {
  readonly #inner: Promise<Value>;
  readonly #onAwait: () => void;

  constructor(inner: Promise<Value>, onAwait: () => void) {
    // `then` is overridden, so the promise itself never settles.
    super(() => {});
    this.#inner = inner;
    this.#onAwait = onAwait;
  }

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting calls it
  override then<Fulfilled = Value, Rejected = never>(
    onFulfilled?: ((value: Value) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    this.#onAwait();
    return this.#inner.then(onFulfilled, onRejected);
  }
}

/** How long work that does not listen to the signal is waited for after an abort. */
const abortGraceMs = 500;

/**
 * What is there of a run from its first moment on: who listens and reads, the conversation, and the end.
 * What it does is `ChatEngine`'s, which a page loads with its first run.
 */
export class ChatRun<Parsed> extends EventEmitter<ChatCompletionStreamEvents<Parsed>> {
  readonly controller = new AbortController();
  readonly completions: ParsedChatCompletion<Parsed>[] = [];
  /** The conversation. */
  readonly messages: ChatCompletionMessageParam[];
  /** Who reads the chunks; and whether the results of tools are read too. */
  readonly readers = new Map<ChunkQueue<ChatCompletionChunk>, boolean>();
  /** The stream of the current completion, and what its chunks add up to. */
  stream: Chunks | undefined;
  accumulator: ChatAccumulator | undefined;
  /** Settles when the run is over. */
  done = new Promise<RunResult<Parsed>>(() => {});
  /** How the run ended; `undefined` until then. */
  end: { readonly failure?: Error } | undefined;
  /** Whether a loop or an awaited promise receives the error of a failure. */
  isObserved = false;
  /** Adds to the snapshot what its texts are parsed as so far, if anything is parsed. */
  parseSnapshot: (() => void) | undefined;
  readonly #warn: Warn;
  readonly #signal: AbortSignal | null | undefined;

  /** @param signal - The caller's. An abort stops loops over the chunks also after the end of the run. */
  constructor(
    messages: readonly ChatCompletionMessageParam[] | undefined,
    warn: Warn = (message, details) => console.warn(`[model-gateway] ${message}`, details),
    signal?: AbortSignal | null,
  ) {
    super();
    this.#warn = warn;
    this.#signal = signal;
    // Bad input is refused when it is sent.
    this.messages = Array.isArray(messages) ? [...messages] : [];
  }

  /** The tokens of all completions. */
  get usage(): CompletionUsage {
    const total = { completion_tokens: 0, prompt_tokens: 0, total_tokens: 0 };
    return this.completions.reduce((sum, { usage }) => addCounts(sum, usage ?? {}), total);
  }

  /** Adds a chunk to the current completion, and hands it to everybody who reads. */
  take(chunk: ChatCompletionChunk): ChatAccumulator {
    const accumulator = (this.accumulator ??= new ChatAccumulator(1));
    accumulator.add(chunk);
    // Lines that another package has written may hold chunks with neither.
    if (chunk.choices.length === 0 && !chunk.usage) return accumulator;
    for (const queue of this.readers.keys()) queue.push(chunk);
    if (this.has('chunk') && this.snapshot) this.emit('chunk', chunk, this.snapshot);
    return accumulator;
  }

  /** What the chunks of the current completion add up to. */
  get snapshot(): ChatCompletionSnapshot | undefined {
    this.parseSnapshot?.();
    return this.accumulator?.partial;
  }

  /** Returns a promise for the caller. It never causes an unhandled rejection. */
  promise<Value>(inner: Promise<Value>): Promise<Value> {
    return new AwaitedPromise(ignoreRejection(inner), () => {
      this.isObserved = true;
    });
  }

  /** Fails with an error that the engine has no class for; see there. */
  fail(problem: string, cause?: unknown): never {
    throw new GatewayError(problem, { outcome: 'unknown', cause });
  }

  /** The same, when an answer is not whole. */
  failTruncated(received: ChatAccumulator): never {
    throw truncated({ operation: 'fromReadableStream()' }, received, 'truncated');
  }

  /** A loop over what is pushed, which ends with the run. */
  queue<Item>(onLeave: () => void, readAborted?: () => Aborted | undefined): ChunkQueue<Item> {
    const queue = new ChunkQueue<Item>(onLeave, readAborted);
    this.done.then(
      () => queue.end(undefined),
      (error: unknown) => queue.end(error),
    );
    return queue;
  }

  /** The chunks that come from now on, until an abort. Leaving them aborts the run. */
  follow(takesMessages: boolean): ChunkQueue<ChatCompletionChunk> {
    this.isObserved = true;
    const queue = this.queue<ChatCompletionChunk>(
      () => this.controller.abort(),
      () => {
        const aborted = [this.controller.signal, this.#signal].find((signal) => signal?.aborted);
        return aborted ? { failure: runAborted(aborted) } : undefined;
      },
    );
    this.readers.set(queue, takesMessages);
    return queue;
  }

  /**
   * Begins the work. Listeners are added after this, so nothing may happen before it has returned.
   *
   * @param work - Loads what it takes, and works.
   * @param follow - Aborts the run when its caller says so.
   */
  start(work: () => Promise<RunResult<Parsed>>, follow?: FollowCaller): void {
    this.done = ignoreRejection(this.#run(work, follow));
  }

  /** The caller would not learn of the failure: `openai` ends the process here. */
  #warnOf(failure: Error): void {
    // What a listener throws may hold anything.
    const error = GatewayError.isInstance(failure) ? failure.message : failure.name;
    const unheard = 'failed, and no listener or awaited promise received its error';
    this.#warn(`A stream or run of tools ${unheard}; listen to "error" or await done()`, { error });
  }

  async #run(
    work: () => Promise<RunResult<Parsed>>,
    follow?: FollowCaller,
  ): Promise<RunResult<Parsed>> {
    await Promise.resolve();
    const { signal: own } = this.controller;
    let release: (() => void) | undefined;
    try {
      release = follow?.(this.controller);
      const result = await withAbortGrace(work(), own, abortGraceMs, () => runAborted(own));
      // Who waited for the last message may still listen to these.
      result.finish();
      this.end = {};
      return result;
    } catch (cause) {
      const failure = cause instanceof Error ? cause : new Error(String(cause));
      this.end = { failure };
      if (APIUserAbortError.isInstance(failure)) this.emitLast('abort', failure);
      else {
        const isReceived = this.isObserved || this.has('error');
        this.emitLast('error', failure);
        if (!isReceived) this.#warnOf(failure);
      }
      throw failure;
    } finally {
      release?.();
      this.emitLast('end');
      this.clear();
    }
  }
}
