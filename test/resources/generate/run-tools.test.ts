import { getEventListeners } from 'node:events';
import * as z from 'zod';
import { describe, expect, test, vi } from 'vitest';
import {
  APIUserAbortError,
  type Content,
  FunctionCallFinishReasonError,
  tool,
  type Tool,
  type ToolConfig,
} from '../../../src/index.ts';
import { toGoogleSchema } from '../../../src/structured/schema-subsets.ts';
import { bodyOf, emulated, failureOf, json, misuse, scripted } from '../../helpers/clients.ts';

const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

/** An answer with these parts. */
function answer(...parts: object[]) {
  const content = { role: 'model', parts };
  return json({ candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata });
}

function wants(name: string, args: object = {}, more: object = {}) {
  return answer({ functionCall: { name, args }, ...more });
}

const says = (text: string) => answer({ text });

const find = tool({
  name: 'find',
  description: 'Finds a city.',
  schema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, found: true }),
});
const ask = { model: 'm', contents: 'Where to?', functions: [find] };

/** The last turn that a request brings. */
async function lastTurn(request: Request | undefined): Promise<unknown> {
  const body: unknown = await bodyOf(request);
  const contents: Content[] = Object(body).contents;
  return contents.at(-1);
}

describe('generate.runTools()', () => {
  test('calls functions until a response calls none', async () => {
    const { client, requests } = scripted([
      wants('find', { city: 'Rome' }),
      wants('find', { city: 'Oslo' }),
      says('To Oslo.'),
    ]);

    const run = await client.generate.runTools(ask);

    expect(run.response.text).toBe('To Oslo.');
    expect(run.responses).toHaveLength(3);
    expect(run.usage).toEqual({
      promptTokenCount: 30,
      candidatesTokenCount: 15,
      totalTokenCount: 45,
    });
    expect(run.contents.map(({ role }) => role)).toEqual([
      'user',
      'model',
      'user',
      'model',
      'user',
      'model',
    ]);
    await expect(bodyOf(requests[0])).resolves.toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Where to?' }] }],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'find',
              description: 'Finds a city.',
              parameters: {
                type: 'object',
                properties: { city: { type: 'string' } },
                required: ['city'],
              },
            },
          ],
        },
      ],
    });
    await expect(lastTurn(requests[2])).resolves.toEqual({
      role: 'user',
      parts: [
        { functionResponse: { name: 'find', response: { output: { city: 'Oslo', found: true } } } },
      ],
    });
  });

  test('sends thoughts, signatures and ids back on the same parts', async () => {
    const parts = [
      { text: 'I look it up.', thought: true, thoughtSignature: 's1' },
      {
        functionCall: { id: 'f1', name: 'find', args: { city: 'Rome' } },
        thoughtSignature: 's2',
      },
      { functionCall: { id: 'f2', name: 'find', args: { city: 'Oslo' } } },
    ];
    const { client, requests } = scripted([answer(...parts), says('Done.')]);

    await client.generate.runTools(ask);

    await expect(bodyOf(requests[1])).resolves.toMatchObject({
      contents: [
        {},
        { role: 'model', parts },
        {
          parts: [
            { functionResponse: { id: 'f1', response: { output: { city: 'Rome' } } } },
            { functionResponse: { id: 'f2', response: { output: { city: 'Oslo' } } } },
          ],
        },
      ],
    });
  });

  test.each([
    {
      name: 'an unknown function',
      first: wants('fly'),
      problem: 'There is no tool "fly". The tools are: ["find"]',
    },
    {
      name: 'arguments that do not fit',
      first: wants('find', { city: 1 }),
      problem: /are invalid.*city: /,
    },
  ])('sends $name to the model, and continues', async ({ first, problem }) => {
    const { client, requests } = scripted([first, says('Sorry.')]);

    const { response } = await client.generate.runTools(ask);

    expect(response.text).toBe('Sorry.');
    await expect(lastTurn(requests[1])).resolves.toMatchObject({
      parts: [
        {
          functionResponse: {
            response: {
              error: typeof problem === 'string' ? problem : expect.stringMatching(problem),
            },
          },
        },
      ],
    });
  });

  test('sends the model the error of a function that throws, and an empty result', async () => {
    const { client, requests } = scripted([
      answer({ functionCall: { name: 'bad' } }, { functionCall: { name: 'quiet' } }),
      says('Sorry.'),
    ]);
    const functions = [
      tool({ name: 'bad', execute: () => Promise.reject(new Error('no wind')) }),
      tool({ name: 'quiet', execute: () => undefined }),
    ];

    await client.generate.runTools({ ...ask, functions });

    await expect(lastTurn(requests[1])).resolves.toEqual({
      role: 'user',
      parts: [
        { functionResponse: { name: 'bad', response: { error: 'The tool failed: no wind' } } },
        { functionResponse: { name: 'quiet', response: { output: null } } },
      ],
    });
  });

  test('makes no more requests than allowed', async () => {
    const { client, requests } = scripted([wants('find', { city: 'Rome' })]);

    const run = await client.generate.runTools(ask, { maxCalls: 2 });
    expect(requests).toHaveLength(2);
    expect(run.response.functionCalls).toHaveLength(1);
    expect(run.contents.at(-1)?.parts?.[0]).toHaveProperty('functionResponse');

    await client.generate.runTools(ask);
    expect(requests).toHaveLength(12);
  });

  test('reports every turn, so that a failure loses nothing', async () => {
    const { client } = scripted([
      wants('find', { city: 'Rome' }),
      json({ error: { message: 'no', code: 'model_not_found', type: 'new_api_error' } }, 503),
    ]);
    const turns: Content[] = [];

    const run = client.generate.runTools(ask, { onContent: (content) => turns.push(content) });

    await expect(run).rejects.toMatchObject({ code: 'model_not_found' });
    expect(turns.map(({ role }) => role)).toEqual(['model', 'user']);
  });

  test('keeps other tools, and passes the context to functions', async () => {
    const { client, requests } = scripted([wants('who'), says('Done.')]);
    const seen: unknown[] = [];
    const who = tool({ name: 'who', execute: (_, __, toolContext) => seen.push(toolContext) });

    await client.generate.runTools({
      ...ask,
      functions: [who],
      tools: { googleSearch: {} },
      toolContext: 'mine',
    });

    expect(seen).toEqual(['mine']);
    const body = await bodyOf(requests[0]);
    expect(body).toMatchObject({ tools: [{ googleSearch: {} }, { functionDeclarations: [{}] }] });
    expect(body).not.toHaveProperty('toolContext');
    expect(body).not.toHaveProperty('functions');
  });

  test('ends if the prompt is blocked', async () => {
    const { client } = scripted([json({ promptFeedback: { blockReason: 'SAFETY' } })]);

    const { response, contents } = await client.generate.runTools(ask);

    expect(response.blockReason).toBe('SAFETY');
    expect(contents).toHaveLength(1);
  });

  test.each([
    ['functions', { functions: [] }],
    ['functions', { functions: [tool({ name: 'a' })] }],
    ['functions[1]', { functions: [find, { ...find }] }],
    ['generationConfig.candidateCount', { generationConfig: { candidateCount: 2 } }],
    ['contents', { contents: [] }],
    ['model', { model: '' }],
  ])('rejects an invalid %s before anything is sent', async (field, params) => {
    const { client, requests } = scripted([says('Done.')]);

    const error = await failureOf(client.generate.runTools({ ...ask, ...params }));

    expect(error).toMatchObject({ name: 'InvalidInputError', field });
    expect(requests).toHaveLength(0);
    await expect(misuse(client.generate, 'runTools', null)).rejects.toThrow('params');
  });

  test('stops after an abort by the caller or by a function', async () => {
    const { client, requests } = scripted([wants('hang')]);
    const mine = new AbortController();
    const hang = tool({
      name: 'hang',
      execute: () => {
        setImmediate(() => mine.abort());
        return new Promise(() => undefined);
      },
    });
    const stop = tool({ name: 'hang', execute: (_, run) => run.abort() });

    const hung = client.generate.runTools({ ...ask, functions: [hang] }, { signal: mine.signal });
    await expect(hung).rejects.toBeInstanceOf(APIUserAbortError);
    const stopped = client.generate.runTools({ ...ask, functions: [stop] });
    await expect(stopped).rejects.toBeInstanceOf(APIUserAbortError);

    expect(getEventListeners(mine.signal, 'abort')).toHaveLength(0);
    expect(requests).toHaveLength(2);
  });

  test('runs on the emulator', async () => {
    const { client, emulator } = emulated();

    const { response, contents } = await client.generate.runTools({
      ...ask,
      model: 'gemini-2.5-flash',
      contents: 'Find the city of Rome.',
    });

    expect(response.text).toContain('"found":true');
    expect(contents).toHaveLength(4);
    expect(emulator.charges).toHaveLength(2);
  });
});

