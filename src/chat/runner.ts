import { APIUserAbortError } from '../errors/api-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { followSignal } from '../http/follow-signal.ts';
import { giveUpAfterAbort } from '../http/give-up.ts';
import type { ChatCompletionFunctionCall, ChatCompletionMessageParam } from './messages.ts';
import type {
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
  CompletionUsage,
} from './types.ts';
import { ChatResult } from './result.ts';
import type { ChatCompletionStreamEvents } from './stream-events.ts';
import { ChunkQueue, ignoreRejection } from '../streams/stream-reader.ts';
import { asyncDispose, dispose } from '../streams/stream.ts';
import type { EmittedValue } from './event-emitter.ts';
import { runAborted } from '../streams/errors.ts';

/** What listens to the signal ends at once; this is for what does not, in milliseconds. */
const patience = 500;

/** What a runner is made from. */
export interface RunnerInit<Parsed> {
  readonly messages: readonly ChatCompletionMessageParam[];
  /** Does the work. What it throws fails the run. */
  readonly work: (
    result: ChatResult<Parsed>,
    runner: ChatCompletionRunner<Parsed>,
  ) => Promise<unknown>;
  /** Called when the work is over, before the last events. */
  readonly onEnd?: (failure: Error | undefined) => void;
  /** The caller's. */
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * A run of one or more chat completions, with events, the conversation, and promises for what it ends
 * in. `chat.completions.runTools()` gives one; with `stream: true`, and from
 * `chat.completions.stream()`, it is a `ChatCompletionStream`.
 *
 * The work begins at once, whether or not anybody listens. A failure is given to the listeners of
 * `error` (`abort` when the caller aborted) and to every promise of a method, now or later; when nobody
 * asks it is dropped, and never an unhandled rejection.
 *
 * @example
 * const runner = client.chat.completions.runTools({ model, messages, tools });
 * runner.on('functionToolCall', ({ name }) => console.log(name));
 * console.log(await runner.finalContent());
 */
export class ChatCompletionRunner<Parsed = null> implements Disposable, AsyncDisposable {
  /** Aborts the run. */
  readonly controller = new AbortController();
  /**
   * The conversation: the messages of the request, and every answer and result of a tool as it comes.
   * What is added here goes along with the next request.
   */
  readonly messages: ChatCompletionMessageParam[];
  readonly #result: ChatResult<Parsed>;
  readonly #done: Promise<void>;
  #failure: Error | undefined;
  #isEnded = false;

  /** @internal */
  constructor(init: RunnerInit<Parsed>) {
    this.#result = new ChatResult<Parsed>(init.messages);
    this.messages = this.#result.messages;
    // Listeners are added after the constructor, so nothing may happen before it has returned.
    this.#done = ignoreRejection(Promise.resolve().then(() => this.#run(init)));
  }

  /** Whether the run is over, for whatever reason. */
  get ended(): boolean {
    return this.#isEnded;
  }

  /** Whether the run failed or was aborted. */
  get errored(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether the caller aborted the run. */
  get aborted(): boolean {
    return APIUserAbortError.isInstance(this.#failure);
  }

  /**
   * Calls `listener` for every such event. An error that it throws fails the run; when the run is over
   * it is an uncaught error.
   */
  on<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
    listener: (...values: ChatCompletionStreamEvents<Parsed>[Event]) => void,
  ): this {
    this.#result.emitter.add(event, listener, false);
    return this;
  }

  /** Calls `listener` for the next such event only. */
  once<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
    listener: (...values: ChatCompletionStreamEvents<Parsed>[Event]) => void,
  ): this {
    this.#result.emitter.add(event, listener, true);
    return this;
  }

