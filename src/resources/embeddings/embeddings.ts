import type { GatewayPromise } from '../../calls/promise.ts';
import { startCall, type Transport } from '../../calls/transport.ts';
import type { FixedModelOptions } from '../../options/options.ts';
import type {
  Base64EmbeddingResponse,
  CreateEmbeddingResponse,
  EmbeddingCreateParams,
  EmbeddingsCreateManyParams,
  ManyEmbeddings,
} from './types.ts';
import {
  type AnyResponse,
  createForEngine,
  createMany,
  embed,
  type EmbeddingsCreateManyOptions,
} from './operations.ts';
import { copyOptions } from '../../options/snapshot.ts';

type Base64Params = EmbeddingCreateParams & { encoding_format: 'base64' };

/** Creates embeddings. Billed by usage. */
export class Embeddings {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /** Creates one vector per input, each as a base64 string. */
  create(
    params: Base64Params,
    options?: FixedModelOptions,
  ): GatewayPromise<Base64EmbeddingResponse>;
  /**
   * Creates one vector per input: `POST /v1/embeddings`.
   *
   * Billed by tokens. Retried on 408, 429, 5xx and lost connections, see `maxRetries`. Without
   * `encoding_format` the vectors are requested in base64, which is smaller and faster to read, and again
   * as numbers if the provider rejects that, which costs nothing. Each vector is converted by its actual
   * type: you always get arrays of numbers, or base64 strings if you requested those. The vectors are in the
   * order of the inputs.
   *
   * @param params - The model and the input. Most gateways reject an empty text.
   * @returns The vectors. If a provider skipped inputs, `missing` is their number.
   * @throws `InvalidInputError` if `model` is empty or `input` is not a text or list; nothing is sent
   * @throws `UnexpectedResponseError` with `validation: "strict"` if the number of vectors differs from
   * the number of inputs; `error.data` contains those received
   *
   * @example
   * ```ts
   * const { data } = await client.embeddings.create({ model, input: ['first', 'second'] });
   * const [first, second] = data.map((item) => item.embedding);
   * ```
   */
  create(
    params: EmbeddingCreateParams,
    options?: FixedModelOptions,
  ): GatewayPromise<CreateEmbeddingResponse>;
  create(params: EmbeddingCreateParams, options?: FixedModelOptions): GatewayPromise<AnyResponse> {
    return startCall(params, () => embed(this.transport().snapshot(), params, options));
  }

  /** Creates one vector per input, each as a base64 string. */
  createForEngine(
    params: Base64Params,
    options?: FixedModelOptions,
  ): GatewayPromise<Base64EmbeddingResponse>;
  /**
   * Same as `create`, but on the engine-style path, which contains the model:
   * `POST /v1/engines/{model}/embeddings`.
   *
   * Many gateways route this path but reject it with `contents is required`; the error then suggests `create`. The client does not fall back to it, because a second call could be
   * billed as well.
   *
   * @param params - Same as for `create`.
   * @throws `InvalidInputError` if `model` is empty or `input` is not a text or list; nothing is sent
   */
  createForEngine(
    params: EmbeddingCreateParams,
    options?: FixedModelOptions,
  ): GatewayPromise<CreateEmbeddingResponse>;
  createForEngine(
    params: EmbeddingCreateParams,
    options?: FixedModelOptions,
  ): GatewayPromise<AnyResponse> {
    return startCall(params, () => createForEngine(this.transport(), params, options));
  }

  /**
   * Creates vectors for any number of inputs, in as many requests as needed.
   *
   * Each request is billed and retried like one of `create`, and has the same options. Requests are sent
   * in the order of the inputs, `concurrency` at a time. After a failure no further requests are sent,
   * and pending ones are awaited because they are paid for.
   *
   * @param params - Same as for `create`, with a list as input. Vectors are requested in base64, which is
   * faster to decode; other formats are accepted too.
   * @param options - `batchSize` (100) and `concurrency` (4), and the options of `create`. A `signal`
   * aborts all requests.
   * @returns One `Float32Array` per input, in the order of the inputs.
   * @throws `InvalidInputError` if `model` or an input is empty; nothing is sent
   * @throws `PartialEmbeddingsError` if a request failed, was aborted, or returned fewer vectors than
   * inputs; `vectors` contains those received
   *
   * @example
   * ```ts
   * const { vectors } = await client.embeddings.createMany({ model, input: chapters });
   * ```
   */
  createMany(
    params: EmbeddingsCreateManyParams,
    options?: EmbeddingsCreateManyOptions,
  ): Promise<ManyEmbeddings> {
    return createMany(this.transport().snapshot(), params, copyOptions(options) ?? {});
  }
}