describe.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])(
  'a response with the finish reason %s',
  (generateFinishReason) => {
    test('ends the run with an error that has it', async () => {
      const { client, emulator } = emulated({}, { quirks: { generateFinishReason } });
      const execute = vi.fn(() => 'seen');
      const functions = [tool({ name: 'look', execute })];
      const onContent = vi.fn();

      const error = await failureOf(
        client.generate.runTools({ ...ask, model: 'm-flash', functions }, { onContent }),
      );

      expect(error).toBeInstanceOf(FunctionCallFinishReasonError);
      expect(error).toMatchObject({
        message: expect.stringContaining(generateFinishReason),
        outcome: 'unknown',
        responses: [{ functionCalls: [{ name: 'look' }], candidates: [{ content: {} }] }],
        evidence: { requestId: expect.any(String) },
      });
      expect(execute).not.toHaveBeenCalled();
      expect(onContent).not.toHaveBeenCalled();
      expect(emulator.charges).toHaveLength(1);
    });

    test('comes with the earlier responses', async () => {
      const { client, requests } = scripted([
        wants('find', { city: 'Rome' }),
        json({ candidates: [{ finishReason: generateFinishReason, index: 0 }], usageMetadata }),
      ]);

      const error = await failureOf(client.generate.runTools(ask));

      expect(error).toMatchObject({
        responses: [{ functionCalls: [{ name: 'find' }] }, { usageMetadata }],
      });
      expect(requests).toHaveLength(2);
    });

    test('a response of content() has the finish reason', async () => {
      const { client } = emulated({}, { quirks: { generateFinishReason } });

      const response = await client.generate.content({ model: 'm-flash', contents: 'Hi' });

      expect(response.candidates?.[0]?.finishReason).toBe(generateFinishReason);
    });
  },
);

