import { anthropicEvents, geminiEvents, openaiEvents } from '../lib/answers.ts';
import type { Column } from '../lib/packages.ts';

/** One streamed call of one client. */
export interface StreamingClient {
  /** The text of a stream with so many events of about the same size. */
  readonly events: (count: number) => string;
  /** Loads the client and gives a call that reads a stream to its end and counts its characters. */
  readonly connect: () => Promise<() => Promise<number>>;
}

const baseURL = 'https://gateway.example.com/v1';
const apiKey = 'benchmark';
const prompt = 'Why does light bend?';
const messages = [{ role: 'user', content: prompt } as const];
const body = { model: 'chat-model', messages };

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string | null | undefined } }[];
}

async function lengthOf(stream: AsyncIterable<Chunk>): Promise<number> {
  let length = 0;
  for await (const { choices } of stream) length += choices[0]?.delta.content?.length ?? 0;
  return length;
}

function isChunk(value: unknown): value is Chunk {
  return typeof value === 'object' && value !== null && 'choices' in value;
}

export const clients: Readonly<Partial<Record<Column, StreamingClient>>> = {
  'model-gateway': {
    events: openaiEvents,
    connect: async () => {
      const { Gateway } = await import('../lib/model-gateway.ts');
      const client = new Gateway({ apiKey, baseURL });
      return async () => lengthOf(await client.chat.completions.create({ ...body, stream: true }));
    },
  },
  // Nothing is checked, and a stream that is cut looks whole.
  floor: {
    events: openaiEvents,
    connect: async () => {
      const { createParser } = await import('eventsource-parser');
      return async () => {
        const { body: readable } = await fetch(baseURL, { method: 'POST' });
        if (readable === null) return 0;
        const decoder = new TextDecoder();
        let length = 0;
        const parser = createParser({
          onEvent({ data }) {
            if (data === '[DONE]') return;
            const chunk: unknown = JSON.parse(data);
            if (isChunk(chunk)) length += chunk.choices[0]?.delta.content?.length ?? 0;
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
  openai: {
    events: openaiEvents,
    connect: async () => {
      const { default: OpenAI } = await import('openai');
      const client = new OpenAI({ apiKey, baseURL });
      return async () => lengthOf(await client.chat.completions.create({ ...body, stream: true }));
    },
  },
  'groq-sdk': {
    events: openaiEvents,
    connect: async () => {
      const { default: Groq } = await import('groq-sdk');
      const client = new Groq({ apiKey, baseURL });
      return async () => lengthOf(await client.chat.completions.create({ ...body, stream: true }));
    },
  },
  '@anthropic-ai/sdk': {
    events: anthropicEvents,
    connect: async () => {
      const { default: Anthropic } = await import('@anthropic-ai/sdk');
      const client = new Anthropic({ apiKey, baseURL });
      return async () => {
        let length = 0;
        const stream = await client.messages.create({ ...body, max_tokens: 200, stream: true });
        for await (const event of stream) {
          if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
            length += event.delta.text.length;
          }
        }
        return length;
      };
    },
  },
  '@google/genai': {
    events: geminiEvents,
    connect: async () => {
      const { GoogleGenAI } = await import('@google/genai');
      const { models } = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: baseURL } });
      return async () => {
        let length = 0;
        const stream = await models.generateContentStream({ model: 'chat', contents: prompt });
        for await (const chunk of stream) length += chunk.text?.length ?? 0;
        return length;
      };
    },
  },
  ai: {
    events: openaiEvents,
    connect: async () => {
      const { streamText } = await import('ai');
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const model = createOpenAICompatible({ name: 'gateway', apiKey, baseURL }).chatModel('chat');
      return async () => {
        let length = 0;
        for await (const text of streamText({ model, prompt }).textStream) length += text.length;
        return length;
      };
    },
  },
};
