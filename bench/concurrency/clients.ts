import type { Column } from '../lib/packages.ts';

/** Loads a client and gives a call that opens a stream, reads one item and leaves it open. */
type Opener = () => Promise<() => Promise<unknown>>;

const baseURL = 'https://gateway.example.com/v1';
const apiKey = 'benchmark';
const messages = [{ role: 'user', content: 'Why does light bend?' } as const];
const body = { model: 'chat-model', messages, stream: true } as const;

/** Whoever holds the iterator and its next read holds the stream. */
async function begin(stream: AsyncIterable<unknown>): Promise<unknown> {
  const iterator = stream[Symbol.asyncIterator]();
  await iterator.next();
  return [stream, iterator, iterator.next()];
}

export const openers: Readonly<Partial<Record<Column, Opener>>> = {
  'model-gateway': async () => {
    const { Gateway } = await import('../lib/model-gateway.ts');
    const { completions } = new Gateway({ apiKey, baseURL }).chat;
    return async () => begin(await completions.create(body));
  },
  // A reader and a parser; nothing watches the time.
  floor: async () => {
    const { createParser } = await import('eventsource-parser');
    return async () => {
      const { body: readable } = await fetch(baseURL, { method: 'POST' });
      const reader = readable?.getReader();
      const decoder = new TextDecoder();
      const parser = createParser({ onEvent: ({ data }) => void JSON.parse(data) });
      parser.feed(decoder.decode((await reader?.read())?.value, { stream: true }));
      return [reader, parser, decoder, reader?.read()];
    };
  },
  openai: async () => {
    const { default: OpenAI } = await import('openai');
    const { completions } = new OpenAI({ apiKey, baseURL }).chat;
    return async () => begin(await completions.create(body));
  },
  'groq-sdk': async () => {
    const { default: Groq } = await import('groq-sdk');
    const { completions } = new Groq({ apiKey, baseURL }).chat;
    return async () => begin(await completions.create(body));
  },
  ai: async () => {
    const { streamText } = await import('ai');
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const model = createOpenAICompatible({ name: 'gateway', apiKey, baseURL }).chatModel('chat');
    return async () => begin(streamText({ model, prompt: 'Why does light bend?' }).textStream);
  },
};
