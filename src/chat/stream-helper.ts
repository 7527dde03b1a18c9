import type { StreamVerdict } from '../streams/errors.ts';
import { OutputParser } from './output-parser.ts';
import type { ChatCompletionChunk, ChatCompletion } from './types.ts';
import { ChatFeed } from './feed.ts';
import { chatProtocol } from './protocol.ts';
import { ChatCompletionRunner, type RunnerInit } from './runner.ts';
import { streamOfLines, writeLines } from '../streams/stream.ts';

/** What a stream with events is made from. */
export interface ChatStreamInit<Parsed> extends Omit<RunnerInit<Parsed>, 'onEnd'> {
  /** Where the work gets its chunks. */
  readonly feed: ChatFeed<Parsed>;
}

/** The same run once more, from the lines that `toReadableStream()` gave. */
function replay(readable: ReadableStream<Uint8Array>): ChatStreamInit<null> {
  const feed = new ChatFeed(new OutputParser<null>(undefined, new Map(), 'stream'));
  return {
    messages: [],
    feed,
    work: (result, { controller }) =>
      feed.read(result, controller.signal, async () => {
        return streamOfLines(readable, new AbortController(), chatProtocol, controller.signal);
      }),
  };
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
  readonly #feed: ChatFeed<Parsed>;

  /** @internal */
  constructor(init: ChatStreamInit<Parsed>) {
    super({ ...init, onEnd: (failure) => init.feed.end(failure) });
    this.#feed = init.feed;
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
    return this.#feed.snapshot;
  }

  /** How the stream ended; `undefined` until then. */
  get verdict(): StreamVerdict | undefined {
    return this.#feed.verdict;
  }

  /**
   * Reads the chunks that come from now on. Leaving the loop early aborts the call; the loop throws
   * when the call fails.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<ChatCompletionChunk, undefined> {
    return this.#feed.follow(() => this.abort(), false);
  }

  /**
   * Gives the chunks that come from now on, and the results of tools, as lines of JSON; see
   * `fromReadableStream`.
   */
  toReadableStream(): ReadableStream<Uint8Array> {
    return writeLines(this.#feed.follow(() => this.abort(), true));
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
  return new ChatCompletionStream(replay(readable));
}

function runnerFrom(readable: ReadableStream<Uint8Array>): ChatCompletionStreamingRunner {
  return new ChatCompletionStreamingRunner(replay(readable));
}
