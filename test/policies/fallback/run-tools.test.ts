import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import { type FallbackModel, type Gateway, responseFormat, tool } from '../../../src/index.ts';
import { bodyOf, emulated, eventStream, failureOf, json, scripted } from '../../helpers/clients.ts';
import { failFirst, requestedModels } from '../../helpers/requested-models.ts';

const messages = [{ role: 'user' as const, content: 'hi' }];
const find = tool({
  name: 'find',
  description: 'Finds a city.',
  schema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, found: true }),
});
const rejected = { type: 'error', status: 429 } as const;
const called = {
  role: 'assistant',
  content: null,
  reasoning_content: 'Hm.',
  tool_calls: [
    { id: 'c-1', type: 'function', function: { name: 'find', arguments: '{"city":"Rome"}' } },
  ],
};
const completion = (message: object, finish_reason: string) =>
  json({ id: 'x', model: 'served', choices: [{ index: 0, message, finish_reason }] });

const answer = (...parts: object[]) =>
  json({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] });
const wants = answer({ functionCall: { name: 'find', args: { city: 'Rome' } } });
const pathsOf = (requests: readonly Request[]) =>
  requests.map(({ url }) => /models\/(.*):/.exec(url)?.[1]);

/** The model that a request names in its path or body. */
const modelIn = async (request: Request): Promise<unknown> =>
  pathsOf([request])[0] ?? Object(await bodyOf(request)).model;

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'x',
  choices: [{ index: 0, delta, finish_reason }],
});
const pieces = called.tool_calls.map((call) => ({ ...call, index: 0 }));

type Answer = () => Response;
type Run = (client: Gateway) => Promise<unknown>;

const fallback = ['model-b', 'model-c', 'model-d'];

const kinds: readonly { kind: string; run: Run; failed: Answer; wants: Answer; done: Answer }[] = [
  {
    kind: 'chat.completions.runTools() of complete responses',
    run: ({ chat }) =>
      chat.completions
        .runTools({ model: 'model-a', messages, tools: [find] }, { fallback })
        .finalContent(),
    failed: json({ error: { message: 'Overloaded', code: 502 } }),
    wants: completion(called, 'tool_calls'),
    done: completion({ role: 'assistant', content: 'Rome.' }, 'stop'),
  },
  {
    kind: 'chat.completions.runTools() of streams',
    run: ({ chat }) =>
      chat.completions
        .runTools({ model: 'model-a', messages, tools: [find], stream: true }, { fallback })
        .finalContent(),
    failed: eventStream(chunk({ role: 'assistant' }), { error: { message: 'Overloaded' } }),
    wants: eventStream(chunk({ tool_calls: pieces }, 'tool_calls')),
    done: eventStream(chunk({ content: 'Rome.' }, 'stop')),
  },
  {
    kind: 'generate.runTools()',
    run: ({ generate }) =>
      generate
        .runTools({ model: 'model-a', contents: 'Where to?', functions: [find] }, { fallback })
        .then(({ response }) => response.text),
    failed: json({ error: { message: 'Overloaded', code: 502 } }),
    wants,
    done: answer({ text: 'Rome.' }),
  },
];

describe.each(kinds)('each request of $kind', ({ run, failed, wants: calls, done }) => {
  const rejects = json({ error: {} }, 429);

  test.for<{ when: string; answers: readonly Answer[]; models: readonly string[] }>([
    {
      when: 'is to the model of the run if that answered',
      answers: [calls, done],
      models: ['model-a', 'model-a'],
    },
    {
      when: 'is to the fallback after a failure while the first response was read',
      answers: [failed, calls, done],
      models: ['model-a', 'model-b', 'model-b'],
    },
    {
      when: 'is to the fallback, however many turns follow',
      answers: [rejects, calls, calls, done],
      models: ['model-a', 'model-b', 'model-b', 'model-b'],
    },
    {
      when: 'is to the last fallback that was sent',
      answers: [rejects, failed, calls, calls, done],
      models: ['model-a', 'model-b', 'model-c', 'model-c', 'model-c'],
    },
  ])('$when', async ({ answers, models }) => {
    const { client, requests } = scripted(answers, { maxRetries: 0 });

    await expect(run(client)).resolves.toBe('Rome.');

    await expect(Promise.all(requests.map(modelIn))).resolves.toEqual(models);
  });
});

