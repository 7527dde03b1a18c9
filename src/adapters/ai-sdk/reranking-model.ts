import type { JSONObject, RerankingModelV4 } from '@ai-sdk/provider';
import { UnexpectedResponseError, type Gateway } from '../../index.ts';
import { convertErrors } from './errors.ts';
import { costMetadata, isJSONObject, providerName, readCall, toHeaders } from './options.ts';

type Ranking = Awaited<ReturnType<RerankingModelV4['doRerank']>>['ranking'];

/**
 * Creates a reranking model, for gateways that serve `POST /v1/rerank` as Cohere and Jina do. Metered: retried
 * like embeddings.
 *
 * @param connect - Returns the client, at the first call.
 */
export function rerankingModel(connect: () => Gateway, modelId: string): RerankingModelV4 {
  return {
    specificationVersion: 'v4',
    provider: `${providerName}.reranking`,
    modelId,
    async doRerank(options) {
      const { documents, query, topN, abortSignal: signal } = options;
      const client = connect();
      const { request, warnings } = readCall(options);
      const { extraBody, ...others } = request;
      if (documents.type === 'object') {
        const details = 'Documents were sent as JSON text.';
        warnings.push({ type: 'compatibility', feature: 'object documents', details });
      }
      const texts =
        documents.type === 'text'
          ? documents.values
          : documents.values.map((value) => JSON.stringify(value));
      const body = {
        model: modelId,
        query,
        documents: texts,
        ...(topN !== undefined && { top_n: topN }),
        ...extraBody,
      };
      const operation = 'embeddings.create';
      const url = client
        .transport()
        .operationURL(operation)
        .replace(/embeddings$/, 'rerank');
      const failed = { client, operation, url, signal } as const;
      const { ranking, data, response } = await convertErrors(failed, async () => {
        const answer = await client.post('/v1/rerank', { ...others, body }).withResponse();
        return { ...answer, ranking: readRanking(answer, texts.length) };
      });
      return {
        ranking,
        ...costMetadata(data, response.headers),
        response: { ...readMetadata(data, modelId), headers: toHeaders(response), body: data },
        warnings,
      };
    },
  };
}

/** Returns the results: a list, in `results` (Cohere, Jina), in `data` (LiteLLM, vLLM) or in wrapped `data`. */
function readResults(data: unknown): readonly unknown[] | undefined {
  if (Array.isArray(data)) return data;
  if (!isJSONObject(data)) return undefined;
  return readResults(data['results'] ?? data['data']);
}

/** Throws if a result is missing, because the AI SDK pairs documents and results by position. */
function readRanking(
  { data, response }: { readonly data: unknown; readonly response: Response },
  count: number,
): Ranking {
  const fail = (problem: string): never => {
    const { status, headers } = response;
    throw new UnexpectedResponseError(problem, { outcome: 'unknown', status, headers, data });
  };
  const results = readResults(data);
  if (results === undefined || results.length === 0) return fail('The response has no results.');
  const seen = new Set<number>();
  const ranking = results.map((result) => {
    const {
      index,
      score: other,
      relevance_score: score = other,
    } = isJSONObject(result) ? result : emptyResult;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count) {
      return fail(`The response has a result for document ${JSON.stringify(index)} of ${count}.`);
    }
    if (seen.has(index)) return fail(`The response has two results for document ${index}.`);
    seen.add(index);
    if (typeof score !== 'number') return fail('A result has no relevance_score.');
    return { index, relevanceScore: score };
  });
  return ranking.toSorted((one, other) => other.relevanceScore - one.relevanceScore);
}

const emptyResult: JSONObject = {};

function readMetadata(data: unknown, modelId: string): { id?: string; modelId: string } {
  const id = isJSONObject(data) ? data['id'] : undefined;
  return { modelId, ...(typeof id === 'string' && { id }) };
}
