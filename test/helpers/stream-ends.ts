import { getEventListeners } from 'node:events';
import type { Gateway, Stream } from '../../src/index.ts';
import type { ChatCompletionChunk } from '../../src/resources/chat/types.ts';
import type { Behaviour } from './faulty-server.ts';

type End = (stream: Stream<ChatCompletionChunk>, signal: AbortController) => unknown;

/** Reads to the end or to an error. */
async function readOn(stream: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // Expected: many of them fail.
  }
}

const ends: readonly (readonly [answer: Behaviour, end: End])[] = [
  // Finished.
  ['whole', readOn],
  ['whole', (stream) => Promise.all(stream.tee().map(readOn))],
  ['whole', (stream) => new Response(stream.toReadableStream()).text()],
  // Broken.
  ['cut', readOn],
  ['ended', readOn],
  ['error-event', readOn],
  ['garbled', (stream) => Promise.all(stream.tee().map(readOn))],
  ['silent', readOn],
  // Unread.
  ['silent', () => undefined],
  ['whole', () => undefined],
  // Left.
  [
    'silent',
    async (stream) => {
      for await (const _ of stream) break;
    },
  ],
  ['silent', (stream) => stream.close()],
  ['silent', (stream) => stream.toReadableStream().cancel()],
  // Aborted.
  [
    'silent',
    (stream, signal) => {
      const reading = readOn(stream);
      signal.abort();
      return reading;
    },
  ],
  [
    'silent',
    (stream) => {
      const reading = readOn(stream);
      stream.controller.abort();
      return reading;
    },
  ],
];

/** Listeners that ended streams have left. */
export interface EndedStreams {
  readonly listeners: () => number;
  /** Signals that have a listener although their stream has ended. */
  readonly forgotten: number;
}

/** Starts streams with limited concurrency, and ends them in every way. */
export async function endStreams(
  client: Gateway,
  total: number,
  concurrency: number,
): Promise<EndedStreams> {
  const shared = new AbortController();
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  let left = total;
  let forgotten = 0;
  const work = async (): Promise<void> => {
    for (let turn = left--; turn > 0; turn = left--) {
      const [model, end] = ends[turn % ends.length] ?? ['whole', readOn];
      const own = new AbortController();
      const { signal } = end.length > 1 ? own : shared;
      if (turn % 7 === 0) {
        const helper = client.chat.completions.stream({ model, messages }, { signal });
        if (model === 'silent') helper.on('connect', () => helper.abort());
        await helper.done().catch(() => undefined);
      } else {
        const params = { model, messages, stream: true } as const;
        await end(await client.chat.completions.create(params, { signal }), own);
      }
      forgotten += getEventListeners(own.signal, 'abort').length;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { listeners: () => getEventListeners(shared.signal, 'abort').length, forgotten };
}
