import { APIUserAbortError } from '../errors/api-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { StreamVerdict } from '../streams/errors.ts';
import type { ChunkQueue } from '../streams/stream-reader.ts';
import { asyncDispose, dispose, streamOfLines, writeLines } from '../streams/stream.ts';
import { chatLines } from './accumulator.ts';
import type { ChatCompletionFunctionCall, ChatCompletionMessageParam } from './params.ts';
import { ChatRun } from './run.ts';
import type {
  ChatCompletionChunk,
  ChatCompletionSnapshot,
  ChatCompletionStreamEvents,
  CompletionUsage,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
} from './types.ts';

/** What a promise for an event gives: nothing, its only argument, or all of them. */
export type EmittedValue<Values extends readonly unknown[]> = Values extends readonly []
  ? void
  : Values extends readonly [infer Only]
    ? Only
    : Values;

type Listener<Parsed, Event extends keyof ChatCompletionStreamEvents<Parsed>> = (
  ...values: ChatCompletionStreamEvents<Parsed>[Event]
) => void;

/**
 * A run of one or more chat completions, with events, the conversation, and promises for what it ends
 * in. `chat.completions.runTools()` gives one; with `stream: true`, and from
 * `chat.completions.stream()`, it is a `ChatCompletionStream`.
 *
 * The work begins at once, with or without listeners. A failure goes to the listeners of `error`
 * (`abort` if the caller aborted) and rejects every promise of a method, now or later. It is never an
 * unhandled rejection; if no listener, loop or awaited promise receives it, a warning is logged.
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
   * The conversation: the messages of the request, and every answer and result of a tool as it comes.
   * What is added here goes along with the next request.
   */
  readonly messages: ChatCompletionMessageParam[];
  readonly #run: ChatRun<Parsed>;

  /** @internal */
  constructor(run: ChatRun<Parsed>) {
    this.#run = run;
    this.controller = run.controller;
    this.messages = run.messages;
  }

  /** Whether the run is over, for whatever reason. */
  get ended(): boolean {
    return this.#run.end !== undefined;
  }

  /** Whether the run failed or was aborted. */
  get errored(): boolean {
    return this.#run.end?.failure !== undefined;
  }

  /** Whether the caller aborted the run. */
  get aborted(): boolean {
    return APIUserAbortError.isInstance(this.#run.end?.failure);
  }

  /**
   * Calls `listener` for every such event. An error that it throws fails the run; when the run is over
   * it is an uncaught error.
   */
  on<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
    listener: Listener<Parsed, Event>,
  ): this {
    this.#run.on(event, listener);
    return this;
  }

  /** Calls `listener` for the next such event only. */
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
   * Waits for the next such event.
   *
   * @throws the error of the run, or `GatewayError` when it ends without such an event
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
   * Reads every such event from now on, each as a list of what its listeners are given. Leaving the loop
   * changes nothing for the run; the loop throws when the run fails.
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

  /** Aborts the run and closes the connection. After the end it does nothing. */
  abort(): void {
    this.controller.abort();
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
   * @throws `StreamTruncatedError` when an answer is not whole, `OutputError` when it cannot be parsed,
   *   and whatever else made the run fail
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

  /** Waits for the text of the last message; `null` when there is none. */
  finalContent(): Promise<string | null> {
    return this.#final(({ message }) => message.content);
  }

  /** Waits for the last function that the model wanted called; `undefined` when there is none. */
  finalFunctionToolCall(): Promise<ChatCompletionFunctionCall | undefined> {
    return this.#final(({ functionCall }) => functionCall);
  }

  /** Waits for what the last tool gave; `undefined` when none was called. */
  finalFunctionToolCallResult(): Promise<string | undefined> {
    return this.#final(({ toolResult }) => toolResult);
  }

  /** Waits for the tokens of all completions; zeros when the gateway reported none. */
  totalUsage(): Promise<CompletionUsage> {
    return this.#final(({ usage }) => usage);
  }

  /** The completions so far, also those of a run that failed. */
  allChatCompletions(): ParsedChatCompletion<Parsed>[] {
    return [...this.#run.completions];
  }

  #final<Value>(read: (run: ChatRun<Parsed>) => Value): Promise<Value> {
    return this.#run.promise(this.#run.done.then(() => read(this.#run)));
  }
}

/**
 * A streamed chat completion with events, a growing snapshot and promises for what it ends in.
 *
 * The request is sent at once, and the stream is read as fast as it comes, with or without listeners. A
 * failure goes to the listeners of `error` (`abort` if the caller aborted) and to the loop over the
 * chunks, and rejects every promise of a method, now or later. It is never an unhandled rejection; if no
 * listener, loop or awaited promise receives it, a warning is logged.
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
   * Makes a helper from what `toReadableStream()` gave, for example in a browser. The messages of the
   * request are not in there, and nothing is parsed.
   */
  static fromReadableStream(readable: ReadableStream<Uint8Array>): ChatCompletionStream {
    return streamFrom(readable);
  }

  /**
   * What the chunks of the completion so far add up to; `undefined` before the first. It goes on growing,
   * as do `parsed` and `parsed_arguments` in it, which are not checked before the end.
   */
  get currentChatCompletionSnapshot(): ChatCompletionSnapshot | undefined {
    return this.#run.snapshot;
  }

  /** How the stream ended; `undefined` until then. */
  get verdict(): StreamVerdict | undefined {
    return this.#run.verdict;
  }

  /**
   * Reads the chunks that come from now on. Leaving the loop early aborts the call; the loop throws
   * when the call fails.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<ChatCompletionChunk, undefined> {
    return this.#run.follow(false);
  }

  /**
   * Gives the chunks that come from now on, and the results of tools, as lines of JSON; see
   * `fromReadableStream`.
   */
  toReadableStream(): ReadableStream<Uint8Array> {
    return writeLines(this.#run.follow(true));
  }
}

/** A run of tools whose answers are streamed, from `chat.completions.runTools()` with `stream: true`. */
export class ChatCompletionStreamingRunner<Parsed = null> extends ChatCompletionStream<Parsed> {
  /** Makes a runner from what `toReadableStream()` of another gave. Its tools are not called again. */
  static override fromReadableStream(
    readable: ReadableStream<Uint8Array>,
  ): ChatCompletionStreamingRunner {
    return runnerFrom(readable);
  }
}

// Outside of the classes: esbuild renames classes that refer to themselves, and `console.log` shows the name.
function streamFrom(readable: ReadableStream<Uint8Array>): ChatCompletionStream {
  return new ChatCompletionStream(replay(readable));
}

function runnerFrom(readable: ReadableStream<Uint8Array>): ChatCompletionStreamingRunner {
  return new ChatCompletionStreamingRunner(replay(readable));
}

/** Starts a run that reads the lines that `toReadableStream()` of another run wrote. */
function replay(readable: ReadableStream<Uint8Array>): ChatRun<null> {
  const run = new ChatRun<null>([]);
  run.start(async () => {
    const { signal } = run.controller;
    const stream = streamOfLines(readable, new AbortController(), chatLines, signal);
    try {
      await run.read(stream);
    } finally {
      stream.close();
    }
  });
  return run;
}
