import { answerFromMemory, openaiEvents } from './lib/answers.ts';
import { childPart } from './lib/child.ts';
import * as shared from './lib/clients.ts';
import type { Column } from './lib/packages.ts';
import { memoryInUse } from './memory/probe.ts';

/** Loads a client and gives a call that opens a stream, reads one item and leaves it open. */
type Opener = () => Promise<() => Promise<unknown>>;

/** Starts a stream. The iterator and its pending read keep it alive. */
async function begin(stream: AsyncIterable<unknown>): Promise<unknown> {
  const iterator = stream[Symbol.asyncIterator]();
  await iterator.next();
  return [stream, iterator, iterator.next()];
}

const openers: Readonly<Partial<Record<Column, Opener>>> = {
  ...shared.forOpenAILike((connect) => async () => {
    const { completions } = (await connect()).chat;
    return async () => begin(await completions.create({ ...shared.body, stream: true }));
  }),
  // A reader and a parser; nothing watches the time.
  floor: async () => {
    const { createParser } = await import('eventsource-parser');
    return async () => {
      const { body: readable } = await fetch(shared.baseURL, { method: 'POST' });
      const reader = readable?.getReader();
      const decoder = new TextDecoder();
      const parser = createParser({ onEvent: ({ data }) => void JSON.parse(data) });
      parser.feed(decoder.decode((await reader?.read())?.value, { stream: true }));
      return [reader, parser, decoder, reader?.read()];
    };
  },
  ai: async () => {
    const { streamText } = await import('ai');
    const model = (await shared.compatible()).chatModel('chat');
    return async () => begin(streamText({ model, prompt: shared.prompt }).textStream);
  },
};

/** Streams that have begun and stay open. */
export const streamsPart = childPart({
  name: 'streams',
  file: import.meta.filename,
  clients: openers,
  rounds: 3,
  rows: {
    '1000': { id: 'streams.1000', label: 'Memory per open stream, of 1,000', unit: 'KiB' },
    '2000': { id: 'streams.2000', label: '– of 2,000 more', unit: 'KiB' },
  },
  async run(opener) {
    const first = new TextEncoder().encode(openaiEvents(1).split('\n\n', 1)[0] + '\n\n');
    answerFromMemory(() => {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(first);
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    const open = await opener();
    const held: unknown[] = [];
    for (let index = 0; index < 100; index++) held.push(await open());
    const figures: Record<string, number> = {};
    for (const count of [1_000, 2_000]) {
      const before = await memoryInUse();
      const start = held.length;
      while (held.length < start + count) held.push(await open());
      figures[String(count)] = ((await memoryInUse()) - before) / count / 1024;
    }
    return figures;
  },
});
