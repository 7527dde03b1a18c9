import {
  standardFunction as theirFunction,
  standardResponseFormat as theirFormat,
} from 'openai/helpers/standard-schema';
import * as theirs from 'openai/helpers/standard-schema';
import * as theirZod from 'openai/helpers/zod';
import * as z from 'zod';
import { z as z3 } from 'zod/v3';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  standardFunction,
  standardResponseFormat,
} from '../../src/adapters/helpers/standard-schema.ts';
import * as ourStandard from '../../src/adapters/helpers/standard-schema.ts';
import * as ourZod from '../../src/adapters/helpers/zod.ts';
import { InvalidInputError } from '../../src/index.ts';
import { bodyOf, json, scripted } from '../helpers/clients.ts';
import { schemaOf } from '../helpers/schemas.ts';
import { messages } from '../helpers/transport.ts';

const Trip = z.object({ city: z.string(), days: z.int() });
/** As it travels; we leave the dialect out, which some providers refuse. */
const sent = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, part) => (key === '$schema' ? undefined : part)));

const answer = (message: object) =>
  json({ choices: [{ index: 0, message, finish_reason: 'stop' }] });

describe('standardResponseFormat()', () => {
  test('sends the same as the original', () => {
    const description = 'A trip.';
    const schema = z.object({ city: z.string() });

    const ours = standardResponseFormat(schema, 'trip', { description });

    expect(sent(ours)).toEqual(sent(theirFormat(schema, 'trip', { description })));
  });

  test('parses and validates the response', async () => {
    const { client } = scripted([
      answer({ role: 'assistant', content: '{"city":"Rome","days":2}' }),
    ]);

    const completion = await client.chat.completions.parse({
      model: 'm',
      messages: [...messages],
      response_format: standardResponseFormat(Trip, 'trip'),
    });

    const parsed = completion.choices[0]?.message.parsed;
    expectTypeOf(parsed).toEqualTypeOf<{ city: string; days: number } | null | undefined>();
    expect(parsed).toEqual({ city: 'Rome', days: 2 });
  });

  test('accepts a JSON Schema if the validator has none', () => {
    const { schema } = schemaOf((value) => ({ value }));
    const given = { type: 'object', properties: {}, required: [], additionalProperties: false };

    expect(standardResponseFormat(schema, 'any', { schema: given })).toMatchObject({
      json_schema: { name: 'any', schema: given },
    });
    expect(() => standardResponseFormat(schema, 'any')).toThrow(InvalidInputError);
  });
});

describe('standardFunction()', () => {
  test('describes the same as the original, and runs', async () => {
    const definition = {
      name: 'plan',
      description: 'Plans a trip.',
      parameters: z.object({ city: z.string() }),
    };
    const planned: unknown[] = [];
    const tool = standardFunction({
      ...definition,
      function: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ city: string }>();
        planned.push(args);
        return 'done';
      },
    });
    const call = { name: 'plan', arguments: '{"city":"Rome"}' };
    const { client, requests } = scripted([
      answer({ role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: call }] }),
      answer({ role: 'assistant', content: 'Bon voyage.' }),
    ]);

    const runner = client.chat.completions.runTools({
      model: 'm',
      messages: [...messages],
      tools: [tool],
    });

    expect(await runner.finalContent()).toBe('Bon voyage.');
    expect(planned).toEqual([{ city: 'Rome' }]);
    expect(await bodyOf(requests[0])).toMatchObject({ tools: [sent(theirFunction(definition))] });
  });
});

const run = (): string => 'done';
const same = (mine: unknown, original: unknown): void => expect(sent(mine)).toEqual(sent(original));

describe('the helpers for schemas and those of openai', () => {
  const description = 'A trip.';
  const city = z.object({ city: z.string() });
  const old = z3.object({ city: z3.string() });
  const definition = { name: 'plan', description };
  const later = { ...definition, defer_loading: true, function: run };

  test('the helpers have every name of those of openai', () => {
    expect(Object.keys(ourStandard).toSorted()).toEqual(Object.keys(theirs).toSorted());
    expect(Object.keys(ourZod).toSorted()).toEqual(Object.keys(theirZod).toSorted());
  });

  test.each([
    ['zod 4', city],
    ['zod 3', old],
  ])('the helpers have the results of those of openai for %s', (_, schema) => {
    same(
      ourZod.zodTextFormat(schema, 'trip', { description }),
      theirZod.zodTextFormat(schema, 'trip', { description }),
    );
    same(
      ourZod.zodResponsesFunction({ ...later, parameters: schema }),
      theirZod.zodResponsesFunction({ ...later, parameters: schema }),
    );
    const { additionalProperties, ...parameters } = Object(
      theirZod.zodRealtimeFunction({ ...definition, parameters: schema }).parameters,
    );
    expect([undefined, false]).toContain(additionalProperties);
    same(ourZod.zodRealtimeFunction({ ...definition, parameters: schema }), {
      type: 'function',
      ...definition,
      parameters,
    });
  });

  test('the helpers have the results of those of openai for Standard Schema', () => {
    same(
      ourStandard.standardTextFormat(city, 'trip', { description }),
      theirs.standardTextFormat(city, 'trip', { description }),
    );
    same(
      ourStandard.standardResponsesFunction({ ...later, parameters: city }),
      theirs.standardResponsesFunction({ ...later, parameters: city }),
    );
    expect(ourStandard.standardResponsesFunction({ ...later, parameters: city })).toHaveProperty(
      '$callback',
    );
  });

  test('tools of Responses that are not strict say so, because it is the default there', () => {
    const parameters = z.object({ city: z.string().optional() });
    expect(ourZod.zodResponsesFunction({ name: 'plan', parameters })).toMatchObject({
      strict: null,
    });
  });
});
