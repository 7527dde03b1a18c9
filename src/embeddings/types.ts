import { GatewayError, type GatewayErrorInit } from '../errors/gateway-error.ts';
import type { WithRequestId } from '../types.ts';

/** Parameters of `embeddings.create()` and `embeddings.createForEngine()`. */
export interface EmbeddingCreateParams {
  /** An embedding model id, as `models.list()` gives it. */
  model: string;
  /**
   * What to embed: one text, a list of texts, one text as tokens, or a list of those. Most gateways
   * refuse an empty text. How many texts fit into one request depends on the model.
   *
   * Tokens work only with models whose provider takes OpenAI's format; others skip them.
   */
  input: string | readonly string[] | readonly number[] | readonly (readonly number[])[];
  /**
   * How the vectors are wanted. With `"base64"` each one is text: little-endian 32-bit floats in
   * base64. Otherwise each one is a list of numbers, however the gateway sent it.
   * @defaultValue `"float"`, which is the gateway's own default; nothing is sent unless you set it
   */
  encoding_format?: 'float' | 'base64' | undefined;
  /** The length of the vectors, for models that let it be chosen. An integer of at least 1. */
  dimensions?: number | undefined;
  /** Your own stable id of the end user. */
  user?: string | undefined;
}

/** Parameters of `embeddings.createMany()`. */
export interface EmbeddingsCreateManyParams extends Omit<
  EmbeddingCreateParams,
  'input' | 'encoding_format'
> {
  /**
   * What to embed: any number of texts, or of texts in tokens. None may be empty. They are checked
   * before anything is sent.
   */
  input: readonly string[] | readonly (readonly number[])[];
}

/** The vectors of any number of inputs. */
export interface ManyEmbeddings {
  /** One vector per input, in the order of the inputs. */
  vectors: Float32Array[];
  /** The model that answered. It may be the provider's name for the one that was asked for. */
  model: string;
  /** What all requests used together. */
  usage: EmbeddingUsage;
}

/** The vector of one input. */
export interface Embedding {
  /** The vector. */
  embedding: number[];
  /** Position of the input that this vector belongs to, from 0. */
  index: number;
  object: 'embedding';
}

/** The vector of one input in base64. */
export interface Base64Embedding {
  /** The vector as little-endian 32-bit floats, in base64. */
  embedding: string;
  /** Position of the input that this vector belongs to, from 0. */
  index: number;
  object: 'embedding';
}

/** What a request for embeddings used. Zeros when the gateway does not say. */
export interface EmbeddingUsage {
  prompt_tokens: number;
  total_tokens: number;
}

/** What the answers to both encodings have in common. */
export interface EmbeddingResponseBase extends WithRequestId {
  object: 'list';
  /** The model that answered. It may be the provider's name for the one that was asked for. */
  model: string;
  usage: EmbeddingUsage;
  /**
   * How many inputs got no vector; left out when every input has one. Some providers skip inputs
   * without a word. Which ones then shows in `index` at best, so do not pair `data` with the inputs.
   */
  missing?: number | undefined;
}

/** The vectors of a request, in the order of its inputs. */
export interface CreateEmbeddingResponse extends EmbeddingResponseBase {
  /** One vector per input, sorted by `index`. See `missing`. */
  data: Embedding[];
}

// The parts under the names that code for `openai` uses.
export declare namespace CreateEmbeddingResponse {
  export { EmbeddingUsage as Usage };
}

/** The vectors of a request that asked for base64, in the order of its inputs. */
export interface Base64EmbeddingResponse extends EmbeddingResponseBase {
  /** One vector per input, sorted by `index`. See `missing`. */
  data: Base64Embedding[];
}

/** A request of `embeddings.createMany()` that failed. */
export interface FailedEmbeddings {
  /** Position of the first input of the request, from 0. */
  readonly start: number;
  /** Position after its last input. */
  readonly end: number;
  /** What the request failed with. */
  readonly error: unknown;
}

/** What a `PartialEmbeddingsError` is made from. */
type PartialEmbeddingsErrorInit = GatewayErrorInit &
  Pick<PartialEmbeddingsError, 'vectors' | 'usage' | 'failed'>;

/**
 * Not all inputs of `embeddings.createMany()` were embedded. The vectors that came are paid for and
 * are kept here; embed only the inputs that have none.
 *
 * `outcome` is that of the request that failed first, whose error is `cause`.
 */
export class PartialEmbeddingsError extends GatewayError {
  static override readonly kind: string = 'PartialEmbeddingsError';

  /** One entry per input, in their order; `undefined` where there is no vector. */
  readonly vectors: readonly (Float32Array | undefined)[];
  /** What the requests used that were answered. */
  readonly usage: EmbeddingUsage;
  /** The requests that failed, the first failure first. Inputs in none of them were never sent. */
  readonly failed: readonly FailedEmbeddings[];

  constructor(message: string, init: PartialEmbeddingsErrorInit) {
    super(message, init);
    this.vectors = init.vectors;
    this.usage = init.usage;
    this.failed = init.failed;
  }
}
