import {
  anthropicEvents,
  answerFromMemory,
  geminiEvents,
  openaiEvents,
  streamAnswer,
} from './lib/answers.ts';
import { childPart, timeRuns } from './lib/child.ts';
import * as shared from './lib/clients.ts';
import type { Column } from './lib/packages.ts';

const { body, textLength, prompt } = shared;

/** One streamed call of one client. */
interface StreamingClient {
  /** The text of a stream with so many events of about the same size. */
  readonly events: (count: number) => string;
  /** Loads the client and gives a call that reads a stream to its end and counts its characters. */
  readonly connect: () => Promise<() => Promise<number>>;
}

/** Adds up the characters of each item of a stream. */
async function sum<T>(stream: AsyncIterable<T>, length: (item: T) => number): Promise<number> {
  let all = 0;
  for await (const item of stream) all += length(item);
  return all;
}

function isChunk(value: unknown): value is shared.Chunk {
  return typeof value === 'object' && value !== null && 'choices' in value;
}

const clients: Readonly<Partial<Record<Column, StreamingClient>>> = {
  ...shared.forOpenAILike((connect) => ({
    events: openaiEvents,
    connect: async () => {
      const { completions } = (await connect()).chat;
      return async () => sum(await completions.create({ ...body, stream: true }), textLength);
    },
  })),
  // Nothing is checked, and a stream that is cut looks whole.
  floor: {
    events: openaiEvents,
    connect: async () => {
      const { createParser } = await import('eventsource-parser');
      return async () => {
        const { body: readable } = await fetch(shared.baseURL, { method: 'POST' });
        if (readable === null) return 0;
        const decoder = new TextDecoder();
        let length = 0;
        const parser = createParser({
          onEvent({ data }) {
            if (data === '[DONE]') return;
            const chunk: unknown = JSON.parse(data);
            if (isChunk(chunk)) length += textLength(chunk);
          },
        });
        const reader = readable.getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return length;
          parser.feed(decoder.decode(value, { stream: true }));
        }
      };
    },
  },
  '@anthropic-ai/sdk': {
    events: anthropicEvents,
    connect: async () => {
      const { messages } = await shared.anthropic();
      const asked = { ...body, max_tokens: 200, stream: true } as const;
      return async () =>
        sum(await messages.create(asked), (event) =>
          event.type === 'content_block_delta' && event.delta.type === 'text_delta'
            ? event.delta.text.length
            : 0,
        );
    },
  },
  '@google/genai': {
    events: geminiEvents,
    connect: async () => {
      const { models } = await shared.genai();
      const asked = { model: 'chat', contents: prompt };
      return async () =>
        sum(await models.generateContentStream(asked), ({ text }) => text?.length ?? 0);
    },
  },
  ai: {
    events: openaiEvents,
    connect: async () => {
      const { streamText } = await import('ai');
      const model = (await shared.compatible()).chatModel('chat');
      return async () => sum(streamText({ model, prompt }).textStream, ({ length }) => length);
    },
  },
};

/** Enough that the call around the stream weighs little. */
const count = 4_000;

/** The length of the first long stream of a process. */
const first = 1_000;

/** Bytes per network chunk: one event, a packet, and a full buffer with many events. */
const sizes = { '170': '170 B', '1400': '1.4 kB', '65536': '64 KiB' } as const;

const label = 'A streamed chunk, CPU';

/** Each launch reads streams of each size, after as many as compile the code. */
export const chunksPart = childPart({
  name: 'chunks',
  file: import.meta.filename,
  clients,
  rounds: 5,
  rows: {
    ...Object.fromEntries(
      Object.entries(sizes).map(([size, words]) => [
        size,
        { id: `chunks.${size}`, label: `${label} (reads of ${words})`, unit: 'µs' as const },
      ]),
    ),
    cold: { id: 'chunks.cold', label: `${label} – the first 1,000 of a process`, unit: 'µs' },
  },
  async run({ connect, events }) {
    let answer = streamAnswer(events(2), 1_400);
    answerFromMemory(() => answer());
    const read = await connect();
    await read();
    answer = streamAnswer(events(first), 1_400);
    const cold = (await timeRuns(read, 1)) / first;
    const figures: Record<string, number> = { cold };
    for (const size of Object.keys(sizes)) {
      answer = streamAnswer(events(count), Number(size));
      const length = await read();
      if (length < count || length !== (await read())) throw new Error('A stream was not read.');
      await timeRuns(read, 18);
      figures[size] = (await timeRuns(read, 5)) / count;
    }
    return figures;
  },
});
