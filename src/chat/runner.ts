import { APIUserAbortError } from '../errors/api-errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { withAbortGrace } from '../http/abort.ts';
import { ChunkQueue, ignoreRejection } from '../streams/stream-reader.ts';
import { asyncDispose, dispose } from '../streams/stream.ts';
import { runAborted } from '../streams/errors.ts';
import { addCounts } from '../answers/objects.ts';
import type {
  ChatCompletionFunctionCall,
  ChatCompletionMessageParam,
  ChatCompletionToolMessageParam,
} from './params.ts';
import type {
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

interface Registration<Values extends readonly unknown[]> {
  // A method: an emitter of narrow events is then one of wider events too.
  listener(this: void, ...values: Values): void;
  readonly isOnce: boolean;
}

type EventMap<Events> = { [Event in keyof Events]: readonly unknown[] };

/** Calls listeners by the name of an event. `Events` maps names to what listeners are given. */
class EventEmitter<Events extends EventMap<Events>> {
  #registrations: { [Event in keyof Events]?: readonly Registration<Events[Event]>[] } = {};

  /** Adds a listener; the same one can be added more than once. */
  on<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
    isOnce: boolean,
  ): void {
    // A new list each time, so that a listener may add and remove listeners while it is called.
    this.#registrations[event] = [...(this.#registrations[event] ?? []), { listener, isOnce }];
  }

  /** Removes one registration of a listener. */
  off<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
  ): void {
    const registrations = this.#registrations[event] ?? [];
    const position = registrations.findIndex((registration) => registration.listener === listener);
    this.#registrations[event] = registrations.filter((_, index) => index !== position);
  }

  /** Removes every listener: events that come late reach nobody. */
  clear(): void {
    this.#registrations = {};
  }

  /** Whether anybody listens. */
  has(event: keyof Events): boolean {
    return Boolean(this.#registrations[event]?.length);
  }

  /** Calls the listeners of an event in the order in which they were added. */
  emit<Event extends keyof Events>(event: Event, ...values: Events[Event]): void {
    const registrations = this.#registrations[event] ?? [];
    if (registrations.some(({ isOnce }) => isOnce)) {
      this.#registrations[event] = registrations.filter(({ isOnce }) => !isOnce);
    }
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
}

/** Aborts the run when its caller says so, until the function that it returns is called. */
export type FollowCaller = (controller: AbortController) => () => void;

/** How long work that does not listen to the signal is waited for after an abort. */
const abortGraceMs = 500;

/** The state of a run: its completions, its conversation and its end. Emits events for all of them. */
export class ChatRun<Parsed> extends EventEmitter<ChatCompletionStreamEvents<Parsed>> {
  readonly controller = new AbortController();
  readonly completions: ParsedChatCompletion<Parsed>[] = [];
  /** The conversation. */
  readonly messages: ChatCompletionMessageParam[];
  /** What the last tool gave. */
  toolResult: string | undefined;
  /** Settles when the run is over. */
  done: Promise<void> = Promise.resolve();
  /** How the run ended; `undefined` until then. */
  end: { readonly failure: Error | undefined } | undefined;

  constructor(messages: readonly ChatCompletionMessageParam[]) {
    super();
    // Bad input is refused when it is sent.
    this.messages = Array.isArray(messages) ? [...messages] : [];
  }

  /** The last completion. */
  get completion(): ParsedChatCompletion<Parsed> {
    return this.completions.at(-1) ?? fail('The stream ended without a completion.');
  }

  /** The last message of the model. */
  get message(): ParsedChatCompletionMessage<Parsed> {
    const message = this.completion.choices[0]?.message;
    return message ?? fail('The completion has no choices, so there is no message.');
  }

  /** The last function that the model wanted called. */
  get functionCall(): ChatCompletionFunctionCall | undefined {
    return this.completions.flatMap(functionCalls).at(-1);
  }

  /** The tokens of all completions. */
  get usage(): CompletionUsage {
    const total = { completion_tokens: 0, prompt_tokens: 0, total_tokens: 0 };
    return this.completions.reduce((sum, { usage }) => addCounts(sum, usage ?? {}), total);
  }

  /** Takes a completion. */
  add(completion: ParsedChatCompletion<Parsed>): ParsedChatCompletion<Parsed> {
    this.completions.push(completion);
    this.emit('chatCompletion', completion);
    const message = completion.choices[0]?.message;
    if (message !== undefined) {
      // Without an id, a call and its result could not be told to belong together.
      for (const call of message.tool_calls ?? []) call.id ||= newCallId();
      this.messages.push(message);
      this.emit('message', message);
      for (const call of functionCalls(completion)) this.emit('functionToolCall', call);
    }
    return completion;
  }

  /** Takes the result of a tool. */
  addToolResult(message: ChatCompletionToolMessageParam): void {
    this.messages.push(message);
    this.emit('message', message);
    if (typeof message.content !== 'string') return;
    this.toolResult = message.content;
    this.emit('functionToolCallResult', message.content);
  }

  /** A loop over what is pushed, which ends with the run. */
  queue<Item>(onLeave: () => void): ChunkQueue<Item> {
    const queue = new ChunkQueue<Item>(onLeave);
    this.done.then(
      () => queue.end(undefined),
      (error: unknown) => queue.end(error),
    );
    return queue;
  }

  /** Begins the work. Listeners are added after this, so nothing may happen before it has returned. */
  start(work: () => Promise<unknown>, follow?: FollowCaller): void {
    this.done = ignoreRejection(Promise.resolve().then(() => this.#run(work, follow)));
  }

  async #run(work: () => Promise<unknown>, follow?: FollowCaller): Promise<void> {
    const own = this.controller.signal;
    let release: (() => void) | undefined;
    try {
      release = follow?.(this.controller);
      await withAbortGrace(work(), own, abortGraceMs, () => runAborted(own));
      this.#emitFinal();
      this.end = { failure: undefined };
    } catch (cause) {
      const failure = cause instanceof Error ? cause : new Error(String(cause));
      this.end = { failure };
      if (APIUserAbortError.isInstance(failure)) this.emitLast('abort', failure);
      else this.emitLast('error', failure);
      throw failure;
    } finally {
      release?.();
      this.emitLast('end');
      this.clear();
    }
  }

  #emitFinal(): void {
    const { functionCall, toolResult } = this;
    const completion = this.completions.at(-1);
    if (completion === undefined) return;
    const message = completion.choices[0]?.message;
    this.emit('finalChatCompletion', completion);
    if (message !== undefined) this.emit('finalMessage', message);
    if (message?.content) this.emit('finalContent', message.content);
    if (functionCall !== undefined) this.emit('finalFunctionToolCall', functionCall);
    if (toolResult !== undefined) this.emit('finalFunctionToolCallResult', toolResult);
    if (this.completions.some(({ usage }) => usage)) this.emit('totalUsage', this.usage);
  }
}

function functionCalls({ choices }: ParsedChatCompletion<unknown>): ChatCompletionFunctionCall[] {
  const calls = choices[0]?.message.tool_calls ?? [];
  return calls.flatMap((call) => (call.type === 'function' ? [call.function] : []));
}

function newCallId(): string {
  return `call_${Math.random().toString(36).slice(2)}`;
}

function fail(problem: string): never {
  throw new GatewayError(problem, { outcome: 'unknown' });
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
  readonly controller: AbortController;
  /**
   * The conversation: the messages of the request, and every answer and result of a tool as it comes.
   * What is added here goes along with the next request.
   */
  readonly messages: ChatCompletionMessageParam[];
  readonly #run: ChatRun<Parsed>;

  /** @internal */
  constructor(
    run: ChatRun<Parsed>,
    work: (runner: ChatCompletionRunner<Parsed>) => Promise<unknown>,
    follow?: FollowCaller,
  ) {
    this.#run = run;
    this.controller = run.controller;
    this.messages = run.messages;
    run.start(() => work(this), follow);
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
    listener: (...values: ChatCompletionStreamEvents<Parsed>[Event]) => void,
  ): this {
    this.#run.on(event, listener, false);
    return this;
  }

  /** Calls `listener` for the next such event only. */
  once<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
    listener: (...values: ChatCompletionStreamEvents<Parsed>[Event]) => void,
  ): this {
    this.#run.on(event, listener, true);
    return this;
  }

  /** Removes a listener. */
  off<Event extends keyof ChatCompletionStreamEvents<Parsed>>(
    event: Event,
    listener: (...values: ChatCompletionStreamEvents<Parsed>[Event]) => void,
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
    const emitted = new Promise<unknown>((resolve, reject) => {
      const give = (...values: unknown[]): void => resolve(values.length > 1 ? values : values[0]);
      this.once(event, give);
      const problem = `The stream ended without an event "${event}".`;
      this.#run.done.then(() => fail(problem)).catch(reject);
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
    return ignoreRejection(this.#run.done);
  }

  /** Waits for the last completion. */
  finalChatCompletion(): Promise<ParsedChatCompletion<Parsed>> {
    return this.#final((run) => run.completion);
  }

  /** The same as `finalChatCompletion()`. */
  finalCompletion(): Promise<ParsedChatCompletion<Parsed>> {
    return this.finalChatCompletion();
  }

  /** Waits for the last message of the model. */
  finalMessage(): Promise<ParsedChatCompletionMessage<Parsed>> {
    return this.#final((run) => run.message);
  }

  /** Waits for the text of the last message; `null` when there is none. */
  finalContent(): Promise<string | null> {
    return this.#final((run) => run.message.content);
  }

  /** Waits for the last function that the model wanted called; `undefined` when there is none. */
  finalFunctionToolCall(): Promise<ChatCompletionFunctionCall | undefined> {
    return this.#final((run) => run.functionCall);
  }

  /** Waits for what the last tool gave; `undefined` when none was called. */
  finalFunctionToolCallResult(): Promise<string | undefined> {
    return this.#final((run) => run.toolResult);
  }

  /** Waits for the tokens of all completions; zeros when the gateway reported none. */
  totalUsage(): Promise<CompletionUsage> {
    return this.#final((run) => run.usage);
  }

  /** The completions so far, also those of a run that failed. */
  allChatCompletions(): ParsedChatCompletion<Parsed>[] {
    return [...this.#run.completions];
  }

  #final<Value>(read: (run: ChatRun<Parsed>) => Value): Promise<Value> {
    return ignoreRejection(this.#run.done.then(() => read(this.#run)));
  }
}
