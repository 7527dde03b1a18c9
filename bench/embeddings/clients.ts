import type { Column } from '../lib/packages.ts';

export const dimensions = 3_072;
export const inputs: string[] = Array.from({ length: 256 }, (_, index) => `text ${index}`);

/**
 * Calls that embed all inputs and give the length of the last vector. `vectors` is the call that
 * the client has for many vectors, on its defaults; `float` asks for lists of numbers.
 */
type EmbeddingClient = () => Promise<Record<'vectors' | 'float', () => Promise<number>>>;

const baseURL = 'https://gateway.example.com/v1';
const apiKey = 'benchmark';
const model = 'embedding-model';
const body = { model, input: inputs };

async function post(format: 'float' | 'base64'): Promise<unknown[]> {
  const response = await fetch(`${baseURL}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, encoding_format: format }),
  });
  const { data }: { data: { embedding: unknown }[] } = JSON.parse(await response.text());
  return data.map(({ embedding }) => embedding);
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) || value instanceof Float32Array ? value.length : 0;
}

function decode(text: unknown): Float32Array {
  const floats = new Float32Array(dimensions);
  Buffer.from(floats.buffer).write(String(text), 'base64');
  return floats;
}

export const clients: Readonly<Partial<Record<Column, EmbeddingClient>>> = {
  'model-gateway': async () => {
    const { Gateway } = await import('../lib/model-gateway.ts');
    const { embeddings } = new Gateway({ apiKey, baseURL });
    return {
      // One request, as everywhere else here.
      vectors: async () =>
        lengthOf((await embeddings.createMany(body, { batchSize: inputs.length })).vectors.at(-1)),
      float: async () =>
        lengthOf(
          (await embeddings.create({ ...body, encoding_format: 'float' })).data.at(-1)?.embedding,
        ),
    };
  },
  // Nothing is checked, and the order is taken for granted.
  floor: async () => ({
    vectors: async () => lengthOf((await post('base64')).map(decode).at(-1)),
    float: async () => lengthOf((await post('float')).at(-1)),
  }),
  openai: async () => {
    const { default: OpenAI } = await import('openai');
    const { embeddings } = new OpenAI({ apiKey, baseURL });
    return {
      vectors: async () => lengthOf((await embeddings.create(body)).data.at(-1)?.embedding),
      float: async () =>
        lengthOf(
          (await embeddings.create({ ...body, encoding_format: 'float' })).data.at(-1)?.embedding,
        ),
    };
  },
  'groq-sdk': async () => {
    const { default: Groq } = await import('groq-sdk');
    const { embeddings } = new Groq({ apiKey, baseURL });
    const float = async (): Promise<number> =>
      lengthOf(
        (await embeddings.create({ ...body, encoding_format: 'float' })).data.at(-1)?.embedding,
      );
    return { vectors: float, float };
  },
  ai: async () => {
    const { embedMany } = await import('ai');
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const embedding = createOpenAICompatible({ name: 'gateway', apiKey, baseURL });
    const float = async (): Promise<number> => {
      const { embeddings } = await embedMany({
        model: embedding.embeddingModel(model),
        values: inputs,
      });
      return lengthOf(embeddings.at(-1));
    };
    return { vectors: float, float };
  },
};
