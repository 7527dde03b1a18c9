import { anthropicMessage, geminiResponse, jsonAnswer, openaiCompletion } from '../lib/answers.ts';
import type { Column } from '../lib/packages.ts';

/** One whole call of one client. */
interface CallingClient {
  readonly answer: () => Response;
  /** Loads the client and gives its call. */
  readonly connect: () => Promise<() => Promise<unknown>>;
}

const baseURL = 'https://gateway.example.com/v1';
const apiKey = 'benchmark';
const prompt = 'Why does light bend?';
const messages = [{ role: 'user', content: prompt } as const];
const body = { model: 'chat-model', messages };

/** A call that brings about a kilobyte of JSON; the answer is read and parsed. */
export const clients: Readonly<Record<Column, CallingClient>> = {
  'model-gateway': {
    answer: jsonAnswer(openaiCompletion),
    connect: async () => {
      const { Gateway } = await import('../lib/model-gateway.ts');
      const client = new Gateway({ apiKey, baseURL });
      return () => client.chat.completions.create(body);
    },
  },
  floor: {
    answer: jsonAnswer(openaiCompletion),
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
    answer: jsonAnswer(openaiCompletion),
    connect: async () => {
      const { default: ky } = await import('ky');
      const headers = { authorization: `Bearer ${apiKey}` };
      return () => ky.post(`${baseURL}/chat/completions`, { headers, json: body }).json();
    },
  },
  openai: {
    answer: jsonAnswer(openaiCompletion),
    connect: async () => {
      const { default: OpenAI } = await import('openai');
      const client = new OpenAI({ apiKey, baseURL });
      return () => client.chat.completions.create(body);
    },
  },
  'groq-sdk': {
    answer: jsonAnswer(openaiCompletion),
    connect: async () => {
      const { default: Groq } = await import('groq-sdk');
      const client = new Groq({ apiKey, baseURL });
      return () => client.chat.completions.create(body);
    },
  },
  '@anthropic-ai/sdk': {
    answer: jsonAnswer(anthropicMessage),
    connect: async () => {
      const { default: Anthropic } = await import('@anthropic-ai/sdk');
      const client = new Anthropic({ apiKey, baseURL });
      return () => client.messages.create({ ...body, max_tokens: 200 });
    },
  },
  '@google/genai': {
    answer: jsonAnswer(geminiResponse),
    connect: async () => {
      const { GoogleGenAI } = await import('@google/genai');
      const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: baseURL } });
      return () => client.models.generateContent({ model: 'chat-model', contents: prompt });
    },
  },
  ai: {
    answer: jsonAnswer(openaiCompletion),
    connect: async () => {
      const { generateText } = await import('ai');
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const model = createOpenAICompatible({ name: 'gateway', apiKey, baseURL }).chatModel('chat');
      return () => generateText({ model, prompt });
    },
  },
  '@fal-ai/client': {
    answer: jsonAnswer({ text: openaiCompletion.choices[0]?.message.content }),
    connect: async () => {
      const { createFalClient } = await import('@fal-ai/client');
      const client = createFalClient({ credentials: apiKey });
      return () => client.run('maker/text-model', { input: { prompt } });
    },
  },
  '@runwayml/sdk': {
    answer: jsonAnswer({ id: '497f6eca-6276-4993-bfeb-53cbbbba6f08', pad: 'x'.repeat(800) }),
    connect: async () => {
      const { default: RunwayML } = await import('@runwayml/sdk');
      const client = new RunwayML({ apiKey, baseURL });
      return () =>
        client.textToVideo.create({
          model: 'veo3.1',
          promptText: prompt,
          ratio: '1280:720',
          duration: 4,
        });
    },
  },
};
