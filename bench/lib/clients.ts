import type { ReadStream } from 'node:fs';

/** The base URL of clients; `fetch` responds from memory. */
export const baseURL = 'https://gateway.example.com/v1';
export const apiKey = 'benchmark';
export const prompt = 'Why does light bend?';
const messages = [{ role: 'user', content: prompt } as const];

/** The request in the formats of OpenAI and Anthropic. */
export const body = { model: 'chat-model', messages };

/** The length of the text in a chunk. */
export function textLength(chunk: Chunk): number {
  return chunk.choices[0]?.delta.content?.length ?? 0;
}

export interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string | null | undefined } }[];
}

interface EmbeddingBody {
  readonly model: string;
  readonly input: string[];
  readonly encoding_format?: 'float';
}

/** The common interface of clients used like `openai`. */
export interface OpenAILike {
  readonly chat: {
    readonly completions: {
      create(asked: typeof body): PromiseLike<unknown>;
      create(asked: typeof body & { stream: true }): PromiseLike<AsyncIterable<Chunk>>;
    };
  };
  readonly embeddings: {
    create(
      asked: EmbeddingBody,
    ): PromiseLike<{ readonly data: readonly { readonly embedding: unknown }[] }>;
  };
  readonly audio: {
    readonly translations: {
      create(asked: { model: string; file: File | ReadStream }): PromiseLike<{ text: string }>;
    };
  };
}

const openaiLike: Readonly<
  Record<'model-gateway' | 'openai' | 'groq-sdk', (url: string) => Promise<OpenAILike>>
> = {
  'model-gateway': gateway,
  openai,
  'groq-sdk': async (url) => {
    const { default: Groq } = await import('groq-sdk');
    return new Groq({ apiKey, baseURL: url.replace(/\/v1$/, '') });
  },
};

/** This client, for what it alone has. */
export async function gateway(url = baseURL) {
  const { Gateway } = await import('./model-gateway.ts');
  return new Gateway({ apiKey, baseURL: url });
}

export async function openai(url = baseURL) {
  const { default: OpenAI } = await import('openai');
  return new OpenAI({ apiKey, baseURL: url });
}

/** Makes the same of each client that is used as `openai`; it is loaded when it is called. */
export function forOpenAILike<T>(
  make: (connect: (url?: string) => Promise<OpenAILike>) => T,
): Record<keyof typeof openaiLike, T> {
  const of = (name: keyof typeof openaiLike): T => make((url = baseURL) => openaiLike[name](url));
  return { 'model-gateway': of('model-gateway'), openai: of('openai'), 'groq-sdk': of('groq-sdk') };
}

export async function anthropic() {
  const { default: Anthropic } = await import('@anthropic-ai/sdk');
  return new Anthropic({ apiKey, baseURL });
}

export async function genai() {
  const { GoogleGenAI } = await import('@google/genai');
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: baseURL } });
}

/** The provider for `ai`. */
export async function compatible(url = baseURL) {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({ name: 'gateway', apiKey, baseURL: url });
}
