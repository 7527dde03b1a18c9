import { isObject, parseJSON } from '../answers/objects.ts';
import type { ChunkQueue } from '../streams/stream-reader.ts';
import { StreamTruncatedError, type StreamVerdict } from '../streams/errors.ts';
import { type Stream, streamOfLines, writeLines } from '../streams/stream.ts';
import { ChatAccumulator, type OpenChoice, saysNothing, chatLines } from './accumulator.ts';
import type { ChatCompletionToolMessageParam } from './params.ts';
import type { OutputParser } from './output-parser.ts';
import { ChatRun, ChatCompletionRunner, type FollowCaller } from './runner.ts';
import type { OpenCall } from './tool-calls.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ParsedChatCompletion,
} from './types.ts';

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

/** What a run needs of the parser of its answers. */
type CompletionParser<Parsed> = Pick<OutputParser<Parsed>, 'of' | 'beginning' | 'apply'>;

/** What is read of a stream. */
type Chunks = AsyncIterable<ChatCompletionChunk> & Pick<Stream<ChatCompletionChunk>, 'verdict'>;

/**
 * A run whose answers are streamed. It puts the chunks of each completion together, emits events for what
 * each of them adds, and hands the chunks to everybody who reads them.
 */
export class ChatStreamRun<Parsed> extends ChatRun<Parsed> {
  #parser: CompletionParser<Parsed> | undefined;
  /** Who reads; and whether the results of tools are read too. */
  readonly #queues = new Map<ChunkQueue<ChatCompletionChunk>, boolean>();
  /** Of the current completion. */
  #accumulator: ChatAccumulator | undefined;
  #stream: Chunks | undefined;
  #lastChunk: ChatCompletionChunk | undefined;

  /** What the chunks of the current completion add up to. */
  get snapshot(): ChatCompletion | undefined {
    return this.#accumulator?.partial;
  }

  /** How the last stream ended. */
  get verdict(): StreamVerdict | undefined {
    return this.#stream?.verdict;
  }

  /** The chunks that come from now on. Leaving them aborts the run. */
  follow(takesMessages: boolean): ChunkQueue<ChatCompletionChunk> {
    const queue = this.queue<ChatCompletionChunk>(() => this.controller.abort());
    this.#queues.set(queue, takesMessages);
    return queue;
  }

  override addToolResult(message: ChatCompletionToolMessageParam): void {
    super.addToolResult(message);
    if (this.#lastChunk === undefined) return;
    const object = messagePrefix + JSON.stringify({ type: 'message', message });
    const { id, created, model } = this.#lastChunk;
    for (const [queue, takesMessages] of this.#queues) {
      if (takesMessages) queue.push({ id, created, model, object, choices: [] });
    }
  }

  /**
   * Reads the stream of one completion to its end; the signal of the run ends it too.
   *
   * @param parser - Left out when nothing is parsed.
   */
  async read(
    opening: PromiseLike<Chunks>,
    parser?: CompletionParser<Parsed>,
  ): Promise<ParsedChatCompletion<Parsed> | undefined> {
    this.#parser = parser;
    this.#stream = await opening;
    this.#accumulator = undefined;
    this.emit('connect');
    let hasResults = false;
    for await (const chunk of this.#stream) {
      const message = toolMessageIn(chunk);
      if (message === undefined) await this.#addChunk(chunk);
      else {
        await this.#complete();
        this.addToolResult(message);
        this.#accumulator = undefined;
        hasResults = true;
      }
    }
    // A line with the result of a tool is no proof that the answer after it is whole.
    if (hasResults && this.#isCut) {
      throw new StreamTruncatedError('The stream ended in the middle of an answer.', {
        outcome: 'unknown',
        verdict: 'truncated',
        partial: this.snapshot,
      });
    }
    return this.#complete();
  }

  get #isCut(): boolean {
    return this.#accumulator?.isFinished(true) === false;
  }

  /** Emits the end of what is still open, and adds the completion that was read to the run. */
  async #complete(): Promise<ParsedChatCompletion<Parsed> | undefined> {
    const { snapshot } = this;
    if (snapshot === undefined) return undefined;
    for (const { index } of snapshot.choices) {
      const open = this.#accumulator?.choices.get(index);
      if (open) await this.#emitEnd(open, [...open.toolCalls.ended, ...open.toolCalls.begun]);
    }
    if (this.#parser) return this.add(await this.#parser.apply(snapshot));
    leaveUnparsed(snapshot);
    return this.add(snapshot);
  }