test('the fields of tools and their settings are sent as they are', async () => {
  const { client, requests } = scripted([says('Done.')]);
  const tools: Tool[] = [
    { mcpServers: [{ name: 'm', streamableHttpTransport: { url: 'https://mcp.test' } }] },
    { functionDeclarations: [{ name: 'a', responseJsonSchema: { type: 'string' } }] },
  ];
  const toolConfig: ToolConfig = { includeServerSideToolInvocations: true };

  await client.generate.content({ model: 'm', contents: 'Hi', tools, toolConfig });

  await expect(bodyOf(requests[0])).resolves.toMatchObject({ tools, toolConfig });
});

describe('the schema of a function', () => {
  test.each([
    [
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    [{ type: ['string', 'null'] }, { type: 'string', nullable: true }],
    [
      { type: 'object', properties: {} },
      { type: 'object', properties: {} },
    ],
    [
      { type: 'array', items: { type: 'integer', minimum: 0 } },
      { type: 'array', items: { type: 'integer', minimum: 0 } },
    ],
    [{ anyOf: [{ type: 'string', enum: ['a'] }] }, { anyOf: [{ type: 'string', enum: ['a'] }] }],
  ])("the schema of a function is %j in Google's format", (schema, google) => {
    expect(toGoogleSchema(schema)).toEqual(google);
  });

  test.each([
    { type: ['string', 'number'] },
    { $ref: '#/$defs/a' },
    { type: 'object', additionalProperties: true },
    { properties: { a: { const: 1 } } },
    { items: [{}] },
    { anyOf: [{ not: {} }] },
    { enum: [1, 2] },
    { type: 'object', properties: { a: { type: 'array' } } },
    { type: 'object', properties: { a: { type: 'object' } } },
    { type: 'object', properties: { a: { type: ['object', 'null'], properties: {} } } },
    { type: 'array', items: { type: 'object', properties: {} } },
    { type: 'object', properties: { a: { anyOf: [{ type: 'string' }, { type: 'object' }] } } },
    { type: 'string', enum: ['a', ''] },
    { type: 'object', properties: { a: { type: 'string' } }, required: ['b'] },
  ])("%j is sent as a JSON Schema, because Google's format cannot express it", async (schema) => {
    const { client, requests } = scripted([says('Done.')]);
    const functions = [tool({ name: 'a', schema, strict: false, execute: () => 1 })];

    await client.generate.runTools({ ...ask, functions });

    expect(toGoogleSchema(schema)).toBeUndefined();
    await expect(bodyOf(requests[0])).resolves.toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'a', parametersJsonSchema: schema }] }],
    });
  });
});
