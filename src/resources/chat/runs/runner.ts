import { APIUserAbortError } from '../../../errors/api-errors.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import { abortOwn } from '../../../http/abort.ts';
import type { StreamVerdict } from '../../../streams/errors.ts';
import type { ChunkQueue } from '../../../streams/chunk-queue.ts';
import { asyncDispose, dispose, readLinesAsStream, writeLines } from '../../../streams/stream.ts';
import { chatLines } from '../accumulator.ts';
import type { ChatCompletionFunctionCall, ChatCompletionMessageParam } from '../params.ts';
import { ChatRun } from './run.ts';
import type {
  ChatCompletionChunk,
  ChatCompletionSnapshot,
  ChatCompletionStreamEvents,
  CompletionUsage,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
} from '../types.ts';

/** The value of a promise for an event: nothing, its only argument, or all arguments. */
export type EmittedValue<Values extends readonly unknown[]> = Values extends readonly []
  ? void
  : Values extends readonly [infer Only]
    ? Only
    : Values;

type Listener<Parsed, Event extends keyof ChatCompletionStreamEvents<Parsed>> = (
  ...values: ChatCompletionStreamEvents<Parsed>[Event]
) => void;

/**
 * A run of one or more chat completions, with events, the conversation, and promises for the final results.
 * Returned by `chat.completions.runTools()`; with `stream: true`, and from `chat.completions.stream()`, it is
 * a `ChatCompletionStream`.
 *
 * The run starts immediately, with or without listeners. A failure is emitted as `error` (`abort` if the
 * caller aborted) and rejects every promise of its methods, now or later. It is never an unhandled rejection;
 * if no listener, loop or awaited promise receives it, a warning is logged.
 *
 * @example
 * const runner = client.chat.completions.runTools({ model, messages, tools });
 * runner.on('functionToolCall', ({ name }) => console.log(name));
 * console.log(await runner.finalContent());
 */
export class ChatCompletionRunner<Parsed = null> implements Disposable, AsyncDisposable {
  /** Aborts the run. */
  readonly controller: AbortController;
  /**
   * The conversation: the messages of the request, the completions and the results of tools as they arrive.
   * Messages added here are sent with the next request.
   */
  readonly messages: ChatCompletionMessageParam[];
  readonly #run: ChatRun<Parsed>;

  /** @internal */
  constructor(run: ChatRun<Parsed>) {
    this.#run = run;
    this.controller = run.controller;
    this.messages = run.messages;
  }

  /** `true` once the run has ended for any reason. */
  get ended(): boolean {
    return this.#run.end !== undefined;
  }

  /** `true` if the run failed or was aborted. */
  get errored(): boolean {
    return this.#run.end?.failure !== undefined;
  }

  /** `true` if the caller aborted the run. */
  get aborted(): boolean {
    return APIUserAbortError.isInstance(this.#run.end?.failure);
  }

  /**
   * Calls `listener` for each event of this name. An error that it throws fails the run; after the run it is
   * uncaught.
   */
  on<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
    listener: Listener<Parsed, Event>,
  ): this {
    this.#run.on(event, listener);
    return this;
  }

  /** Calls `listener` for the next event of this name only. */
  once<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
    listener: Listener<Parsed, Event>,
  ): this {
    this.#run.on(event, listener, true);
    return this;
  }

  /** Removes a listener. */
  off<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
    listener: Listener<Parsed, Event>,
  ): this {
    this.#run.off(event, listener);
    return this;
  }

  /**
   * Waits for the next event of this name.
   *
   * @throws the error of the run, or `GatewayError` if it ends without such an event
   */
  emitted<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
  ): Promise<EmittedValue<ChatCompletionStreamEvents<Parsed>[Event]>>;
  emitted(event: keyof ChatCompletionStreamEvents<Parsed>): Promise<unknown> {
    const events = this.#queue(event);
    const emitted = events.next().then(({ value }) => {
      void events.return?.();
      if (!value) {
        const problem = `The stream ended without an event "${event}".`;
        throw new GatewayError(problem, { outcome: 'unknown' });
      }
      return value.length > 1 ? value : value[0];
    });
    if (event === 'error') this.#run.isObserved = true;
    return this.#run.promise<unknown>(emitted);
  }

  /**
   * Iterates over future events of this name, each as the list of its arguments. Leaving the loop does not
   * affect the run; the loop throws if the run fails.
   */
  events<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
  ): AsyncIterableIterator<ChatCompletionStreamEvents<Parsed>[Event], undefined> {
    this.#run.isObserved = true;
    return this.#queue(event);
  }

  #queue<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
  ): ChunkQueue<ChatCompletionStreamEvents<Parsed>[Event]> {
    const listener = (...values: ChatCompletionStreamEvents<Parsed>[Event]): void =>
      queue.push(values);
    const queue = this.#run.queue<ChatCompletionStreamEvents<Parsed>[Event]>(() =>
      this.off(event, listener),
    );
    this.on(event, listener);
    return queue;
  }

  /** Aborts the run and closes the connection. Does nothing after the end. */
  abort(): void {
    abortOwn(this.controller);
  }

  /** The same as `abort()`, for `using`. */
  [dispose](): void {
    this.abort();
  }

  /** The same as `abort()`, for `await using`. */
  async [asyncDispose](): Promise<void> {
    this.abort();
  }

  /**
   * Waits for the end.
   *
   * @throws `StreamTruncatedError` if a completion is incomplete, `OutputError` if it cannot be parsed, and
   *   any other error of the run
   */
  done(): Promise<void> {
    return this.#final(() => {});
  }

  /** Waits for the last completion. */
  finalChatCompletion(): Promise<ParsedChatCompletion<Parsed>> {
    return this.#final(({ completion }) => completion);
  }

  /** The same as `finalChatCompletion()`. */
  finalCompletion(): Promise<ParsedChatCompletion<Parsed>> {
    return this.finalChatCompletion();
  }

  /** Waits for the last message of the model. */
  finalMessage(): Promise<ParsedChatCompletionMessage<Parsed>> {
    return this.#final(({ message }) => message);
  }

  /** Waits for the text of the last message; `null` if it has none. */
  finalContent(): Promise<string | null> {
    return this.#final(({ message }) => message.content);
  }

  /** Waits for the last function call; `undefined` if there is none. */
  finalFunctionToolCall(): Promise<ChatCompletionFunctionCall | undefined> {
    return this.#final(({ functionCall }) => functionCall);
  }

  /** Waits for the result of the last tool; `undefined` if none was called. */
  finalFunctionToolCallResult(): Promise<string | undefined> {
    return this.#final(({ toolResult }) => toolResult);
  }

  /** Waits for the token usage of all completions; zeros if the gateway reported none. */
  totalUsage(): Promise<CompletionUsage> {
    return this.#final(({ usage }) => usage);
  }

  /** The completions so far, including those of a failed run. */
  allChatCompletions(): ParsedChatCompletion<Parsed>[] {
    return [...this.#run.completions];
  }

  #final<Value>(read: (run: ChatRun<Parsed>) => Value): Promise<Value> {
    return this.#run.promise(this.#run.done.then(() => read(this.#run)));
  }
}

