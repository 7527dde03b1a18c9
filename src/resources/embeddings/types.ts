import type { NoOptions } from '../../options/options.ts';
import { GatewayError, type GatewayErrorInit } from '../../errors/gateway-error.ts';
import type { WithRequestId } from '../../types.ts';

/** Parameters of `embeddings.create()` and `embeddings.createForEngine()`. */
export interface EmbeddingCreateParams extends NoOptions {
  /** An embedding model id from `models.list()`. */
  model: string;
  /**
   * One text, a list of texts, one tokenized text, or a list of tokenized texts. Most gateways reject an
   * empty text. The number of texts per request is limited by the model.
   *
   * Tokens only work with models whose provider supports OpenAI's format; others skip them.
   */
  input: string | readonly string[] | readonly number[] | readonly (readonly number[])[];
  /**
   * Format of the vectors. With `"base64"` each vector is a string: little-endian 32-bit floats in base64.
   * Otherwise each vector is an array of numbers, regardless of the format that the gateway sent.
   * @defaultValue `"float"`; base64 is then used between client and gateway where possible
   */
  encoding_format?: 'float' | 'base64' | undefined;
  /** Length of the vectors, for models that support it. An integer of at least 1. */
  dimensions?: number | undefined;
  /** A stable id for the end user. */
  user?: string | undefined;
}

/** Parameters of `embeddings.createMany()`. */
export interface EmbeddingsCreateManyParams extends Omit<
  EmbeddingCreateParams,
  'input' | 'encoding_format'
> {
  /**
   * Any number of texts or tokenized texts. None may be empty. They are checked before anything is sent.
   */
  input: readonly string[] | readonly (readonly number[])[];
}

/** The vectors of any number of inputs. */
export interface ManyEmbeddings {
  /** One vector per input, in the order of the inputs. */
  vectors: Float32Array[];
  /** The model in the response. May be the provider's name for the requested model. */
  model: string;
  /** Total usage of all requests. */
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

/** Tokens used by a request for embeddings. Zero if the gateway does not report them. */
export interface EmbeddingUsage {
  prompt_tokens: number;
  total_tokens: number;
}

/** Fields of embedding responses in both encodings. */
export interface EmbeddingResponseBase extends WithRequestId {
  object: 'list';
  /** The model in the response. May be the provider's name for the requested model. */
  model: string;
  usage: EmbeddingUsage;
  /**
   * Number of inputs without a vector; omitted if every input has one. Some providers skip inputs silently.
   * `index` may show which inputs were skipped, so do not match `data` to the inputs by position.
   */
  missing?: number | undefined;
}

/** The vectors of a request, in the order of its inputs. */
export interface CreateEmbeddingResponse extends EmbeddingResponseBase {
  /** One vector per input, sorted by `index`. See `missing`. */
  data: Embedding[];
}

/** The vectors of a base64 request, in the order of its inputs. */
export interface Base64EmbeddingResponse extends EmbeddingResponseBase {
  /** One vector per input, sorted by `index`. See `missing`. */
  data: Base64Embedding[];
}

/** A failed request of `embeddings.createMany()`. */
export interface FailedEmbeddings {
  /** Position of the first input of the request, from 0. */
  readonly start: number;
  /** Position after the last input of the request. */
  readonly end: number;
  /** The error of the request. */
  readonly error: unknown;
}

/** Options of the `PartialEmbeddingsError` constructor. */
type PartialEmbeddingsErrorInit = GatewayErrorInit &
  Pick<PartialEmbeddingsError, 'vectors' | 'usage' | 'failed'>;

/**
 * Some inputs of `embeddings.createMany()` were not embedded. The vectors received are paid for and
 * kept in `vectors`; embed only the inputs that are missing there.
 *
 * `outcome` and `cause` come from the first request that failed.
 */
export class PartialEmbeddingsError extends GatewayError {
  static override readonly kind: string = 'PartialEmbeddingsError';

  /** One entry per input, in the order of the inputs; `undefined` where the vector is missing. */
  readonly vectors: readonly (Float32Array | undefined)[];
  /** Total usage of the successful requests. */
  readonly usage: EmbeddingUsage;
  /**
   * The failed requests, in order of failure. Inputs without a vector that are in no failed request were never
   * sent.
   */
  readonly failed: readonly FailedEmbeddings[];

  constructor(message: string, init: PartialEmbeddingsErrorInit) {
    super(message, init);
    this.vectors = init.vectors;
    this.usage = init.usage;
    this.failed = init.failed;
  }
}
