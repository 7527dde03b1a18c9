import { toError } from '../../../answers/objects.ts';
import { addCounts } from '../../../answers/usage.ts';
import { APIUserAbortError } from '../../../errors/api-errors.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import { abortOwn, followSignal, untilAborted } from '../../../http/abort.ts';
import type { ClientSettings } from '../../../calls/settings.ts';
import { runAborted, type StreamVerdict, truncated } from '../../../streams/errors.ts';
import { type Aborted, ChunkQueue, ignoreRejection } from '../../../streams/chunk-queue.ts';
import type { Stream } from '../../../streams/stream.ts';
import { ChatAccumulator, type OpenChoice } from '../accumulator.ts';
import { EventEmitter } from './event-emitter.ts';
import type { OutputParser } from '../output-parser.ts';
import type {
  ChatCompletionFunctionCall,
  ChatCompletionMessageParam,
  ChatCompletionToolMessageParam,
} from '../params.ts';
import type { PendingToolCall } from '../tool-calls.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionSnapshot,
  ChatCompletionStreamEvents,
  CompletionUsage,
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
} from '../types.ts';

/** The stream of one completion. */
type Chunks = AsyncIterable<ChatCompletionChunk> & Pick<Stream<ChatCompletionChunk>, 'verdict'>;

/**
 * The prefix of `object` in a line that contains the result of a tool, as JSON, instead of a chunk. `openai`
 * writes and reads the same lines.
 */
const messagePrefix = 'chat.completion.chunk.message:';

function parseToolMessage(object: string): ChatCompletionToolMessageParam | undefined {
  if (!object.startsWith(messagePrefix)) return undefined;
  const json = object.slice(messagePrefix.length);
  const { message }: { message: ChatCompletionToolMessageParam } = JSON.parse(json);
  return message;
}

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

/** Time that a run waits after an abort for work that ignores the signal. */
const abortGraceMs = 500;

/**
 * A run of one or more completions. Reads them, emits an event for each addition, and stores the
 * conversation.
 */
export class ChatRun<Parsed> extends EventEmitter<ChatCompletionStreamEvents<Parsed>> {
  readonly controller = new AbortController();
  /** The completions so far. */
  readonly completions: ParsedChatCompletion<Parsed>[] = [];
  readonly messages: ChatCompletionMessageParam[];
  /** Parses texts and arguments of tools; `undefined` if nothing is parsed, which `model-gateway/stream` does without. */
  parser: OutputParser<Parsed> | undefined;
  toolResult: string | undefined;
  /** Settles when the run is over. */
  done = new Promise<void>(() => {});
  /** The result of the run; `undefined` until it ends. */
  end: { readonly failure?: Error } | undefined;
  /** `true` if a loop or an awaited promise receives the error of a failure. */
  isObserved = false;
  /** The readers of the chunks. The value is `true` if a reader also receives results of tools. */
  readonly #readers = new Map<ChunkQueue<ChatCompletionChunk>, boolean>();
  readonly #log: ClientSettings['log'] | undefined;
  readonly #signal: AbortSignal | null | undefined;
  #stream: Chunks | undefined;
  /** Assembles the current completion. */
  #accumulator: ChatAccumulator | undefined;
  /** `true` while more chunks may follow, so that partial texts are parsed. */
  #isGrowing = false;
  #lastChunk: ChatCompletionChunk | undefined;

  /**
   * @param log - Receives failures that the caller does not; the console by default.
   * @param signal - The caller's signal. Aborts the run, and stops loops over its chunks even after its
   *   end.
   */
  constructor(
    messages: readonly ChatCompletionMessageParam[] | undefined,
    log?: ClientSettings['log'],
    signal?: AbortSignal | null,
  ) {
    super();
    // Invalid values are rejected when they are sent.
    this.messages = Array.isArray(messages) ? [...messages] : [];
    this.#log = log;
    this.#signal = signal;
  }

  /** Verdict on the stream of the current completion; `undefined` until it ends. */
  get verdict(): StreamVerdict | undefined {
    return this.#stream?.verdict;
  }

