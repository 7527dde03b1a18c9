import { answerFromMemory, longAnswer } from './lib/answers.ts';
import { childPart, timeRuns } from './lib/child.ts';
import * as shared from './lib/clients.ts';
import type { Column } from './lib/packages.ts';

const dimensions = 3_072;
const inputs: string[] = Array.from({ length: 256 }, (_, index) => `text ${index}`);
const body = { model: 'embedding-model', input: inputs };
const floats = { ...body, encoding_format: 'float' } as const;

/**
 * Calls that embed all inputs and give the last vector. `vectors` is the call that the client has for
 * many vectors, `create` the one that it shares with `openai`, both on their defaults; `float` asks for lists
 * of numbers.
 */
type EmbeddingClient = () => Promise<
  Record<'vectors' | 'create' | 'float', () => Promise<unknown>>
>;

/** A response in the requested format. */
function answerIn(format: 'float' | 'base64'): () => Response {
  const data = inputs.map((_, index) => {
    const vector = Float32Array.from({ length: dimensions }, (_item, position) =>
      Math.sin(index * dimensions + position),
    );
    const embedding =
      format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector);
    return { object: 'embedding', index, embedding };
  });
  const usage = { prompt_tokens: 256, total_tokens: 256 };
  return longAnswer({ object: 'list', model: 'embedding-model', data, usage });
}

async function post(format: 'float' | 'base64'): Promise<unknown[]> {
  const response = await fetch(`${shared.baseURL}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${shared.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, encoding_format: format }),
  });
  const { data }: { data: { embedding: unknown }[] } = JSON.parse(await response.text());
  return data.map(({ embedding }) => embedding);
}

function decode(text: unknown): Float32Array {
  const vector = new Float32Array(dimensions);
  Buffer.from(vector.buffer).write(String(text), 'base64');
  return vector;
}

const openaiLike = shared.forOpenAILike<EmbeddingClient>((connect) => async () => {
  const { embeddings } = await connect();
  const create = async () => (await embeddings.create(body)).data.at(-1)?.embedding;
  return {
    vectors: create,
    create,
    float: async () => (await embeddings.create(floats)).data.at(-1)?.embedding,
  };
});

/** For clients that only ask for numbers. */
const onlyFloats = (float: () => Promise<unknown>) => ({ vectors: float, create: float, float });

const clients: Readonly<Partial<Record<Column, EmbeddingClient>>> = {
  'model-gateway': async () => {
    const { embeddings } = await shared.gateway();
    // One request, as everywhere else here.
    const options = { batchSize: inputs.length };
    return {
      ...(await openaiLike['model-gateway']()),
      vectors: async () => (await embeddings.createMany(body, options)).vectors.at(-1),
    };
  },
  // Nothing is checked, and the order is taken for granted.
  floor: async () => ({
    vectors: async () => (await post('base64')).map(decode).at(-1),
    create: async () => (await post('base64')).map((text) => Array.from(decode(text))).at(-1),
    float: async () => (await post('float')).at(-1),
  }),
  openai: openaiLike.openai,
  'groq-sdk': async () => onlyFloats((await openaiLike['groq-sdk']()).float),
  ai: async () => {
    const { embedMany } = await import('ai');
    const model = (await shared.compatible()).embeddingModel('embedding-model');
    return onlyFloats(async () => (await embedMany({ model, values: inputs })).embeddings.at(-1));
  },
};

export const embeddingsPart = childPart({
  name: 'embeddings',
  file: import.meta.filename,
  clients,
  rounds: 5,
  rows: {
    vectors: { id: 'embeddings', label: '256 × 3,072 embeddings as vectors, CPU', unit: 'ms' },
    create: { id: 'embeddings.create', label: '– with create(), on its defaults', unit: 'ms' },
    float: { id: 'embeddings.float', label: '– asked for as JSON numbers', unit: 'ms' },
  },
  async run(connect) {
    const answers = { float: answerIn('float'), base64: answerIn('base64') };
    answerFromMemory((request) =>
      typeof request?.body === 'string' && request.body.includes('"base64"')
        ? answers.base64()
        : answers.float(),
    );
    const figures: Record<string, number> = {};
    for (const [name, embed] of Object.entries(await connect())) {
      const embedWhole = async (): Promise<void> => {
        const vector = await embed();
        const isWhole = Array.isArray(vector) || vector instanceof Float32Array;
        if (!isWhole || vector.length !== dimensions) throw new Error('The vector is not whole.');
      };
      await timeRuns(embedWhole, 5);
      // 20 calls bring 5,120 vectors.
      figures[name] = (await timeRuns(embedWhole, 20)) / 1_000;
    }
    return figures;
  },
});
