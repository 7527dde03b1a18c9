import { GatewayError, type GatewayErrorInit } from '../errors/gateway-error.ts';
import type { EmbeddingUsage } from './types.ts';

/** A request of `embeddings.createMany()` that failed. */
export interface FailedEmbeddings {
  /** Position of the first input of the request, from 0. */
  readonly start: number;
  /** Position after its last input. */
  readonly end: number;
  /** What the request failed with. */
  readonly error: unknown;
}

/** What a {@link PartialEmbeddingsError} is made from. */
export interface PartialEmbeddingsErrorInit extends GatewayErrorInit {
  readonly vectors: readonly (Float32Array | undefined)[];
  readonly usage: EmbeddingUsage;
  readonly failed: readonly FailedEmbeddings[];
}

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
