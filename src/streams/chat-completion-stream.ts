import { APIUserAbortError } from '../errors/connection-error.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { StreamVerdict } from '../errors/stream-error.ts';
import type {
  ChatCompletionFunctionCall,
  ChatCompletionMessageParam,
} from '../types/chat-messages.ts';
import type { ChatCompletionCreateParamsBase } from '../types/chat-params.ts';
import type { ChatCompletionChunk } from '../types/chat-stream.ts';
import type { ChatCompletion, ChatCompletionMessage, CompletionUsage } from '../types/chat.ts';
import { ChatEventDeriver } from './chat-event-deriver.ts';
import { chatProtocol } from './chat-protocol.ts';
import { ChatResult } from './chat-result.ts';
import type { ChatCompletionStreamEvents } from './chat-stream-events.ts';
import { ChunkQueue } from './chunk-queue.ts';
import { type EmittedValue, EventEmitter } from './event-emitter.ts';
import { sourceOfLines } from './open-source.ts';
import { userAborted } from './stream-failure.ts';
import { Stream } from './stream.ts';
import { writeLines } from './write-lines.ts';

type Events = ChatCompletionStreamEvents;

/** Opens the stream behind the helper; the signal is the helper's own. */
type OpenStream = (signal: AbortSignal) => PromiseLike<Stream<ChatCompletionChunk>>;

/**
 * A streamed chat completion with events, a growing snapshot and promises for what it ends in.
 *
 * The request is sent at once, and the stream read as fast as it comes, whether or not anybody
 * listens. A failure is given to the listeners of `error` (`abort` when the caller aborted), to the
 * loop over the chunks, and to every promise of a method, now or later; when nobody asks it is
 * dropped, and never an unhandled rejection.
 *
 * @example
 * ```ts
 * const stream = client.chat.completions.stream({ model, messages });
 * stream.on('content', (delta) => process.stdout.write(delta));
 * const completion = await stream.finalChatCompletion();
 * ```
 */
export class ChatCompletionStream implements AsyncIterable<ChatCompletionChunk> {
  /** Aborts the call. */
  readonly controller = new AbortController();
  /** The conversation: the messages of the request, and the answer when it is complete. */
  readonly messages: ChatCompletionMessageParam[];
  readonly #emitter = new EventEmitter<Events>();
  readonly #deriver = new ChatEventDeriver(this.#emitter);
  readonly #queues = new Set<ChunkQueue<ChatCompletionChunk>>();
  readonly #result = new ChatResult();
  readonly #done: Promise<void>;
  #stream: Stream<ChatCompletionChunk> | undefined;
  #failure: Error | undefined;
  #isEnded = false;

  /** @internal */
  constructor(params: Pick<ChatCompletionCreateParamsBase, 'messages'> | null, open: OpenStream) {
    this.messages = [...(params?.messages ?? [])];
    // Listeners are added after the constructor, so nothing may happen before it has returned.
    this.#done = Promise.resolve().then(() => this.#run(open));
    this.#done.catch(() => undefined);
  }

  /**
   * Makes a helper from what `toReadableStream()` gave, for example in a browser. The messages of the
   * request are not in there.
   */
  static fromReadableStream(readable: ReadableStream<Uint8Array>): ChatCompletionStream {
    return new ChatCompletionStream(null, async (signal) => {
      const source = sourceOfLines(readable, new AbortController(), chatProtocol, signal);
      return new Stream(source);
    });
  }

  /** What all chunks so far add up to; `undefined` before the first. It goes on growing. */
  get currentChatCompletionSnapshot(): ChatCompletion | undefined {
    return this.#deriver.snapshot;
  }

  /** Whether the stream is over, for whatever reason. */
  get ended(): boolean {
    return this.#isEnded;
  }

  /** Whether the call failed or was aborted. */
  get errored(): boolean {
    return this.#failure !== undefined;
  }

  /** Whether the caller aborted the call. */
  get aborted(): boolean {
    return APIUserAbortError.isInstance(this.#failure);
  }

  /** How the stream ended; `undefined` until then. */
  get verdict(): StreamVerdict | undefined {
    return this.#stream?.verdict;
  }

  /**
   * Calls `listener` for every such event. An error that it throws fails the call; when the call is
   * over it is an uncaught error.
   */
  on<Event extends keyof Events>(event: Event, listener: (...values: Events[Event]) => void): this {
    this.#emitter.add(event, listener, false);
    return this;
  }

  /** Calls `listener` for the next such event only. */
  once<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
  ): this {
    this.#emitter.add(event, listener, true);
    return this;
  }

