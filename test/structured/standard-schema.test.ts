import {
  standardFunction as theirFunction,
  standardResponseFormat as theirFormat,
} from 'openai/helpers/standard-schema';
import * as z from 'zod';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  standardFunction,
  standardResponseFormat,
} from '../../src/adapters/helpers/standard-schema.ts';
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
