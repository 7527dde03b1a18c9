import type { StreamVerdict } from '../streams/errors.ts';
import { OutputParser } from './output-parser.ts';
import type { ChatCompletionChunk, ChatCompletion } from './types.ts';
import { ChatStreamRun } from './stream-run.ts';
import { chatProtocol } from './protocol.ts';
import { ChatCompletionRunner } from './runner.ts';
import { type Stream, streamOfLines, writeLines } from '../streams/stream.ts';

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
    signal?: AbortSignal | null,
  ) {
    super(run, work, signal);
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

/** The same run once more, from the lines that `toReadableStream()` gave, and its work. */
function replay(
  readable: ReadableStream<Uint8Array>,
): [run: ChatStreamRun<null>, work: () => Promise<unknown>] {
  const run = new ChatStreamRun([], new OutputParser<null>(new Map(), 'stream'));
  const { signal } = run.controller;
  const open = async (): Promise<Stream<ChatCompletionChunk>> =>
    streamOfLines(readable, new AbortController(), chatProtocol, signal);
  return [run, () => run.read(open())];
}
