import { type ResponseSchema, trust } from '../answers/reader.ts';
import type { StreamContext, StreamProtocol, WholeOf } from './protocol.ts';
import { ResponseSource } from './response-source.ts';
import { truncated } from './stream-failure.ts';
import type { StreamSource } from './stream-source.ts';

function bodyOf(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(readable) {
      readable.enqueue(new TextEncoder().encode(text));
      readable.close();
    },
  });
}

/** Reads the body of a response as server-sent events. */
export function sourceOfEvents<Item>(
  response: Response,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
): StreamSource<Item> {
  return new ResponseSource(response.body ?? bodyOf(''), context, protocol, 'events');
}

/** Reads values that came in place of events. */
export function sourceOfValues<Item>(
  values: readonly unknown[],
  context: StreamContext,
  protocol: StreamProtocol<Item>,
  endIsProof: boolean,
): StreamSource<Item> {
  const lines = values.map((value) => `${JSON.stringify(value)}\n`).join('');
  return new ResponseSource(bodyOf(lines), context, { ...protocol, endIsProof }, 'lines');
}

/** Reads lines of JSON that a stream of this package gave, possibly in another program. */
export function sourceOfLines<Item>(
  readable: ReadableStream<Uint8Array>,
  controller: AbortController,
  protocol: StreamProtocol<Item>,
  signal?: AbortSignal,
): StreamSource<Item> {
  const context: StreamContext = {
    controller,
    signal,
    limits: {
      firstByteTimeout: null,
      idleTimeout: null,
      chunkTimeout: null,
      totalTimeout: null,
    },
    startedAt: 0,
    onTruncated: 'throw',
    maxEventBytes: Number.MAX_SAFE_INTEGER,
    maxResponseBytes: Number.MAX_SAFE_INTEGER,
    partial: true,
    check: { validation: 'tolerant', onIssue: () => undefined },
    error: { operation: 'fromReadableStream()' },
    warn: () => undefined,
    release: () => undefined,
  };
  return new ResponseSource(readable, context, protocol, 'lines');
}

/** Items of any kind, unchecked, whole when their bytes end cleanly. */
export function plainProtocol<Item>(): StreamProtocol<Item> {
  const anything: ResponseSchema<Item> = { fields: {} };
  return {
    read(value) {
      trust(value, anything);
      return value;
    },
    follow: () => ({
      started: false,
      partial: undefined,
      usage: undefined,
      add: () => undefined,
      isFinished: () => false,
    }),
    fromAnswer: (answer) => [answer],
    isPlain: true,
    endIsProof: true,
  };
}

/**
 * Reads an event stream to its end and gives what it adds up to.
 *
 * @throws whatever a loop over the stream throws
 */
export async function collectStream<Item>(
  response: Response,
  context: StreamContext,
  protocol: StreamProtocol<Item>,
): Promise<WholeOf<Item>> {
  const source = sourceOfEvents(response, context, { ...protocol, isCollected: true });
  while ((await source.next()).done !== true);
  const { partial, usage } = source;
  if (partial !== undefined) return partial;
  throw truncated(context.error, { partial, usage }, { verdict: 'truncated', started: false });
}
