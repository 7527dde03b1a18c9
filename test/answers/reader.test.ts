import * as fc from 'fast-check';
import * as z from 'zod/mini';
import { describe, expect, test, vi } from 'vitest';
import type { ResponseIssue } from '../../src/types.ts';
import { chatChunkSchema, chatCompletionSchema } from '../../src/resources/chat/schema.ts';
import { generateContentSchema } from '../../src/resources/generate/schema.ts';
import {
  type Fields,
  readValue,
  type ResponseSchema,
  ShapeMismatch,
} from '../../src/answers/reader.ts';

function read<T>(
  value: unknown,
  schema: ResponseSchema<T>,
  validation: 'tolerant' | 'strict' | 'off' = 'tolerant',
) {
  const issues: ResponseIssue[] = [];
  const result = readValue(value, schema, { validation, onIssue: (issue) => issues.push(issue) });
  return { result, issues };
}

const completion = {
  id: 'chatcmpl-x1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'm-large',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_9', type: 'function', function: { name: 'find', arguments: '{"q":"tea"}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: {
    prompt_tokens: 31,
    completion_tokens: 12,
    total_tokens: 43,
    prompt_tokens_details: null,
  },
};

describe('reading a completion', () => {
  test('accepts a standard response without drift', () => {
    const { result, issues } = read(structuredClone(completion), chatCompletionSchema, 'strict');

    expect(issues).toEqual([]);
    expect(result).toMatchObject({ ...completion, usage: { total_tokens: 43 } });
    expect(result.choices[0]?.message.refusal).toBeNull();
    expect(result.choices[0]?.logprobs).toBeNull();
    expect(result.usage?.prompt_tokens_details).toBeNull();
  });

  test('keeps unknown fields and unknown enum values', () => {
    const answer = {
      ...structuredClone(completion),
      x_groq: { id: 1 },
      service_tier: 'turbo',
      choices: [{ message: { content: 'a', citations: [1] }, finish_reason: 'eos', extra: true }],
    };

    const { result, issues } = read(answer, chatCompletionSchema, 'strict');

    expect(issues).toEqual([]);
    expect(result).toMatchObject({
      x_groq: { id: 1 },
      service_tier: 'turbo',
      choices: [{ finish_reason: 'eos', extra: true, message: { citations: [1] } }],
    });
  });

  test.each([{}, { choices: null }, { choices: [] }, { choices: [{}] }, { choices: [null] }])(
    'returns the declared types for %j',
    (answer) => {
      const { result } = read(structuredClone(answer), chatCompletionSchema);

      expect(Array.isArray(result.choices)).toBe(true);
      expect(result).toMatchObject({ id: '', model: '', created: 0, object: 'chat.completion' });
      expect(result.usage).toBeUndefined();
      for (const { message, finish_reason: reason, index } of result.choices) {
        expect(message).toEqual({ role: 'assistant', content: null, refusal: null });
        expect([reason, index]).toEqual(['', 0]);
      }
    },
  );

  test.each([
    [1_790_000_000.25, 1_790_000_000.25],
    ['1790000000', 1_790_000_000],
    [null, 0],
  ])('reads the time %j', (created, expected) => {
    const { result, issues } = read({ ...completion, created }, chatCompletionSchema, 'strict');

    expect(result.created).toBe(expected);
    expect(issues).toEqual([]);
  });

  test('joins text parts into content and thought parts into reasoning, and keeps the parts', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hmm.' }] },
      { type: 'text', text: 'Hel' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      { type: 'text', text: 'lo' },
    ];
    const answer = { choices: [{ message: { content }, finish_reason: 'stop' }] };

    const { result, issues } = read(answer, chatCompletionSchema, 'strict');

    expect(issues).toEqual([]);
    expect(result.choices[0]?.message).toMatchObject({
      content: 'Hello',
      reasoning_content: 'Hmm.',
      content_parts: content,
    });
  });

  test('turns object arguments into text and fills missing fields of a tool call', () => {
    const calls = [{ type: null, function: { name: 'f', arguments: { a: 1 } } }, null];
    const answer = { choices: [{ message: { tool_calls: calls } }] };

    const { result } = read(answer, chatCompletionSchema);

    expect(result.choices[0]?.message.tool_calls).toEqual([
      { id: '', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
    ]);
  });

  test('reads annotations of files, and details that are null', () => {
    const annotations = [{ type: 'file', file: { hash: 'a', name: 'a.pdf', content: [] } }];
    const answer = {
      choices: [{ message: { content: 'x', annotations }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 1,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: null, text_tokens: 1 },
        completion_tokens_details: null,
      },
    };

    const { result, issues } = read(answer, chatCompletionSchema, 'strict');

    expect(issues).toEqual([]);
    expect(result.choices[0]?.message.annotations?.[0]?.file?.name).toBe('a.pdf');
    expect(result.usage?.prompt_tokens_details).toEqual({ cached_tokens: null, text_tokens: 1 });
    expect(result.usage?.completion_tokens_details).toBeNull();
  });

  test('keeps null in a fragment of a tool call', () => {
    const piece = { index: 0, id: null, type: null, function: { name: null, arguments: '{' } };

    const { result, issues } = read(
      { choices: [{ delta: { tool_calls: [piece] } }] },
      chatChunkSchema,
      'strict',
    );

    expect(issues).toEqual([]);
    expect(result.choices[0]?.delta.tool_calls).toEqual([piece]);
  });

  test('reports drift by path and kind, never by value', () => {
    const secret = 'my prompt';
    const { issues, result } = read(
      {
        id: 7,
        choices: [{ index: secret, message: { content: 4, tool_calls: secret } }],
        usage: [],
      },
      chatCompletionSchema,
    );

    expect(issues).toEqual([
      { path: 'id', expected: 'string', received: 'number' },
      { path: 'choices[0].index', expected: 'number', received: 'string' },
      {
        path: 'choices[0].message.content',
        expected: 'string, array or object',
        received: 'number',
      },
      { path: 'choices[0].message.tool_calls', expected: 'array', received: 'string' },
      { path: 'usage', expected: 'object', received: 'array' },
    ]);
    expect(JSON.stringify(issues)).not.toContain(secret);
    expect(result).toMatchObject({ id: 7, choices: [{ message: { content: 4 } }], usage: [] });
  });

  test('throws in strict mode after it has reported all drift', () => {
    const issues: ResponseIssue[] = [];
    const reading = () =>
      readValue({ id: 7, model: 8 }, chatCompletionSchema, {
        validation: 'strict',
        onIssue: (issue) => issues.push(issue),
      });

    expect(reading).toThrow(ShapeMismatch);
    expect(issues).toHaveLength(2);
  });

  test('normalizes without reports when validation is off', () => {
    const { result, issues } = read({ id: 7, choices: null }, chatCompletionSchema, 'off');

    expect(issues).toEqual([]);
    expect(result.choices).toEqual([]);
  });

  test.each([null, 'text', 3, [], undefined])('%j is rejected in every mode', (value) => {
    for (const validation of ['tolerant', 'strict', 'off'] as const) {
      expect(() => read(value, chatCompletionSchema, validation)).toThrow(ShapeMismatch);
    }
  });
});

