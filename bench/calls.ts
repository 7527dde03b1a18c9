import {
  anthropicMessage,
  answerFromMemory,
  geminiResponse,
  jsonAnswer,
  openaiCompletion,
} from './lib/answers.ts';
import * as shared from './lib/clients.ts';
import type { Column } from './lib/packages.ts';
import { turnsPart } from './lib/turns.ts';

const { apiKey, baseURL, body, prompt } = shared;

/** One whole call of one client: about a kilobyte of JSON comes, and is read and parsed. */
interface CallingClient {
  readonly answer: object;
  /** Loads the client and gives its call. */
  readonly connect: () => Promise<() => PromiseLike<unknown>>;
}

const clients: Readonly<Record<Column, CallingClient>> = {
  ...shared.forOpenAILike((connect) => ({
    answer: openaiCompletion,
    connect: async () => {
      const { chat } = await connect();
      return () => chat.completions.create(body);
    },
  })),
  floor: {
    answer: openaiCompletion,
    connect: async () => async () => {
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return response.json();
    },
  },
  ky: {
    answer: openaiCompletion,
    connect: async () => {
      const { default: ky } = await import('ky');
      const headers = { authorization: `Bearer ${apiKey}` };
      // The options of the client, which has limits, retries and errors of its own.
      const options = { timeout: false, retry: 0, throwHttpErrors: false } as const;
      const send = ky.create({ ...options, fetch: (input, init) => fetch(input, init) });
      return () => send.post(`${baseURL}/chat/completions`, { headers, json: body }).json();
    },
  },
  '@anthropic-ai/sdk': {
    answer: anthropicMessage,
    connect: async () => {
      const { messages } = await shared.anthropic();
      return () => messages.create({ ...body, max_tokens: 200 });
    },
  },
  '@google/genai': {
    answer: geminiResponse,
    connect: async () => {
      const { models } = await shared.genai();
      return () => models.generateContent({ model: 'chat-model', contents: prompt });
    },
  },
  ai: {
    answer: openaiCompletion,
    connect: async () => {
      const { generateText } = await import('ai');
      const model = (await shared.compatible()).chatModel('chat');
      return () => generateText({ model, prompt });
    },
  },
  '@fal-ai/client': {
    answer: { text: openaiCompletion.choices[0]?.message.content },
    connect: async () => {
      const { createFalClient } = await import('@fal-ai/client');
      const client = createFalClient({ credentials: apiKey });
      return () => client.run('maker/text-model', { input: { prompt } });
    },
  },
  '@runwayml/sdk': {
    answer: { id: '497f6eca-6276-4993-bfeb-53cbbbba6f08', pad: 'x'.repeat(800) },
    connect: async () => {
      const { default: RunwayML } = await import('@runwayml/sdk');
      const { textToVideo } = new RunwayML({ apiKey, baseURL });
      const video = { model: 'veo3.1', ratio: '1280:720', duration: 4 } as const;
      return () => textToVideo.create({ ...video, promptText: prompt });
    },
  },
};

export const callsPart = turnsPart({
  name: 'calls',
  file: import.meta.filename,
  clients,
  rows: { call: { id: 'calls', label: 'A whole call, CPU', unit: 'µs' } },
  async connect({ answer, connect }) {
    answerFromMemory(jsonAnswer(answer));
    const call = await connect();
    const work = async (): Promise<void> => void (await call());
    return { call: () => ({ work, warmup: 8_000, runs: 2_000, scale: 1_000 }) };
  },
});