  /** Adds a chunk and emits its events. Texts that it ends are parsed before their end is emitted. */
  async #addChunk(chunk: ChatCompletionChunk): Promise<void> {
    const accumulator = (this.#accumulator ??= new ChatAccumulator(1));
    this.#lastChunk = chunk;
    accumulator.add(chunk);
    if (!saysNothing(chunk)) {
      for (const queue of this.#queues.keys()) queue.push(chunk);
      if (accumulator.partial) this.emit('chunk', chunk, accumulator.partial);
    }
    for (const piece of chunk.choices) {
      const open = accumulator.choices.get(piece.index);
      if (open === undefined) continue;
      this.#emitText(piece, open);
      if (piece.delta.tool_calls) await this.#emitToolCalls(piece, open);
      if (piece.finish_reason) await this.#emitEnd(open, open.toolCalls.ended);
    }
  }

  #emitText({ delta, logprobs }: ChatCompletionChunkChoice, open: OpenChoice): void {
    const { choice } = open;
    const { content, refusal } = choice.message;
    if (delta.content && content !== null) {
      this.emit('content', delta.content, content);
      if (this.has('content.delta')) {
        const parsed = this.#parser?.beginning(open, content) ?? null;
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
        // It may be written in turns with others, so before the end only whole arguments count.
        if (current?.call.type === 'function') {
          const isWhole = current.json.isWhole(current.call.function.arguments);
          if (isWhole) await this.#emitToolCallDone(current);
        }
        open.current = next;
      }
      if (next?.call.type !== 'function') continue;
      if (!this.has('tool_calls.function.arguments.delta')) continue;
      const { name, arguments: text } = next.call.function;
      this.emit('tool_calls.function.arguments.delta', {
        name,
        index,
        arguments: text,
        parsed_arguments: this.#parser?.beginning(next, text, name) ?? null,
        arguments_delta: piece?.arguments ?? '',
      });
    }
  }

  async #emitEnd(open: OpenChoice, calls: readonly OpenCall[]): Promise<void> {
    await this.#emitTextDone(open);
    for (const call of calls.toSorted((one, other) => one.index - other.index)) {
      await this.#emitToolCallDone(call);
    }
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

  async #emitToolCallDone(open: OpenCall): Promise<void> {
    const { index, call } = open;
    if (call.type !== 'function' || open.isDone) return;
    open.isDone = true;
    const { name, arguments: text } = call.function;
    const parsed_arguments = await this.#parsed(text, name);
    const event = { name, index, arguments: text, parsed_arguments };
    this.emit('tool_calls.function.arguments.done', event);
  }

  /** What a text or arguments are parsed as; `null` when they do not fit, or are not parsed. */
  async #parsed(text: string, tool?: string): Promise<Parsed | null> {
    const parse = this.#parser?.of(tool);
    return parse ? parse(text).catch(() => null) : null;
  }
}

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
export class ChatCompletionStream<Parsed = null>
  extends ChatCompletionRunner<Parsed>
  implements AsyncIterable<ChatCompletionChunk>
{
  readonly #run: ChatStreamRun<Parsed>;

  /** @internal */
  constructor(
    run: ChatStreamRun<Parsed>,
    work: (runner: ChatCompletionRunner<Parsed>) => Promise<unknown>,
    follow?: FollowCaller,
  ) {
    super(run, work, follow);
    this.#run = run;
  }

  /**
   * Makes a helper from what `toReadableStream()` gave, for example in a browser. The messages of the
   * request are not in there, and nothing is parsed.
   */
  static fromReadableStream(readable: ReadableStream<Uint8Array>): ChatCompletionStream {
    return streamFrom(readable);
  }

  /** What the chunks of the completion so far add up to; `undefined` before the first. It goes on growing. */
  get currentChatCompletionSnapshot(): ChatCompletion | undefined {
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

// Outside of the classes, as bundlers rename classes that name themselves, and a name is what
// `console.log` shows.
function streamFrom(readable: ReadableStream<Uint8Array>): ChatCompletionStream {
  return new ChatCompletionStream(...replay(readable));
}

function runnerFrom(readable: ReadableStream<Uint8Array>): ChatCompletionStreamingRunner {
  return new ChatCompletionStreamingRunner(...replay(readable));
}

/** Makes a completion one of which nothing is parsed. */
function leaveUnparsed(
  completion: ChatCompletion,
): asserts completion is ParsedChatCompletion<never> {
  for (const { message } of completion.choices) Object.assign(message, { parsed: null });
}

/** The same run once more, from the lines that `toReadableStream()` gave, and its work. */
function replay(
  readable: ReadableStream<Uint8Array>,
): [run: ChatStreamRun<null>, work: () => Promise<unknown>] {
  const run = new ChatStreamRun<null>([]);
  const { signal } = run.controller;
  const open = async (): Promise<Stream<ChatCompletionChunk>> =>
    streamOfLines(readable, new AbortController(), chatLines, signal);
  return [run, () => run.read(open())];
}