describe('reading a generation', () => {
  test('converts snake case, and keeps unknown fields', () => {
    const { result, issues } = read(
      {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [
                { text: 'A' },
                { inline_data: { mime_type: 'image/png', data: 'AA==' }, thought_signature: 's' },
                { function_call: { name: 'f', args: { snake_case: 1 }, will_continue: true } },
              ],
            },
            finish_reason: 'STOP',
            safety_ratings: null,
          },
        ],
        usage_metadata: { prompt_token_count: 3, traffic_type: 'ON_DEMAND' },
        prompt_feedback: null,
        model_version: 'm-1',
        other_field: 1,
      },
      generateContentSchema,
      'strict',
    );

    expect(issues).toEqual([]);
    expect(JSON.parse(JSON.stringify(result))).toEqual({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { text: 'A' },
              { inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 's' },
              { functionCall: { name: 'f', args: { snake_case: 1 }, willContinue: true } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 3, traffic_type: 'ON_DEMAND' },
      modelVersion: 'm-1',
      other_field: 1,
    });
    expect(result.promptFeedback).toBeUndefined();
  });

  test('returns text without thoughts, function calls and block reasons', () => {
    const parts = [
      { text: 'Let me see.', thought: true },
      { text: 'Hel' },
      { functionCall: { name: 'f', args: {} } },
      { text: 'lo' },
    ];
    const answer = { candidates: [{ content: { parts }, finishReason: 'STOP' }] };

    const { result } = read(answer, generateContentSchema);

    expect(result.text).toBe('Hello');
    expect(result.functionCalls).toEqual([{ name: 'f', args: {} }]);
    expect(result.blockReason).toBeUndefined();
    expect(Object.keys(result)).toEqual(['candidates']);
    expect({ ...result }).toEqual(answer);
  });

  test.each([
    [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, 'PROHIBITED_CONTENT'],
    [{ candidates: [], promptFeedback: { blockReason: 'OTHER' } }, 'OTHER'],
    [{ candidates: [{ finishReason: 'SAFETY' }] }, 'SAFETY'],
    [{ candidates: [{ finishReason: 'IMAGE_SAFETY', content: null }] }, 'IMAGE_SAFETY'],
    [{ candidates: [{ finishReason: 'RECITATION', content: {} }] }, 'RECITATION'],
    [{ candidates: [{ finishReason: 'MAX_TOKENS', content: { parts: null } }] }, undefined],
    [{ candidates: null }, undefined],
    [{ candidates: [{ finishReason: 'STOP' }], promptFeedback: { blockReason: '' } }, undefined],
  ])('tolerates %j', (answer, reason) => {
    const { result, issues } = read(structuredClone(answer), generateContentSchema, 'strict');

    expect(issues).toEqual([]);
    expect(result.blockReason).toBe(reason);
    expect(result.text).toBeUndefined();
    expect(result.functionCalls).toBeUndefined();
  });
});

