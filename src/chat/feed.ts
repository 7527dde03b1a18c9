import { StreamTruncatedError, type StreamVerdict, userAborted } from '../streams/errors.ts';
import { isObject } from '../answers/objects.ts';
import type { OutputParser } from './output-parser.ts';
import type { ChatCompletionToolMessageParam } from './messages.ts';
import type { ParsedChatCompletion, ChatCompletionChunk, ChatCompletion } from './types.ts';
import { ChatEventDeriver } from './event-deriver.ts';
import { saysNothing } from './protocol.ts';
import type { ChatResult } from './result.ts';
import { ChunkQueue } from '../streams/stream-reader.ts';
import { parseJSON } from '../answers/parse-json.ts';
import type { Stream } from '../streams/stream.ts';

/** Opens a stream, with the signal of the run. */
export type OpenStream = () => PromiseLike<Stream<ChatCompletionChunk>>;

/**
 * What the `object` of a chunk begins with that is none: the result of a tool, as JSON, in the lines of
 * a run. The `openai` package writes and reads the same.
 */
const messagePrefix = 'chat.completion.chunk.message:';

function toolMessageIn({
  object,
}: ChatCompletionChunk): ChatCompletionToolMessageParam | undefined {
  if (!object.startsWith(messagePrefix)) return undefined;
  const sent = parseJSON(object.slice(messagePrefix.length));
  const message = isObject(sent) && isObject(sent['message']) ? sent['message'] : {};
  const { content, tool_call_id: id } = message;
  return { role: 'tool', content: String(content), tool_call_id: String(id) };
}

/** Reads the streams of a run one after the other, and hands their chunks to everybody who reads. */
export class ChatFeed<Parsed> {
  readonly #parser: OutputParser<Parsed>;
  /** Who reads; and whether the results of tools are read too. */
  readonly #queues = new Map<ChunkQueue<ChatCompletionChunk>, boolean>();
  #deriver: ChatEventDeriver<Parsed> | undefined;
  #stream: Stream<ChatCompletionChunk> | undefined;
  #lastChunk: ChatCompletionChunk | undefined;
  #hasResults = false;
  #end: { readonly failure: Error | undefined } | undefined;

  constructor(parser: OutputParser<Parsed>) {
    this.#parser = parser;
  }

  /** What the chunks of the current completion add up to. */
  get snapshot(): ChatCompletion | undefined {
    return this.#deriver?.snapshot;
  }

  /** How the last stream ended. */
  get verdict(): StreamVerdict | undefined {
    return this.#stream?.verdict;
  }

  /** Reads a stream to its end. */
  async read(
    result: ChatResult<Parsed>,
    signal: AbortSignal,
    open: OpenStream,
  ): Promise<ParsedChatCompletion<Parsed> | undefined> {
    const stream = await open();
    this.#stream = stream;
    this.#deriver = undefined;
    const abort = (): void => stream.controller.abort();
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    try {
      result.emitter.emit('connect');
      await this.#readChunks(result, stream);
    } finally {
      signal.removeEventListener('abort', abort);
    }
    if (signal.aborted && stream.verdict !== 'complete') {
      const received = { partial: this.snapshot, usage: this.snapshot?.usage };
      throw userAborted({ operation: 'chat.completions.stream' }, received, signal.reason);
    }
    // A line with the result of a tool is no proof that the answer after it is whole.
    if (this.#hasResults && this.#isCut()) {
      throw new StreamTruncatedError('The stream ended in the middle of an answer.', {
        outcome: 'unknown',
        verdict: 'truncated',
        partial: this.snapshot,
      });
    }
    return this.#complete(result);
  }

  async #readChunks(
    result: ChatResult<Parsed>,
    stream: Stream<ChatCompletionChunk>,
  ): Promise<void> {
    for await (const chunk of stream) {
      const message = toolMessageIn(chunk);
      if (message !== undefined) {
        await this.#complete(result);
        result.addToolResult(message);
        this.#deriver = undefined;
        this.#hasResults = true;
        continue;
      }
      this.#lastChunk = chunk;
      if (!saysNothing(chunk)) for (const queue of this.#queues.keys()) queue.push(chunk);
      this.#deriver ??= new ChatEventDeriver(result.emitter, this.#parser);
      await this.#deriver.add(chunk);
    }
  }

  #isCut(): boolean {
    return this.#deriver?.isFinished === false;
  }

  /** Takes the completion that was read. */
  async #complete(result: ChatResult<Parsed>): Promise<ParsedChatCompletion<Parsed> | undefined> {
    const { snapshot } = this;
    await this.#deriver?.end();
    if (snapshot === undefined) return undefined;
    const completion = await this.#parser.apply(snapshot);
    result.add(completion);
    return completion;
  }

  /** Hands the result of a tool to those who read it. */
  addToolResult(message: ChatCompletionToolMessageParam): void {
    if (this.#lastChunk === undefined) return;
    const object = messagePrefix + JSON.stringify({ type: 'message', message });
    const { id, created, model } = this.#lastChunk;
    for (const [queue, takesMessages] of this.#queues) {
      if (takesMessages) queue.push({ id, created, model, object, choices: [] });
    }
  }

  /** The chunks that come from now on. */
  follow(onLeave: () => void, takesMessages: boolean): ChunkQueue<ChatCompletionChunk> {
    const queue = new ChunkQueue<ChatCompletionChunk>(onLeave);
    if (this.#end === undefined) this.#queues.set(queue, takesMessages);
    else queue.end(this.#end.failure);
    return queue;
  }

  /** There will be no more chunks. */
  end(failure: Error | undefined): void {
    this.#end = { failure };
    for (const queue of this.#queues.keys()) queue.end(failure);
    this.#queues.clear();
  }
}
