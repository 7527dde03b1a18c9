import { PartialEmbeddingsError, type FailedEmbeddings } from './errors.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { vectorsSchema } from './schema.ts';
import type { EmbeddingsCreateManyParams, ManyEmbeddings } from './types.ts';
import { checkInteger } from '../check.ts';
import { embeddingBody, manyInputs } from './body.ts';

/** Options of `embeddings.createMany()`. Those of a call hold for each of its requests. */
export interface EmbeddingsCreateManyOptions extends RequestOptions {
  /**
   * The most inputs in one request. An integer of at least 1. Models differ in what they take: 2,048
   * with OpenAI, 100 with Gemini, as few as 10 elsewhere.
   * @defaultValue 100
   */
  batchSize?: number | undefined;
  /**
   * The most requests under way at a time. An integer of at least 1.
   * @defaultValue 4
   */
  concurrency?: number | undefined;
}

/** Embeds any number of inputs, with as many requests as that takes. */
export async function embedMany(
  transport: Transport,
  params: EmbeddingsCreateManyParams,
  options: EmbeddingsCreateManyOptions = {},
): Promise<ManyEmbeddings> {
  const { batchSize = 100, concurrency = 4, ...request } = options;
  checkInteger('batchSize', batchSize, 1);
  checkInteger('concurrency', concurrency, 1);
  // All inputs are looked at before the first is paid for.
  const body = embeddingBody('embeddings.createMany', params);
  const inputs = manyInputs(params.input);

  const vectors: (Float32Array | undefined)[] = inputs.map(() => undefined);
  const usage = { prompt_tokens: 0, total_tokens: 0 };
  const failed: FailedEmbeddings[] = [];
  let model = '';
  let next = 0;

  const embed = async (start: number, end: number): Promise<void> => {
    const input = inputs.slice(start, end);
    const answer = await transport.call(
      'embeddings.create',
      // Base64 is a third of the size of numbers and ten times faster to read. Providers that do not
      // know it send numbers, which are read as well.
      () => ({ json: { ...body, input, encoding_format: 'base64' } }),
      jsonAnswer({
        schema: vectorsSchema({ inputs: input.length, dimensions: params.dimensions }),
      }),
      request,
    );
    for (const { index, embedding } of answer.data) vectors[start + index] = embedding;
    model ||= answer.model;
    usage.prompt_tokens += answer.usage.prompt_tokens;
    usage.total_tokens += answer.usage.total_tokens;
  };
  /** Sends one request after the other until all are sent or one has failed. */
  const work = async (): Promise<void> => {
    while (next < inputs.length && failed.length === 0) {
      const start = next;
      const end = Math.min(start + batchSize, inputs.length);
      next = end;
      try {
        await embed(start, end);
      } catch (error) {
        failed.push({ start, end, error });
      }
    }
  };
  // After a failure the requests that are under way are still awaited: they are paid for.
  const workers = Math.min(concurrency, Math.ceil(inputs.length / batchSize));
  await Promise.all(Array.from({ length: workers }, work));

  const whole = vectors.filter((vector) => vector !== undefined);
  const [first] = failed;
  if (first === undefined) return { vectors: whole, model, usage };
  throw incomplete(first, { vectors, usage, failed }, whole.length);
}

function incomplete(
  { start, end, error }: FailedEmbeddings,
  rest: Pick<PartialEmbeddingsError, 'vectors' | 'usage' | 'failed'>,
  count: number,
): PartialEmbeddingsError {
  const reason = error instanceof Error ? error.message : String(error);
  const cause = error instanceof GatewayError ? error : undefined;
  return new PartialEmbeddingsError(
    `embeddings.createMany(): the request for inputs ${start} to ${end - 1} failed: ${reason}`,
    {
      ...rest,
      outcome: cause?.outcome ?? 'unknown',
      evidence: cause?.evidence,
      callId: cause?.callId,
      advice: `${count} of ${rest.vectors.length} vectors came and are in error.vectors; embed only the inputs that have none there.`,
      cause: error,
    },
  );
}
