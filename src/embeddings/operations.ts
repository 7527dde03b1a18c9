import { check, checkInteger, checkModel, checkOptions, checkParams, shown } from '../check.ts';
import { GatewayError, InvalidInputError } from '../errors/gateway-error.ts';
import { explained } from '../errors/operation-errors.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import { checkMany, eachDone, optionsOf } from '../many.ts';
import type { RequestOptions } from '../options.ts';
import { embeddingsSchema, vectorsSchema } from './schema.ts';
import {
  type Base64EmbeddingResponse,
  type CreateEmbeddingResponse,
  type EmbeddingCreateParams,
  type EmbeddingsCreateManyParams,
  type EmbeddingUsage,
  type FailedEmbeddings,
  type ManyEmbeddings,
  PartialEmbeddingsError,
} from './types.ts';

type AnyResponse = CreateEmbeddingResponse | Base64EmbeddingResponse;

export function embed(
  transport: Transport,
  params: EmbeddingCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<AnyResponse> {
  const request = () => ({ json: embeddingBody('embeddings.create', params) });
  return transport.call('embeddings.create', request, answerTo(params, options), options);
}

export function createForEngine(
  transport: Transport,
  params: EmbeddingCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<AnyResponse> {
  const request = () => {
    const json = embeddingBody('embeddings.createForEngine', params);
    return { params: { model: json.model }, json, explain: explainEngine };
  };
  return transport.call('embeddings.createForEngine', request, answerTo(params, options), options);
}

/** The engine-style route takes the bodies of another operation on some gateways. */
const explainEngine = (error: Error): Error | undefined =>
  explained(
    error,
    /contents is required/i,
    'This gateway does not serve the engine-style route with an embeddings body; use embeddings.create() instead.',
  );

/** What was asked for decides what the caller gets; what came decides how it is read. */
function answerTo(params: EmbeddingCreateParams, options: RequestOptions | undefined) {
  const { input, dimensions, encoding_format } = { ...params, ...options?.extraBody };
  const form = { inputs: countInputs(input), dimensions, format: encoding_format ?? 'float' };
  return jsonAnswer({ schema: embeddingsSchema(form) });
}

/** The body of a request for embeddings, checked. */
function embeddingBody<Params extends EmbeddingCreateParams>(
  method: string,
  params: Params,
): Params {
  checkParams(method, params);
  checkModel(params.model);
  checkInteger('dimensions', params.dimensions ?? 1, 1);
  checkInput(params.input);
  return params;
}

/** How many vectors an input asks for: a list of numbers is one text in tokens. */
function countInputs(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
}

function checkInput(input: unknown): void {
  if (typeof input === 'string') return;
  const list: readonly unknown[] | undefined = Array.isArray(input) ? input : undefined;
  check(list !== undefined, 'input', `must be a text or a list of texts, not ${shown(input)}.`);
  check(list.length > 0, 'input', 'is empty; give at least one text.');
  const first = kindOf(list[0]);
  const at = first === undefined ? 0 : list.findIndex((item) => kindOf(item) !== first);
  if (at === -1) return;
  const kind = kindOf(list[at]);
  throw new InvalidInputError(
    `input[${at}]`,
    kind === undefined
      ? 'must be a text, a token (an integer of at least 0) or a list of tokens that is not empty.'
      : `is ${kind}, but input[0] is ${first}; send each kind in a request of its own, because some providers skip what they do not expect.`,
  );
}

function kindOf(item: unknown): string | undefined {
  if (typeof item === 'string') return 'a text';
  if (isToken(item)) return 'a token';
  const isList = Array.isArray(item) && item.length > 0 && item.every(isToken);
  return isList ? 'a list of tokens' : undefined;
}

function isToken(item: unknown): boolean {
  return Number.isInteger(item) && Number(item) >= 0;
}

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

/** Embeds any number of inputs, with as many requests as that takes. */
export async function createMany(
  transport: Transport,
  params: EmbeddingsCreateManyParams,
  options: EmbeddingsCreateManyOptions,
): Promise<ManyEmbeddings> {
  // All inputs are looked at before the first is paid for.
  const body = { ...embeddingBody('embeddings.createMany', params) };
  checkOptions(options);
  const { batchSize = 100, concurrency: _, onProgress, ...request } = options;
  checkInteger('batchSize', batchSize, 1);
  const concurrency = checkMany(options);
  const inputs = [...manyInputs(body.input)];

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
  const embedBatch = async (start: number, index: number) => {
    const input = inputs.slice(start, start + batchSize);
    const batch = { start, end: start + input.length };
    try {
      const answer = await transport.call(
        'embeddings.create',
        // Base64 is a third of the size of numbers and ten times faster to read. Providers that do not
        // know it send numbers, which are read as well.
        () => ({ json: { ...body, input, encoding_format: 'base64' } }),
        jsonAnswer({ schema: vectorsSchema(input.length, body.dimensions) }),
        optionsOf(request, index),
      );
      return { ...batch, answer };
    } catch (error) {
      return { ...batch, error };
    }
  };
  // After a failure the requests that are under way are still awaited: they are paid for.
  for await (const batch of eachDone(batches(), concurrency, embedBatch)) {
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