  /** The current completion so far, with the texts parsed so far. */
  get snapshot(): ChatCompletionSnapshot | undefined {
    if (this.#isGrowing && this.parser) this.#parseSnapshot(this.parser);
    return this.#accumulator?.partial;
  }

  /** The last completion. */
  get completion(): ParsedChatCompletion<Parsed> {
    const completion = this.completions.at(-1);
    if (completion !== undefined) return completion;
    throw new GatewayError('The stream ended without a completion.', { outcome: 'unknown' });
  }

  /** The last message of the model. */
  get message(): ParsedChatCompletionMessage<Parsed> {
    const message = this.completion.choices[0]?.message;
    if (message !== undefined) return message;
    const problem = 'The completion has no choices, so there is no message.';
    throw new GatewayError(problem, { outcome: 'unknown' });
  }

  /** The last function that the model called. */
  get functionCall(): ChatCompletionFunctionCall | undefined {
    return this.completions.flatMap(functionCalls).at(-1);
  }

  /** Token usage of all completions. */
  get usage(): CompletionUsage {
    const zero = { completion_tokens: 0, prompt_tokens: 0, total_tokens: 0 };
    return this.completions.reduce((sum, { usage }) => addCounts(sum, usage ?? {}), zero);
  }

  /** Starts the work in a microtask, so that the caller can add listeners before anything happens. */
  start(work: () => Promise<unknown>): void {
    this.done = ignoreRejection(this.#run(work));
  }

  async #run(work: () => Promise<unknown>): Promise<void> {
    await Promise.resolve();
    const { signal } = this.controller;
    let stopFollowing: (() => void) | undefined;
    try {
      stopFollowing = followSignal(this.#signal, this.controller);
      await untilAborted(work(), signal, abortGraceMs, () => runAborted(signal));
      this.#emitFinal();
      this.end = {};
    } catch (cause) {
      const failure = toError(cause);
      this.end = { failure };
      if (APIUserAbortError.isInstance(failure)) this.emitLast('abort', failure);
      else {
        const isHandled = this.isObserved || this.has('error');
        this.emitLast('error', failure);
        if (!isHandled) this.#logUnobserved(failure);
      }
      throw failure;
    } finally {
      stopFollowing?.();
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

  /** Logs a failure that no listener, loop or promise receives. `openai` ends the process in this case. */
  #logUnobserved(failure: Error): void {
    const message =
      'A stream or run of tools failed, and no listener or awaited promise received its error; listen to "error" or await done()';
    // A listener may have thrown the error, and its message may contain anything.
    const error = GatewayError.isInstance(failure) ? failure.message : failure.name;
    if (this.#log) this.#log.write('warn', message, { error });
    else console.warn(`[model-gateway] ${message}`, { error });
  }

  /** Returns a promise for the caller. It never causes an unhandled rejection. */
  promise<Value>(inner: Promise<Value>): Promise<Value> {
    return new AwaitedPromise(ignoreRejection(inner), () => {
      this.isObserved = true;
    });
  }

  /** Returns a queue of items that ends with the run. */
  queue<Item>(onLeave: () => void, readAborted?: () => Aborted | undefined): ChunkQueue<Item> {
    const queue = new ChunkQueue<Item>(onLeave, readAborted);
    this.done.then(
      () => queue.end(undefined),
      (error: unknown) => queue.end(error),
    );
    return queue;
  }

  /** Returns an iterator of chunks from now on, until an abort. Leaving the loop aborts the run. */
  follow(includesMessages: boolean): ChunkQueue<ChatCompletionChunk> {
    this.isObserved = true;
    const queue = this.queue<ChatCompletionChunk>(
      () => abortOwn(this.controller),
      () => {
        const aborted = [this.controller.signal, this.#signal].find((signal) => signal?.aborted);
        return aborted ? { failure: runAborted(aborted) } : undefined;
      },
    );
    this.#readers.set(queue, includesMessages);
    return queue;
  }

  add(completion: ParsedChatCompletion<Parsed>): ParsedChatCompletion<Parsed> {
    this.completions.push(completion);
    this.emit('chatCompletion', completion);
    const message = completion.choices[0]?.message;
    if (message !== undefined) {
      // Tool results refer to these ids.
      for (const call of message.tool_calls ?? []) call.id ||= newToolCallId();
      this.messages.push(message);
      this.emit('message', message);
      for (const call of functionCalls(completion)) this.emit('functionToolCall', call);
    }
    return completion;
  }

  addToolResult(message: ChatCompletionToolMessageParam): void {
    this.messages.push(message);
    this.emit('message', message);
    if (typeof message.content === 'string') {
      this.toolResult = message.content;
      this.emit('functionToolCallResult', message.content);
    }
    if (this.#lastChunk === undefined) return;
    const object = messagePrefix + JSON.stringify({ type: 'message', message });
    const { id, created, model } = this.#lastChunk;
    for (const [queue, includesMessages] of this.#readers) {
      if (includesMessages) queue.push({ id, created, model, object, choices: [] });
    }
  }

  /** Reads the stream of one completion to its end. */
  async read(
    opening: Chunks | PromiseLike<Chunks>,
  ): Promise<ParsedChatCompletion<Parsed> | undefined> {
    const stream = await opening;
    this.#begin(stream);
    let hasResults = false;
    for await (const chunk of stream) {
      const message = parseToolMessage(chunk.object);
      if (message === undefined) await this.#addChunk(chunk);
      else {
        await this.#complete();
        this.addToolResult(message);
        this.#accumulator = undefined;
        hasResults = true;
      }
    }
    // A tool result does not prove that the completion after it is complete.
    const unfinished = this.#accumulator;
    if (hasResults && unfinished?.isFinished(false) === false) {
      throw truncated({ operation: 'fromReadableStream()' }, unfinished, 'truncated');
    }
    return this.#complete();
  }

  #begin(stream: Chunks): void {
    this.#stream = stream;
    this.#accumulator = undefined;
    this.#isGrowing = true;
    this.emit('connect');
  }

  /** Emits the end of open texts and calls, and adds the completion to the run. */
  async #complete(): Promise<ParsedChatCompletion<Parsed> | undefined> {
    const snapshot = this.#accumulator?.partial;
    if (snapshot === undefined) return undefined;
    for (const { index } of snapshot.choices) {
      const open = this.#accumulator?.choices.get(index);
      if (open) await this.#emitEnd(open, open.toolCalls.open);
    }
    this.#isGrowing = false;
    removeParsed(snapshot);
    if (this.parser) return this.add(await this.parser.apply(snapshot));
    markUnparsed(snapshot);
    return this.add(snapshot);
  }

  /** Adds a chunk and emits its events. Completed texts are parsed before their end is emitted. */
  async #addChunk(chunk: ChatCompletionChunk): Promise<void> {
    const accumulator = (this.#accumulator ??= new ChatAccumulator(undefined));
    accumulator.add(chunk);
    // Lines written by another package may contain chunks with neither choices nor usage.
    if (chunk.choices.length > 0 || chunk.usage) {
      for (const queue of this.#readers.keys()) queue.push(chunk);
      if (this.has('chunk') && this.snapshot) this.emit('chunk', chunk, this.snapshot);
    }
    this.#lastChunk = chunk;
    for (const piece of chunk.choices) {
      const open = accumulator.choices.get(piece.index);
      if (open === undefined) continue;
      this.#emitText(piece, open);
      if (piece.delta.tool_calls) await this.#emitToolCalls(piece, open);
      if (piece.finish_reason) await this.#emitEnd(open, open.toolCalls.takeEnded());
    }
  }

  /** Parses texts and arguments so far. Called only when a snapshot is read. */
  #parseSnapshot(parser: OutputParser<Parsed>): void {
    for (const open of this.#accumulator?.choices.values() ?? []) {
      const { message } = open.choice;
      if (parser.getParser() && message.content !== null) {
        Object.assign(message, { parsed: parser.parsePartial(open, message.content) });
      }
      for (const call of open.toolCalls.calls) {
        if (call.type !== 'function' || !parser.getParser(call.function.name)) continue;
        const { name, arguments: text } = call.function;
        Object.assign(call.function, { parsed_arguments: parser.parsePartial(call, text, name) });
      }
    }
  }

  #emitText({ delta, logprobs }: ChatCompletionChunkChoice, open: OpenChoice): void {
    const { choice } = open;
    const { content, refusal } = choice.message;
    if (delta.content && content !== null) {
      this.emit('content', delta.content, content);
      if (this.has('content.delta')) {
        const parsed = this.parser?.parsePartial(open, content) ?? null;
        this.emit('content.delta', { delta: delta.content, snapshot: content, parsed });
      }
    }
    if (delta.refusal && refusal !== null) {
      this.emit('refusal.delta', { delta: delta.refusal, snapshot: refusal });
    }
    if (logprobs?.content) {
      const event = { content: logprobs.content, snapshot: choice.logprobs?.content ?? [] };
      this.emit('logprobs.content.delta', event);
    }
    if (logprobs?.refusal) {
      const event = { refusal: logprobs.refusal, snapshot: choice.logprobs?.refusal ?? [] };
      this.emit('logprobs.refusal.delta', event);
    }
  }

  async #emitToolCalls({ delta }: ChatCompletionChunkChoice, open: OpenChoice): Promise<void> {
    for (const { index, function: piece } of delta.tool_calls ?? []) {
      const { current } = open;
      const next = open.toolCalls.get(index);
      if (current !== next) {
        await this.#emitTextDone(open);
        // Providers may interleave calls, so before the end only complete arguments count.
        if (current?.isComplete()) await this.#emitToolCallDone(current);
        open.current = next;
      }
      if (next?.call.type !== 'function') continue;
      if (!this.has('tool_calls.function.arguments.delta')) continue;
      const { name, arguments: text } = next.call.function;
      this.emit('tool_calls.function.arguments.delta', {
        name,
        index,
        arguments: text,
        parsed_arguments: this.parser?.parsePartial(next.call, text, name) ?? null,
        arguments_delta: piece?.arguments ?? '',
      });
    }
  }

  async #emitEnd(open: OpenChoice, calls: readonly PendingToolCall[]): Promise<void> {
    if (this.parser?.rejects(open.choice.finish_reason)) return;
    await this.#emitTextDone(open);
    for (const call of calls) await this.#emitToolCallDone(call);
  }

  async #emitTextDone(open: OpenChoice): Promise<void> {
    if (open.isTextDone) return;
    open.isTextDone = true;
    const { message, logprobs } = open.choice;
    const { content, refusal } = message;
    if (content) this.emit('content.done', { content, parsed: await this.#parsed(content) });
    if (refusal) this.emit('refusal.done', { refusal });
    if (logprobs?.content) this.emit('logprobs.content.done', { content: logprobs.content });
    if (logprobs?.refusal) this.emit('logprobs.refusal.done', { refusal: logprobs.refusal });
  }

  async #emitToolCallDone(open: PendingToolCall): Promise<void> {
    const { index, call } = open;
    if (call.type !== 'function' || open.isDone || call.incomplete === true) return;
    open.isDone = true;
    const { name, arguments: text } = call.function;
    const parsed_arguments = await this.#parsed(text, name);
    const event = { name, index, arguments: text, parsed_arguments };
    this.emit('tool_calls.function.arguments.done', event);
  }

  /** Parses a text or arguments; `null` if they are invalid or not parsed. */
  async #parsed(text: string, tool?: string): Promise<Parsed | null> {
    return (await this.parser?.parse(text, tool).catch(() => null)) ?? null;
  }
}

function functionCalls({ choices }: ParsedChatCompletion<unknown>): ChatCompletionFunctionCall[] {
  const calls = choices[0]?.message.tool_calls ?? [];
  return calls.flatMap((call) => (call.type === 'function' ? [call.function] : []));
}

function newToolCallId(): string {
  return `call_${Math.random().toString(36).slice(2)}`;
}

/**
 * Removes partially parsed values from a snapshot, because the error of an invalid completion contains it.
 */
function removeParsed({ choices }: ChatCompletionSnapshot): void {
  for (const { message } of choices) {
    delete message.parsed;
    for (const call of message.tool_calls ?? []) {
      if (call.type === 'function') delete call.function.parsed_arguments;
    }
  }
}

/** Marks a completion as not parsed. */
function markUnparsed(
  completion: ChatCompletion,
): asserts completion is ParsedChatCompletion<never> {
  for (const { message } of completion.choices) Object.assign(message, { parsed: null });
}