  /** Removes a listener. */
  off<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
    listener: (...values: ChatCompletionStreamEvents<Parsed>[Event]) => void,
  ): this {
    this.#result.emitter.remove(event, listener);
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
    const emitted = new Promise<unknown>((resolve, reject) => {
      const give = (...values: unknown[]): void => resolve(values.length > 1 ? values : values[0]);
      if (!this.#isEnded) this.once(event, give);
      this.#done.then(() => reject(endedWithout(event)), reject);
    });
    return ignoreRejection(emitted);
  }

  /**
   * Reads every such event from now on, each as a list of what its listeners are given. Leaving the loop
   * changes nothing for the run; the loop throws when the run fails.
   */
  events<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
  ): AsyncIterableIterator<ChatCompletionStreamEvents<Parsed>[Event], undefined> {
    const listener = (...values: ChatCompletionStreamEvents<Parsed>[Event]): void =>
      queue.push(values);
    const queue = new ChunkQueue<ChatCompletionStreamEvents<Parsed>[Event]>(() =>
      this.off(event, listener),
    );
    this.on(event, listener);
    this.#done.then(
      () => queue.end(undefined),
      (error: unknown) => queue.end(error),
    );
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
  [asyncDispose](): Promise<void> {
    this.abort();
    return Promise.resolve();
  }

  /**
   * Waits for the end.
   *
   * @throws `StreamTruncatedError` when an answer is not whole, `OutputError` when it cannot be parsed,
   *   and whatever else made the run fail
   */
  done(): Promise<void> {
    return ignoreRejection(this.#done);
  }

  /** Waits for the last completion. */
  finalChatCompletion(): Promise<ParsedChatCompletion<Parsed>> {
    return this.#final(() => this.#result.completion);
  }

  /** The same as `finalChatCompletion()`. */
  finalCompletion(): Promise<ParsedChatCompletion<Parsed>> {
    return this.finalChatCompletion();
  }

  /** Waits for the last message of the model. */
  finalMessage(): Promise<ParsedChatCompletionMessage<Parsed>> {
    return this.#final(() => this.#result.message);
  }

  /** Waits for the text of the last message; `null` when there is none. */
  finalContent(): Promise<string | null> {
    return this.#final(() => this.#result.message.content);
  }

  /** Waits for the last function that the model wanted called; `undefined` when there is none. */
  finalFunctionToolCall(): Promise<ChatCompletionFunctionCall | undefined> {
    return this.#final(() => this.#result.functionCall);
  }

  /** Waits for what the last tool gave; `undefined` when none was called. */
  finalFunctionToolCallResult(): Promise<string | undefined> {
    return this.#final(() => this.#result.toolResult);
  }

  /** Waits for the tokens of all completions; zeros when the gateway reported none. */
  totalUsage(): Promise<CompletionUsage> {
    return this.#final(() => this.#result.usage);
  }

  /** The completions so far, also those of a run that failed. */
  allChatCompletions(): ParsedChatCompletion<Parsed>[] {
    return [...this.#result.completions];
  }

  async #run({ work, onEnd, signal }: RunnerInit<Parsed>): Promise<void> {
    let release: (() => void) | undefined;
    let failure: Error | undefined;
    try {
      release = followSignal(signal, this.controller);
      const { signal: own } = this.controller;
      await giveUpAfterAbort(work(this.#result, this), own, patience, () => runAborted(own));
      this.#result.finish();
    } catch (cause) {
      failure = cause instanceof Error ? cause : new Error(String(cause));
      throw failure;
    } finally {
      release?.();
      this.#failure = failure;
      this.#isEnded = true;
      onEnd?.(failure);
      const { emitter } = this.#result;
      if (APIUserAbortError.isInstance(failure)) emitter.emitLast('abort', failure);
      else if (failure !== undefined) emitter.emitLast('error', failure);
      emitter.emitLast('end');
      emitter.clear();
    }
  }

  #final<Value>(read: () => Value): Promise<Value> {
    return ignoreRejection(this.#done.then(read));
  }
}

function endedWithout(event: string): GatewayError {
  return new GatewayError(`The stream ended without an event "${event}".`, { outcome: 'unknown' });
}
