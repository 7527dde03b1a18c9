import type { StreamContext, StreamProtocol } from '../../src/streams/protocol.ts';
import { chatProtocolFor } from '../../src/resources/chat/protocol.ts';
import { events } from '../../src/streams/open-stream.ts';
import { StreamReader } from '../../src/streams/stream-reader.ts';
import { type Stream, toStream } from '../../src/streams/stream.ts';
import type { ChatCompletionChunk } from '../../src/resources/chat/types.ts';
import type { ResponseIssue } from '../../src/types.ts';

/** Effects of a stream on its call. */
export interface Watched {
  readonly context: StreamContext;
  readonly warnings: string[];
  readonly issues: ResponseIssue[];
  releases: number;
}

const describeCall = () => ({
  operation: 'chat.completions.create',
  callId: 'call-1',
  requestID: 'request-1',
  status: 200,
  headers: new Headers({ 'x-oneapi-request-id': 'request-1' }),
});

/** Settings of a stream, and what else differs from the usual. */
type Overrides = StreamContext['settings'] &
  Partial<Pick<StreamContext, 'signal' | 'startedAt' | 'describe'>> &
  Partial<Pick<StreamContext['check'], 'validation'>>;

/** A context for a stream without limits, which records its effects. */
export function watchedContext({
  signal,
  startedAt = performance.now(),
  describe = describeCall,
  validation = 'tolerant',
  ...settings
}: Overrides = {}): Watched {
  const watched: Watched = {
    warnings: [],
    issues: [],
    releases: 0,
    context: {
      settings: {
        onTruncated: 'throw',
        maxEventBytes: 134_217_728,
        maxResponseBytes: 134_217_728,
        partial: true,
        ...settings,
      },
      check: { validation, onIssue: (issue) => watched.issues.push(issue) },
      controller: new AbortController(),
      signal,
      startedAt,
      owner: {
        warn: (message) => watched.warnings.push(message),
        noteChunk: () => {},
        endStream: () => {
          watched.releases += 1;
        },
      },
      describe,
    },
  };
  return watched;
}

/** Opens the event stream in the body of a response. */
export function createStream<Item>(
  response: Response,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
): Stream<Item> {
  return toStream(new StreamReader(response.body ?? [], context, protocol, events));
}

/** Encodes events with LF. */
export function encode(...data: readonly (object | string)[]): string {
  return data
    .map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
    .join('');
}

/** Splits the bytes of text into chunks of `size`. */
export function cutBytes(text: string, size: number): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += size) {
    pieces.push(bytes.slice(start, start + size));
  }
  return pieces;
}

/** A response whose body yields these bytes, one chunk for each read. */
export function respond(pieces: readonly Uint8Array[] | string, failure?: unknown): Response {
  const queue = typeof pieces === 'string' ? cutBytes(pieces, 65_536) : [...pieces];
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = queue.shift();
        if (next !== undefined) controller.enqueue(next);
        else if (failure === undefined) controller.close();
        else controller.error(failure);
      },
    }),
  );
}

/** A response whose body is written by the test. */
export function openResponse() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, {
    highWaterMark: 16,
  });
  const writer = writable.getWriter();
  writer.closed.catch(() => undefined);
  return {
    response: new Response(readable),
    /** Writes text; does not wait until it is read. */
    send: (text: string) => {
      writer.write(new TextEncoder().encode(text)).catch(() => undefined);
    },
    end: () => {
      writer.close().catch(() => undefined);
    },
    /** True once the reader has cancelled the body. */
    isCancelled: () =>
      writer.closed.then(
        () => false,
        () => true,
      ),
  };
}

/** Reads a stream to its end. Returns its items and its error. */
export async function readAll<Item>(stream: AsyncIterable<Item>) {
  const items: Item[] = [];
  try {
    for await (const item of stream) items.push(item);
    return { items, error: undefined };
  } catch (error) {
    return { items, error };
  }
}

/** The same, with the verdict. */
export async function readStream<Item>(stream: Stream<Item>) {
  const { items, error } = await readAll(stream);
  return { items, error, verdict: stream.verdict, partial: stream.partial, usage: stream.usage };
}

/** A chunk of a chat completion with one choice. */
export function chunk(delta: object, finish: string | null = null, more: object = {}) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'm-large',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  };
}

export const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

/** The chunk with the usage that ends a stream. */
export const usageChunk = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'm-large',
  choices: [],
  usage,
};

/** A complete response in events. */
export const wholeAnswer = encode(
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Grüße, ' }),
  chunk({ content: '世界 🌍' }),
  chunk({}, 'stop'),
  usageChunk,
  '[DONE]',
);

/** The text of `wholeAnswer`. */
export const wholeText = 'Grüße, 世界 🌍';

/** The stream of a chat completion in the body of a response. */
export function openChat(
  text: string | Response,
  watched: Watched = watchedContext(),
): Stream<ChatCompletionChunk> {
  const response = typeof text === 'string' ? respond(text) : text;
  return createStream(response, watched.context, chatProtocolFor(1));
}

/** The text of the first choice. */
export function textOf(items: readonly ChatCompletionChunk[]): string {
  return items.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
}
