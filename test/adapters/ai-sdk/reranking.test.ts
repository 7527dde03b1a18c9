import { APICallError, rerank } from 'ai';
import { describe, expect, test } from 'vitest';
import { failureOf, json } from '../../helpers/clients.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';
import { emulatedProvider, scriptedProvider } from './support.ts';

fakeWaitingTime();

const documents = ['Paris is in France', 'Cats sleep all day', 'Lisbon is in Portugal'];
const query = 'Which city is in Portugal?';

describe('reranking', () => {
  test('ranks documents, and is charged once', async () => {
    const { provider, emulator } = emulatedProvider();
    const model = provider.rerankingModel('m-rerank');

    const { ranking, rerankedDocuments } = await rerank({ model, query, documents, topN: 2 });

    expect(rerankedDocuments[0]).toBe('Lisbon is in Portugal');
    expect(ranking).toHaveLength(2);
    expect(emulator.requests).toMatchObject([
      {
        path: '/v1/rerank',
        body: { value: { model: 'm-rerank', query, documents, top_n: 2 } },
      },
    ]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('objects are sent as text, with a warning', async () => {
    const { provider, emulator } = emulatedProvider();
    const model = provider.rerankingModel('m-rerank');
    const objects = documents.map((text) => ({ text }));

    const { warnings } = await model.doRerank({
      query,
      documents: { type: 'object', values: objects },
      providerOptions: { modelGateway: { return_documents: false } },
    });

    expect(warnings).toMatchObject([{ type: 'compatibility', feature: 'object documents' }]);
    expect(Object(emulator.requests[0]?.body).value).toMatchObject({
      documents: objects.map((object) => JSON.stringify(object)),
      return_documents: false,
    });
  });

  test.each([
    ['Cohere', { id: 'r1', results: [{ index: 2, relevance_score: 0.9 }], meta: {} }],
    [
      'Jina',
      { model: 'j', usage: {}, results: [{ index: 2, relevance_score: 0.9, document: {} }] },
    ],
    ['data', { data: [{ index: 2, relevance_score: 0.9 }] }],
    ['a wrapper', { success: true, data: { results: [{ index: 2, relevance_score: 0.9 }] } }],
    ['Text Embeddings Inference', [{ index: 2, score: 0.9 }]],
  ])('the format of %s', async (_, answer) => {
    const { provider } = scriptedProvider([json(answer)]);

    const { ranking } = await rerank({ model: provider.rerankingModel('m'), query, documents });

    expect(ranking).toMatchObject([{ originalIndex: 2, score: 0.9 }]);
  });

  test('results are sorted by their score', async () => {
    const results = [
      { index: 0, relevance_score: 0.1 },
      { index: 2, relevance_score: 0.9 },
    ];
    const { provider } = scriptedProvider([json({ results })]);

    const { ranking } = await rerank({ model: provider.rerankingModel('m'), query, documents });

    expect(ranking.map(({ originalIndex }) => originalIndex)).toEqual([2, 0]);
  });

  test.each([
    ['no results', {}],
    ['an empty list', { results: [] }],
    ['an error in a 200', { error: { message: 'Bad model' } }],
    ['an index out of range', { results: [{ index: 3, relevance_score: 0.9 }] }],
    ['a negative index', { results: [{ index: -1, relevance_score: 0.9 }] }],
    ['no index', { results: [{ relevance_score: 0.9 }] }],
    ['the same index twice', { results: [0, 0].map((index) => ({ index, relevance_score: 1 })) }],
    ['no score', { results: [{ index: 0 }] }],
  ])('a 200 with %s is an error of the AI SDK', async (_, answer) => {
    const { provider, requests } = scriptedProvider([json(answer)]);

    const failure = await failureOf(
      rerank({ model: provider.rerankingModel('m'), query, documents }),
    );

    expect(APICallError.isInstance(failure)).toBe(true);
    expect(failure).toMatchObject({ statusCode: 200, isRetryable: false });
    expect(requests).toHaveLength(1);
  });

  test('one 500 is retried, unless retryUnknownOutcome is false', async () => {
    const { provider, emulator } = emulatedProvider();
    const model = provider.rerankingModel('m-rerank');
    emulator.fail({ fault: { type: 'error', status: 500 }, times: 1 });

    await resolved(rerank({ model, query, documents }));
    expect(emulator.charges).toHaveLength(1);

    emulator.fail({ fault: { type: 'error', status: 500 }, times: 1 });
    const providerOptions = { modelGateway: { retryUnknownOutcome: false } };
    await rejected(rerank({ model, query, documents, providerOptions }));
    expect(emulator.requests).toHaveLength(3);
  });
});
