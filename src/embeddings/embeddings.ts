import type { GatewayPromise } from '../http/promise.ts';
import { startCall, type Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import type {
  Base64EmbeddingResponse,
  CreateEmbeddingResponse,
  Embedding,
  EmbeddingCreateParams,
  EmbeddingsCreateManyParams,
  ManyEmbeddings,
} from './types.ts';
import {
  createForEngine,
  createMany,
  embed,
  type EmbeddingsCreateManyOptions,
} from './operations.ts';
import { copyOptions } from '../snapshot.ts';
import type { EmbeddingModel } from '../types.ts';

type Base64Params = EmbeddingCreateParams & { encoding_format: 'base64' };
type AnyResponse = CreateEmbeddingResponse | Base64EmbeddingResponse;

/** Turns texts into vectors. Billed by use. */
export class Embeddings {
  /** @internal */
  readonly transport: () => Transport;

  /** @internal */
  constructor(transport: () => Transport) {
    this.transport = transport;
  }

  /** Creates one vector per input, each as base64 text. Otherwise as without that format. */
  create(params: Base64Params, options?: RequestOptions): GatewayPromise<Base64EmbeddingResponse>;
  /**
   * Creates one vector per input: `POST /v1/embeddings`.
   *
   * Billed by tokens. Repeated on 408, 429, 5xx and lost connections, see `maxRetries`. `float` is
   * what is asked for unless you say otherwise; each vector is read by what it is, because some
   * providers ignore the format, so you always get lists of numbers, or base64 text when you asked
   * for that. The vectors are in the order of the inputs.
   *
   * @param params - The model and what to embed. An empty text is refused by most gateways.
   * @returns The vectors. When a provider skipped inputs, `missing` says how many.
   * @throws `InvalidInputError` when `model` is empty or `input` is no text or list; nothing is sent then
   * @throws `UnexpectedResponseError` with `validation: "strict"` when there is not one vector per
   * input; `error.data` holds those that came
   *
   * @example
   * ```ts
   * const { data } = await client.embeddings.create({ model, input: ['first', 'second'] });
   * const [first, second] = data.map((item) => item.embedding);
   * ```
   */
  create(
    params: EmbeddingCreateParams,
    options?: RequestOptions,
  ): GatewayPromise<CreateEmbeddingResponse>;
  create(params: EmbeddingCreateParams, options?: RequestOptions): GatewayPromise<AnyResponse> {
    return startCall(params, () => embed(this.transport(), params, options));
  }

  /** The same, with each vector as base64 text. */
  createForEngine(
    params: Base64Params,
    options?: RequestOptions,
  ): GatewayPromise<Base64EmbeddingResponse>;
  /**
   * The same as `create`, on the engine-style path, where the model is part of the path:
   * `POST /v1/engines/{model}/embeddings`.
   *
   * Many gateways have this path without serving it: they answer that `contents is required`, and the
   * error then says to use `create`. It is not sent there for you, because a second call could be
   * billed too.
   *
   * @param params - As for `create`.
   * @throws `InvalidInputError` when `model` is empty or `input` is no text or list; nothing is sent then
   */
  createForEngine(
    params: EmbeddingCreateParams,
    options?: RequestOptions,
  ): GatewayPromise<CreateEmbeddingResponse>;
  createForEngine(
    params: EmbeddingCreateParams,
    options?: RequestOptions,
  ): GatewayPromise<AnyResponse> {
    return startCall(params, () => createForEngine(this.transport(), params, options));
  }

  /**
   * Creates the vectors of any number of inputs, with as many requests as that takes.
   *
   * Each request is billed and repeated as one of `create`, and has the same options. They are sent
   * in the order of the inputs, `concurrency` at a time. After one has failed no other is begun, and
   * those under way are awaited, because they are paid for.
   *
   * @param params - As for `create`, with a list as input. Vectors are asked for in base64, which is
   * faster to read, and are read by what they are.
   * @param options - `batchSize` (100) and `concurrency` (4), and what `create` takes. A `signal` stops
   * all requests.
   * @returns One `Float32Array` per input, in the order of the inputs.
   * @throws `InvalidInputError` when `model` or an input is empty; nothing is sent then
   * @throws `PartialEmbeddingsError` when a request failed, was aborted, or brought fewer vectors than
   * inputs; `vectors` holds those that came
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

// The types of `OpenAI.Embeddings`.
// oxfmt-ignore
export declare namespace Embeddings {
  export {
    CreateEmbeddingResponse, Embedding, EmbeddingCreateParams, EmbeddingModel,
  };
}