/**
 * A streamed chat completion with events, a growing snapshot, and promises for the final results.
 *
 * The request is sent immediately, and the stream is read as fast as it arrives, with or without listeners. A
 * failure is emitted as `error` (`abort` if the caller aborted), thrown by the loop over the chunks, and
 * rejects every promise of its methods, now or later. It is never an unhandled rejection; if no listener,
 * loop or awaited promise receives it, a warning is logged.
 *
 * @example
 * ```ts
 * const stream = client.chat.completions.stream({ model, messages });
 * stream.on('content', (delta) => process.stdout.write(delta));
 * const completion = await stream.finalChatCompletion();
 * ```
 */
export class ChatCompletionStream<Parsed = null>
  extends ChatCompletionRunner<Parsed>
  implements AsyncIterable<ChatCompletionChunk>
{
  readonly #run: ChatRun<Parsed>;

  /** @internal */
  constructor(run: ChatRun<Parsed>) {
    super(run);
    this.#run = run;
  }

  /**
   * Creates a stream from the output of `toReadableStream()`, for example in a browser. It does not include
   * the messages of the request, and nothing is parsed.
   */
  static fromReadableStream(readable: ReadableStream<Uint8Array>): ChatCompletionStream {
    return streamFrom(readable);
  }

  /**
   * The completion so far; `undefined` before the first chunk. It keeps growing, as do `parsed` and
   * `parsed_arguments`, which are not validated before the end.
   */
  get currentChatCompletionSnapshot(): ChatCompletionSnapshot | undefined {
    return this.#run.snapshot;
  }

  /** Verdict on the stream; `undefined` until it ends. */
  get verdict(): StreamVerdict | undefined {
    return this.#run.verdict;
  }

  /**
   * Iterates over the chunks from now on. Leaving the loop early aborts the call; the loop throws if the call
   * fails.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<ChatCompletionChunk, undefined> {
    return this.#run.follow(false);
  }

  /** Returns the chunks from now on, and the results of tools, as JSON lines; see `fromReadableStream`. */
  toReadableStream(): ReadableStream<Uint8Array> {
    return writeLines(this.#run.follow(true));
  }
}

/** A run of tools with streamed completions, from `chat.completions.runTools()` with `stream: true`. */
export class ChatCompletionStreamingRunner<Parsed = null> extends ChatCompletionStream<Parsed> {
  /** Creates a runner from the output of `toReadableStream()`. Its tools are not called again. */
  static override fromReadableStream(
    readable: ReadableStream<Uint8Array>,
  ): ChatCompletionStreamingRunner {
    return runnerFrom(readable);
  }
}

// Defined outside the classes, because esbuild renames classes that refer to themselves, and `console.log`
// shows the name.
function streamFrom(readable: ReadableStream<Uint8Array>): ChatCompletionStream {
  return new ChatCompletionStream(replay(readable));
}

function runnerFrom(readable: ReadableStream<Uint8Array>): ChatCompletionStreamingRunner {
  return new ChatCompletionStreamingRunner(replay(readable));
}

/** Starts a run that reads the output of `toReadableStream()`. */
function replay(readable: ReadableStream<Uint8Array>): ChatRun<null> {
  const run = new ChatRun<null>([]);
  run.start(async () => {
    const { signal } = run.controller;
    const stream = readLinesAsStream(readable, new AbortController(), chatLines, signal);
    try {
      await run.read(stream);
    } finally {
      stream.close();
    }
  });
  return run;
}
