import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import { UnexpectedResponseError, type Gateway, usageOf } from '../../index.ts';
import { convertErrors, TooManyValuesError } from './errors.ts';
import { checkLimit, costMetadata, toHeaders, providerName, readCall } from './options.ts';

/** Settings of an embedding model. */
export interface EmbeddingModelSettings {
  /**
   * Maximum number of texts per request; `embedMany` splits longer lists. Limits differ by provider: 2048
   * with OpenAI, 100 with Google, 10 or 25 with Ali.
   * @defaultValue 100
   */
  readonly maxEmbeddingsPerCall?: number | undefined;
  /**
   * Allow `embedMany` to send requests concurrently.
   * @defaultValue true
   */
  readonly supportsParallelCalls?: boolean | undefined;
}

const provider = `${providerName}.embedding`;
const operation = 'embeddings.create';

/**
 * Creates an embedding model.
 *
 * @param connect - Returns the client, at the first call.
 */
export function embeddingModel(
  connect: () => Gateway,
  modelId: string,
  settings: EmbeddingModelSettings = {},
): EmbeddingModelV4 {
  const { maxEmbeddingsPerCall = 100, supportsParallelCalls = true } = settings;
  checkLimit('maxEmbeddingsPerCall', maxEmbeddingsPerCall);
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    maxEmbeddingsPerCall,
    supportsParallelCalls,
    async doEmbed(options) {
      const { values, dimensions, abortSignal: signal } = options;
      if (values.length > maxEmbeddingsPerCall) {
        throw new TooManyValuesError(provider, modelId, maxEmbeddingsPerCall, values);
      }
      const client = connect();
      const { request, warnings } = readCall(options);
      const params = { model: modelId, input: values, dimensions };
      const { data, response } = await convertErrors({ client, operation, signal }, async () => {
        const answer = await client.embeddings.create(params, request).withResponse();
        throwIfMissing(answer, values.length);
        return answer;
      });
      // The client fills in zeros for usage that is not reported.
      const { inputTokens = 0 } = usageOf(data);
      return {
        embeddings: data.data.map(({ embedding }) => embedding),
        ...(inputTokens > 0 && { usage: { tokens: inputTokens } }),
        ...costMetadata(data, response.headers),
        response: { headers: toHeaders(response), body: data },
        warnings,
      };
    },
  };
}

/** Throws if vectors are missing, because the AI SDK pairs texts and vectors by position. */
function throwIfMissing(
  { data, response }: { data: { data: readonly unknown[] }; response: Response },
  wanted: number,
): void {
  if (data.data.length === wanted) return;
  const message = `The gateway sent ${data.data.length} vectors for ${wanted} texts, so they cannot be matched.`;
  const { status, headers } = response;
  throw new UnexpectedResponseError(message, { outcome: 'unknown', status, headers, data });
}
