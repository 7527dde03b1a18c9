import { GatewayError } from '../errors/gateway-error.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { type FailedEmbeddings, PartialEmbeddingsError } from './errors.ts';
import { vectorsSchema } from './schema.ts';
import type { EmbeddingsCreateManyParams, EmbeddingUsage, ManyEmbeddings } from './types.ts';
import { check, checkInteger } from '../check.ts';
import { checkMany, eachDone, optionsOf } from '../many.ts';

/** Options of `embeddings.createMany()`. Those of a call hold for each of its requests. */
export interface EmbeddingsCreateManyOptions extends Omit<RequestOptions, 'idempotencyKey'> {
  /**
   * Identifies the requests in errors and logs: the first is `<callId>-0`.
   * @defaultValue a fresh id for each request
   */
  callId?: string | undefined;
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
  /**
   * Called after each request that was answered, with the inputs that have a vector by then, and awaited.
   * When it throws, no other request is begun, and `PartialEmbeddingsError` holds all that came.
   */
  onProgress?: ((progress: EmbeddingsProgress) => unknown) | undefined;
}

/** How far `embeddings.createMany()` has come. */
export interface EmbeddingsProgress {
  /** How many inputs have a vector. */
  readonly done: number;
  /** How many inputs there are in all. */
  readonly total: number;
  /** What the requests so far have used. */
  readonly usage: EmbeddingUsage;
}

/**
 * Embeds any number of inputs, with as many requests as that takes.
 *
 * @param body - What is checked already.
 */
export async function embedMany(
  transport: Transport,
  body: EmbeddingsCreateManyParams,
  options: EmbeddingsCreateManyOptions = {},
): Promise<ManyEmbeddings> {
  const { batchSize = 100, concurrency: _, onProgress, ...request } = options;
  checkInteger('batchSize', batchSize, 1);
  const concurrency = checkMany(options);
  const inputs = manyInputs(body.input);

  const vectors: (Float32Array | undefined)[] = inputs.map(() => undefined);
  const usage = { prompt_tokens: 0, total_tokens: 0 };
  const failed: FailedEmbeddings[] = [];
  let model = '';
  let done = 0;
  /** What went wrong first, and with what. */
  let ended: { readonly by: string; readonly error: unknown } | undefined;

  const batches = function* (): Generator<number, void, undefined> {
    for (let start = 0; start < inputs.length; start += batchSize) {
      if (ended !== undefined) return;
      yield start;
    }
  };
  const embed = async (start: number, index: number) => {
    const input = inputs.slice(start, start + batchSize);
    const batch = { start, end: start + input.length };
    try {
      const answer = await transport.call(
        'embeddings.create',
        // Base64 is a third of the size of numbers and ten times faster to read. Providers that do not
        // know it send numbers, which are read as well.
        () => ({ json: { ...body, input, encoding_format: 'base64' } }),
        jsonAnswer({
          schema: vectorsSchema({ inputs: input.length, dimensions: body.dimensions }),
        }),
        optionsOf(request, index),
      );
      return { ...batch, answer };
    } catch (error) {
      return { ...batch, error };
    }
  };
  // After a failure the requests that are under way are still awaited: they are paid for.
  for await (const batch of eachDone(batches(), concurrency, embed)) {
    const { start, end } = batch;
    if ('error' in batch) {
      const { error } = batch;
      failed.push({ start, end, error });
      ended ??= { by: `the request for inputs ${start} to ${end - 1}`, error };
      continue;
    }
    const { answer } = batch;
    for (const { index, embedding } of answer.data) vectors[start + index] = embedding;
    model ||= answer.model;
    usage.prompt_tokens += answer.usage.prompt_tokens;
    usage.total_tokens += answer.usage.total_tokens;
    done += end - start;
    try {
      await onProgress?.({ done, total: inputs.length, usage: { ...usage } });
    } catch (thrown) {
      ended ??= { by: 'onProgress', error: thrown };
    }
  }

  const whole = vectors.filter((vector) => vector !== undefined);
  if (ended === undefined) return { vectors: whole, model, usage };
  const { by, error } = ended;
  const reason = error instanceof Error ? error.message : String(error);
  const cause = error instanceof GatewayError ? error : undefined;
  throw new PartialEmbeddingsError(`embeddings.createMany(): ${by} failed: ${reason}`, {
    vectors,
    usage,
    failed,
    outcome: cause?.outcome ?? 'unknown',
    evidence: cause?.evidence,
    callId: cause?.callId,
    advice: `${whole.length} of ${vectors.length} vectors came and are in error.vectors; embed only the inputs that have none there.`,
    cause: error,
  });
}

/** A list of inputs that are each a text or a list of tokens. */
function manyInputs(
  input: EmbeddingsCreateManyParams['input'],
): readonly (string | readonly number[])[] {
  const isList = Array.isArray(input) && typeof input[0] !== 'number';
  check(isList, 'input', 'must be a list of texts, or of texts in tokens.');
  const empty = input.findIndex((item) => item === '');
  // It would fail its request in the middle of others that are paid for.
  check(empty === -1, `input[${empty}]`, 'is empty; leave it out, as it fails the whole request.');
  return input;
}
