/** Types of embeddings, with the namespaces that code for `openai` uses. */
import type * as embeddings from '../../resources/embeddings/types.ts';
import type { Closed } from '../../types.ts';
import type { EmbeddingUsage } from '../../resources/embeddings/types.ts';

export type * from '../../resources/embeddings/types.ts';

/** Parameters of `embeddings.create()`, which also accepts readonly lists. */
export interface EmbeddingCreateParams extends Omit<
  Closed<embeddings.EmbeddingCreateParams>,
  'input'
> {
  input: string | string[] | number[] | number[][];
}

/** Embeddings of a request. */
export interface CreateEmbeddingResponse extends embeddings.CreateEmbeddingResponse {}
export declare namespace CreateEmbeddingResponse {
  export { EmbeddingUsage as Usage };
}