describe('chat.completions.runTools() with fallbacks', () => {
  const params = { model: 'model-a', messages, tools: [find], max_tokens: 90 };
  const options = { fallback: [{ model: 'model-b', max_tokens: 50 }] };

  test.for<{ kind: string; run: (client: Gateway) => { done(): Promise<void> } }>([
    {
      kind: 'of complete responses',
      run: ({ chat }) => chat.completions.runTools(params, options),
    },
    {
      kind: 'of streams',
      run: ({ chat }) => chat.completions.runTools({ ...params, stream: true }, options),
    },
  ])('$kind stays with the model that answered, with its parameters', async ({ run }) => {
    const { client, emulator } = emulated({ maxRetries: 0 });
    failFirst(emulator, rejected);

    await run(client).done();

    expect(requestedModels(emulator)).toEqual({
      requests: ['model-a', 'model-b', 'model-b'],
      charges: ['model-b', 'model-b'],
    });
    const limits = emulator.requests.map(
      ({ body }) => body.kind === 'json' && Object(body.value).max_tokens,
    );
    expect(limits).toEqual([90, 50, 50]);
  });

  test.for([false, true])(
    'takes nothing of a model that failed, or was never requested (stream: %s)',
    async (stream) => {
      const answers: readonly Answer[] = stream
        ? [
            eventStream(chunk({ tool_calls: pieces }, 'tool_calls')),
            eventStream(chunk({ content: 'Rome.' }, 'stop')),
          ]
        : [
            completion(called, 'tool_calls'),
            completion({ role: 'assistant', content: 'Rome.' }, 'stop'),
          ];
      const { client, requests } = scripted(
        [json({ error: {} }, 429), json({ error: {} }, 429), ...answers],
        { maxRetries: 0 },
      );
      const own: FallbackModel[] = [
        { model: 'model-b', max_tokens: 50, response_format: responseFormat(z.object({}), 'b') },
        { model: 'model-c' },
        { model: 'model-d', max_tokens: 10 },
      ];
      const runner = stream
        ? client.chat.completions.runTools({ ...params, stream: true }, { fallback: own })
        : client.chat.completions.runTools(params, { fallback: own });

      await expect(runner.finalContent()).resolves.toBe('Rome.');

      const bodies = await Promise.all(requests.map(bodyOf));
      const sent = bodies.map((body) => [Object(body).model, Object(body).max_tokens]);
      expect(sent).toEqual([
        ['model-a', 90],
        ['model-b', 50],
        ['model-c', 90],
        ['model-c', 90],
      ]);
    },
  );

  test('ends if the model that answered fails later', async () => {
    const { client, requests } = scripted(
      [json({ error: {} }, 429), completion(called, 'tool_calls'), json({ error: {} }, 429)],
      { maxRetries: 0 },
    );
    const runner = client.chat.completions.runTools(
      { model: 'model-a', messages, tools: [find] },
      { fallback: ['model-b', 'model-c'] },
    );

    const failed = await failureOf(runner.finalContent());

    expect(failed).toMatchObject({ name: 'RateLimitError', outcome: 'rejected' });
    const bodies = await Promise.all(requests.map(bodyOf));
    expect(bodies.map((body) => Object(body).model)).toEqual(['model-a', 'model-b', 'model-b']);
  });

  test.for([
    { from: 'gpt-5.5', to: 'deepseek-chat', sent: 'Hm.' },
    { from: 'deepseek-chat', to: 'gpt-5.5', sent: undefined },
  ])(
    'sends reasoning back to $to after $from only if it requires that',
    async ({ from, to, sent }) => {
      const { client, requests } = scripted(
        [
          json({ error: {} }, 429),
          completion(called, 'tool_calls'),
          completion({ role: 'assistant', content: 'Rome.' }, 'stop'),
        ],
        { maxRetries: 0 },
      );
      const runner = client.chat.completions.runTools(
        { model: from, messages, tools: [find] },
        { fallback: [to] },
      );

      await runner.done();

      const last = await bodyOf(requests[2]);
      expect(last).toHaveProperty('model', to);
      expect(Object(last).messages[1].reasoning_content).toBe(sent);
    },
  );

  test('chat.completions.runTools() changes the model of a stream before content, and not after', async () => {
    const { client, requests } = scripted(
      [
        eventStream(chunk({ role: 'assistant' }), { error: { message: 'Overloaded' } }),
        eventStream(chunk({ role: 'assistant', content: 'Ro' })),
      ],
      { maxRetries: 0 },
    );
    const runner = client.chat.completions.runTools(
      { model: 'model-a', messages, tools: [find], stream: true },
      { fallback: ['model-b', 'model-c'] },
    );

    const failed = await failureOf(runner.done());

    expect(failed).toMatchObject({ name: 'StreamTruncatedError', outcome: 'unknown' });
    expect(requests).toHaveLength(2);
  });
});

describe('generate.runTools() with fallbacks', () => {
  const params = { model: 'model-a', contents: 'Where to?', functions: [find] };

  test('takes nothing of a model that failed, or was never requested', async () => {
    const { client, requests } = scripted(
      [json({ error: {} }, 429), json({ error: {} }, 429), wants, answer({ text: 'Rome.' })],
      { maxRetries: 0 },
    );
    const generationConfig = { maxOutputTokens: 50 };
    await client.generate.runTools(params, {
      fallback: [
        { model: 'model-b', generationConfig },
        'model-c',
        { model: 'model-d', generationConfig: { maxOutputTokens: 10 } },
      ],
    });
    expect(pathsOf(requests)).toEqual(['model-a', 'model-b', 'model-c', 'model-c']);
    const bodies = await Promise.all(requests.map(bodyOf));
    expect(bodies.map((body) => Object(body).generationConfig)).toEqual([
      undefined,
      generationConfig,
      undefined,
      undefined,
    ]);
  });

  test('ends if the model that answered fails later', async () => {
    const { client, requests } = scripted(
      [json({ error: {} }, 429), wants, json({ error: {} }, 429)],
      { maxRetries: 0 },
    );
    const run = client.generate.runTools(params, { fallback: ['model-b', 'model-c'] });
    await expect(run).rejects.toHaveProperty('name', 'RateLimitError');
    expect(pathsOf(requests)).toEqual(['model-a', 'model-b', 'model-b']);
  });
});