  /** Removes a listener. */
  off<Event extends keyof Events>(
    event: Event,
    listener: (...values: Events[Event]) => void,
  ): this {
    this.#emitter.remove(event, listener);
    return this;
  }

  /**
   * Waits for the next such event.
   *
   * @throws the error of the call, or `GatewayError` when it ends without such an event
   */
  emitted<Event extends keyof Events>(event: Event): Promise<EmittedValue<Events[Event]>>;
  emitted(event: keyof Events): Promise<unknown> {
    const emitted = new Promise<unknown>((resolve, reject) => {
      const give = (...values: unknown[]): void => resolve(values.length > 1 ? values : values[0]);
      if (!this.#isEnded) this.once(event, give);
      this.#done.then(() => reject(endedWithout(event)), reject);
    });
    emitted.catch(() => undefined);
    return emitted;
  }

  /** Aborts the call and closes the connection. */
  abort(): void {
    this.controller.abort();
  }

  /**
   * Waits for the end.
   *
   * @throws `StreamTruncatedError` when it is not whole, and whatever else made the call fail
   */
  done(): Promise<void> {
    return quiet(this.#done);
  }

  /** Waits for the whole completion. */
  finalChatCompletion(): Promise<ChatCompletion> {
    return this.#final(() => this.#result.completion);
  }

  /** The same as `finalChatCompletion()`. */
  finalCompletion(): Promise<ChatCompletion> {
    return this.finalChatCompletion();
  }

  /** Waits for the whole message. */
  finalMessage(): Promise<ChatCompletionMessage> {
    return this.#final(() => this.#result.message);
  }

  /** Waits for the whole text; `null` when there is none. */
  finalContent(): Promise<string | null> {
    return this.#final(() => this.#result.message.content);
  }

  /** Waits for the last function that the model wants called; `undefined` when there is none. */
  finalFunctionToolCall(): Promise<ChatCompletionFunctionCall | undefined> {
    return this.#final(() => this.#result.functionCalls.at(-1));
  }

  /** Waits for the token usage; zeros when the gateway reported none. */
  totalUsage(): Promise<CompletionUsage> {
    return this.#final(() => this.#result.usage);
  }

  /** The completions so far: none until the stream is over. */
  allChatCompletions(): ChatCompletion[] {
    return this.#result.completions;
  }

  /**
   * Reads the chunks that come from now on. Leaving the loop early aborts the call; the loop throws
   * when the call fails.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<ChatCompletionChunk, undefined> {
    const queue = new ChunkQueue<ChatCompletionChunk>(() => this.abort());
    if (this.#isEnded) queue.end(this.#failure);
    else this.#queues.add(queue);
    return queue;
  }

  /** Gives the chunks that come from now on as lines of JSON; see `fromReadableStream`. */
  toReadableStream(): ReadableStream<Uint8Array> {
    return writeLines(this[Symbol.asyncIterator]());
  }

  async #run(open: OpenStream): Promise<void> {
    try {
      await this.#readStream(open);
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error(String(cause));
      this.#end(error);
      throw error;
    }
    this.#end(undefined);
  }

  async #readStream(open: OpenStream): Promise<void> {
    const { signal } = this.controller;
    const stream = await open(signal);
    this.#stream = stream;
    const abort = (): void => stream.controller.abort();
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    this.#emitter.emit('connect');
    for await (const chunk of stream) {
      for (const queue of this.#queues) queue.push(chunk);
      this.#deriver.add(chunk);
    }
    const { snapshot } = this.#deriver;
    if (signal.aborted && stream.verdict !== 'complete') {
      const received = { partial: snapshot, usage: snapshot?.usage };
      throw userAborted({ operation: 'chat.completions.stream' }, received, signal.reason);
    }
    this.#deriver.end();
    if (snapshot === undefined) return;
    const message = snapshot.choices[0]?.message;
    if (message !== undefined) this.messages.push(message);
    this.#result.complete(snapshot, this.#emitter);
  }

  #end(failure: Error | undefined): void {
    this.#failure = failure;
    this.#isEnded = true;
    for (const queue of this.#queues) queue.end(failure);
    this.#queues.clear();
    if (APIUserAbortError.isInstance(failure)) this.#emitter.emitLast('abort', failure);
    else if (failure !== undefined) this.#emitter.emitLast('error', failure);
    this.#emitter.emitLast('end');
  }

  #final<Value>(read: () => Value): Promise<Value> {
    return quiet(this.#done.then(read));
  }
}

function endedWithout(event: string): GatewayError {
  return new GatewayError(`The stream ended without an event "${event}".`, { outcome: 'unknown' });
}

/** A promise that nobody has to read. */
function quiet<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}