/** The same table for zod, which knows nothing of how tables are compared here. */
function toZod(kind: Fields[string]): z.ZodMiniType {
  if (typeof kind === 'function')
    return z.any().check(z.refine((value) => kind(value) === undefined));
  if (Array.isArray(kind)) return z.array(toZod(kind[0]));
  if (typeof kind === 'object') {
    const fields = Object.entries(kind).map(([name, field]) => [name, z.nullish(toZod(field))]);
    return z.looseObject(Object.fromEntries(fields));
  }
  const types: Record<string, z.ZodMiniType> = {
    any: z.any(),
    string: z.string(),
    number: z.number(),
    boolean: z.boolean(),
    object: z.looseObject({}),
    array: z.array(z.any()),
  };
  return z.union(kind.split(' or ').map((name) => types[name] ?? z.never()));
}

describe('a schema', () => {
  /** JSON that looks like answers: known keys with values of every kind. */
  const known =
    'id choices delta message role content tool_calls index usage created arguments function ' +
    'candidates parts text thought functionCall finishReason safetyRatings';
  const keys = fc.constantFrom(...known.split(' '));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom(null, 'text', '', '7', 'assistant', 1, 1.5, true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
    ),
  }));

  test.each([
    ['chunks', chatChunkSchema],
    ['completions', chatCompletionSchema],
    ['generations', generateContentSchema],
  ])('finds a difference where zod finds one, for %s', (_, schema) => {
    const oracle = toZod(schema.fields);

    fc.assert(
      fc.property(fc.dictionary(keys, value, { maxKeys: 4 }), (candidate) => {
        const result = z.safeParse(oracle, structuredClone(candidate));
        const paths = result.success ? [] : result.error.issues.map(({ path }) => path.join('.'));

        const { issues } = read<unknown>(candidate, schema);

        const found = issues.map(({ path }) => path.replaceAll('[', '.').replaceAll(']', ''));
        expect(found.toSorted()).toEqual(paths.toSorted());
      }),
      { numRuns: 500 },
    );
  });

  test('a schema does not read fields that every object inherits, such as constructor', () => {
    const answer = JSON.parse('{"constructor":1,"toString":"a","__proto__":{"id":7},"choices":[]}');

    expect(read(answer, chatCompletionSchema, 'strict').issues).toEqual([]);
  });

  test('uses no eval, which strict content security policies forbid', () => {
    const forbidden = vi.fn(() => {
      throw new EvalError('forbidden');
    });
    vi.stubGlobal('Function', forbidden);
    vi.stubGlobal('eval', forbidden);

    const { issues } = read({ id: 7 }, chatCompletionSchema);

    expect(issues).toHaveLength(1);
    expect(forbidden).not.toHaveBeenCalled();
  });
});
