import { errorMessage, listObjects, parseJSON, toFields } from '../../answers/objects.ts';
import { check, checkInteger, checkModel, shown } from '../../options/check.ts';
import { checkParams } from '../../options/parameters.ts';
import { UnexpectedResponseError } from '../../errors/api-errors.ts';
import { GatewayError, InvalidInputError } from '../../errors/gateway-error.ts';
import { type DescribedFailure, explained } from '../../errors/operation-errors.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import type { ResultFormat } from '../../calls/gateway-request.ts';
import { jsonFormat } from '../../calls/response.ts';
import type { Transport } from '../../calls/transport.ts';
import { mapConcurrent, optionsForCall } from '../../tasks/many.ts';
import type { FixedModelOptions, RequestOptions } from '../../options/options.ts';
import { optionsFor } from '../../options/resolve.ts';
import { copyOptions, copyParams } from '../../options/snapshot.ts';
import { mayRequestBase64, requestBase64 } from './base64.ts';
import { embeddingsSchema, type VectorsResponse, vectorsSchema } from './schema.ts';
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

export type AnyResponse = CreateEmbeddingResponse | Base64EmbeddingResponse;

export function embed(
  transport: Transport,
  params: EmbeddingCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<AnyResponse> {
  const body = embeddingBody('embeddings.create', params);
  const request = (json: EmbeddingCreateParams, sendOptions: RequestOptions | undefined) =>
    send(transport, json, () => embeddingsFormat(params, sendOptions), sendOptions);
  if (!mayRequestBase64(body, options)) return request(body, options);
  // The caller may change them before the second request.
  const copy = copyParams(body);
  return requestBase64(transport, body.model, copyOptions(options), (format, sendOptions) =>
    request({ ...copy, ...format }, sendOptions),
  );
}

/** Sends a body that was checked. */
function send<Vectors>(
  transport: Transport,
  body: object,
  format: () => ResultFormat<Vectors, 'json'>,
  options: RequestOptions | undefined,
): GatewayPromise<Vectors> {
  const parts = { kind: 'json', write: (json: object) => ({ json }), format } as const;
  return transport.operate('embeddings.create', body, parts, options);
}

export function createForEngine(
  transport: Transport,
  params: EmbeddingCreateParams,
  options: RequestOptions | undefined,
): GatewayPromise<AnyResponse> {
  const operation = 'embeddings.createForEngine';
  return transport.operate(
    operation,
    params,
    {
      kind: 'json',
      write(changed) {
        const json = embeddingBody(operation, changed);
        return { params: { model: json.model }, json, explain: explainEngine };
      },
      format: (changed) => embeddingsFormat(changed, options),
    },
    options,
  );
}

/** On some gateways the engine-style route expects the body of another operation. */
const explainEngine = (failure: DescribedFailure): Error | undefined =>
  explained(
    failure,
    /contents is required/i,
    'This gateway does not serve the engine-style route with an embeddings body; use embeddings.create() instead.',
  );

/** The requested format decides the return type; the response decides how each vector is decoded. */
function embeddingsFormat(params: EmbeddingCreateParams, options: RequestOptions | undefined) {
  const { input, dimensions, encoding_format } = { ...params, ...options?.extraBody };
  const schema = embeddingsSchema(countInputs(input), dimensions, encoding_format ?? 'float');
  return jsonFormat({ schema });
}

/** Checks the parameters and returns the request body. */
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

/** Returns the number of expected vectors: a list of numbers is one tokenized text. */
function countInputs(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== 'number' ? input.length : 1;
}

function checkInput(input: unknown): void {
  if (typeof input === 'string') return;
  const list: readonly unknown[] | undefined = Array.isArray(input) ? input : undefined;
  check(list !== undefined, 'input', `must be a string or a list of strings, not ${shown(input)}.`);
  check(list.length > 0, 'input', 'is empty; pass at least one string.');
  const first = inputKind(list[0]);
  const at = first === undefined ? 0 : list.findIndex((item) => inputKind(item) !== first);
  if (at === -1) return;
  const kind = inputKind(list[at]);
  throw new InvalidInputError(
    `input[${at}]`,
    kind === undefined
      ? 'must be a string, a token (an integer of at least 0) or a list of tokens that is not empty.'
      : `is ${kind}, but input[0] is ${first}; send each kind in a separate request, because some providers skip inputs of another kind.`,
  );
}

function inputKind(item: unknown): string | undefined {
  if (typeof item === 'string') return 'a string';
  if (isToken(item)) return 'a token';
  const isList = Array.isArray(item) && item.length > 0 && item.every(isToken);
  return isList ? 'a list of tokens' : undefined;
}

function isToken(item: unknown): boolean {
  return Number.isInteger(item) && Number(item) >= 0;
}

/** Options of `embeddings.createMany()`. Request options apply to each request. */
export interface EmbeddingsCreateManyOptions extends Omit<FixedModelOptions, 'idempotencyKey'> {
  /**
   * Identifies the requests in errors and logs: the first is `<callId>-0`.
   * @defaultValue a fresh id for each request
   */
  callId?: string | undefined;
  /**
   * Maximum number of inputs per request. An integer of at least 1. Limits differ by model: 2,048
   * with OpenAI, 100 with Gemini, as few as 10 elsewhere.
   * @defaultValue 100
   */
  batchSize?: number | undefined;
  /**
   * Maximum number of concurrent requests. An integer of at least 1.
   * @defaultValue 4
   */
  concurrency?: number | undefined;
  /**
   * Called and awaited after each successful request, with the number of inputs embedded so far.
   * If it throws, no further requests are sent, and `PartialEmbeddingsError` contains all vectors received.
   */
  onProgress?: ((progress: EmbeddingsProgress) => unknown) | undefined;
}

/** Progress of `embeddings.createMany()`. */
export interface EmbeddingsProgress {
  /** Number of inputs embedded so far. */
  readonly done: number;
  /** Total number of inputs. */
  readonly total: number;
  /** Usage of the requests so far. */
  readonly usage: EmbeddingUsage;
}

export async function createMany(
  transport: Transport,
  params: EmbeddingsCreateManyParams,
  options: EmbeddingsCreateManyOptions,
): Promise<ManyEmbeddings> {
  // Check all inputs before the first request is paid for.
  const body = { ...embeddingBody('embeddings.createMany', params) };
  const checked = transport.checkOptions('embeddings.createMany', options);
  const { batchSize, concurrency, onProgress } = checked;
  const request = optionsFor(checked, 'embeddings.create');
  const inputs = [...checkInputList(body.input)];

  const vectors: (Float32Array | undefined)[] = inputs.map(() => undefined);
  const usage = { prompt_tokens: 0, total_tokens: 0 };
  const failed: FailedEmbeddings[] = [];
  let model = '';
  let done = 0;
  /** Adds the vectors and the tokens of a response. */
  const add = (start: number, response: Pick<VectorsResponse, 'data' | 'usage'>): void => {
    for (const { index, embedding } of response.data) vectors[start + index] = embedding;
    usage.prompt_tokens += response.usage.prompt_tokens;
    usage.total_tokens += response.usage.total_tokens;
  };
  /** The first failure and its source. */
  let failure: { readonly source: string; readonly error: unknown } | undefined;

  const batches = function* (): Generator<number, void, undefined> {
    for (let start = 0; start < inputs.length; start += batchSize) {
      if (failure !== undefined) return;
      yield start;
    }
  };
  const embedBatch = async (start: number, index: number) => {
    const input = inputs.slice(start, start + batchSize);
    const batch = { start, end: start + input.length };
    try {
      const format = () => jsonFormat({ schema: vectorsSchema(input.length, body.dimensions) });
      const response = await requestBase64(
        transport,
        body.model,
        optionsForCall(request, index),
        (encoding, sendOptions) =>
          send(transport, { ...body, input, ...encoding }, format, sendOptions),
      );
      return { ...batch, response };
    } catch (error) {
      return { ...batch, error };
    }
  };
  // After a failure, still await pending requests: they are paid for.
  for await (const batch of mapConcurrent(batches(), concurrency, embedBatch)) {
    const { start, end } = batch;
    if ('error' in batch) {
      const { error } = batch;
      failed.push({ start, end, error });
      const response = UnexpectedResponseError.isInstance(error)
        ? [error.data, parseJSON(error.body ?? '')].find(isPartial)
        : undefined;
      const kept = listObjects(response?.data).filter(isDecoded);
      if (response !== undefined) add(start, { ...response, data: kept });
      failure ??= { source: `the request for inputs ${start} to ${end - 1}`, error };
      continue;
    }
    const { response } = batch;
    add(start, response);
    model ||= response.model;
    done += end - start;
    try {
      await onProgress?.({ done, total: inputs.length, usage: { ...usage } });
    } catch (thrown) {
      failure ??= { source: 'onProgress', error: thrown };
    }
  }

  const received = vectors.filter((vector) => vector !== undefined);
  if (failure === undefined) return { vectors: received, model, usage };
  const { source, error } = failure;
  const reason = errorMessage(error);
  const cause = error instanceof GatewayError ? error : undefined;
  throw new PartialEmbeddingsError(`embeddings.createMany(): ${source} failed: ${reason}`, {
    vectors,
    usage,
    failed,
    outcome: cause?.outcome ?? 'unknown',
    evidence: cause?.evidence,
    callId: cause?.callId,
    advice: `${received.length} of ${vectors.length} vectors were received and are in error.vectors; embed only the other inputs again.`,
    cause: error,
  });
}

/** Returns whether a value is a response of which some vectors are broken. */
function isPartial(value: unknown): value is Omit<VectorsResponse, 'data'> & { data: unknown } {
  const { data, usage } = toFields(value);
  const { prompt_tokens: input, total_tokens: total } = toFields(usage);
  return Array.isArray(data) && typeof input === 'number' && typeof total === 'number';
}

/** Returns whether an item of a response has a decoded vector. */
const isDecoded = (item: object): item is VectorsResponse['data'][number] =>
  'embedding' in item && item.embedding instanceof Float32Array;

/** Returns the inputs, checked to be a list of texts or tokenized texts. */
function checkInputList(
  input: EmbeddingsCreateManyParams['input'],
): readonly (string | readonly number[])[] {
  const isList = Array.isArray(input) && typeof input[0] !== 'number';
  check(isList, 'input', 'must be a list of texts or lists of tokens.');
  const empty = input.findIndex((item) => item === '');
  // An empty text would fail its request while others are already paid for.
  check(
    empty === -1,
    `input[${empty}]`,
    'is empty; omit it, because it would fail the whole request.',
  );
  return input;
}
