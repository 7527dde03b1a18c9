import * as mini from 'zod/mini';
import { z as z3 } from 'zod/v3';
import * as z from 'zod';
import { describe, expect, test } from 'vitest';
import {
  zodFunction,
  zodRealtimeFunction,
  zodResponseFormat,
  zodTextFormat,
} from '../../src/adapters/helpers/zod.ts';
import { InvalidInputError, responseFormat, tool } from '../../src/index.ts';
import { schemaOf } from '../helpers/schemas.ts';
import { untyped } from '../helpers/untyped.ts';

const place = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
};

function sent(schema: object): unknown {
  return responseFormat(schema).json_schema;
}

describe('the schema that is sent', () => {
  test('the schema that is sent is closed and strict if providers can enforce it', () => {
    expect(sent(place)).toEqual({
      name: 'answer',
      strict: true,
      schema: { ...place, additionalProperties: false },
    });
  });

  test('the schema of a validator is its input schema, without $schema', () => {
    const schema = z.object({
      days: z.string().transform(Number),
      stops: z.array(z.object({ name: z.nullable(z.string()) })),
    });

    const format = responseFormat(schema, 'trip', { description: 'A trip.' });

    expect(JSON.parse(JSON.stringify(format))).toEqual({
      type: 'json_schema',
      json_schema: {
        name: 'trip',
        description: 'A trip.',
        strict: true,
        schema: {
          type: 'object',
          properties: {
            days: { type: 'string' },
            stops: {
              type: 'array',
              items: {
                type: 'object',
                properties: { name: { type: ['string', 'null'] } },
                required: ['name'],
                additionalProperties: false,
              },
            },
          },
          required: ['days', 'stops'],
          additionalProperties: false,
        },
      },
    });
  });

  test.each([
    ['a property may be missing', { ...place, required: ['city'] }],
    ['there may be more properties', { ...place, additionalProperties: true }],
    ['a keyword is refused', { ...place, allOf: [{ type: 'object' }] }],
    [
      'an inner one may have more',
      { ...place, properties: { days: {}, city: { type: 'object', minProperties: 1 } } },
    ],
    ['it is not an object', { type: 'array', items: { type: 'string' } }],
    [
      'a reference says more',
      { ...place, properties: { city: { $ref: '#', title: 'a' }, days: {} } },
    ],
  ])('the schema that is sent is unchanged and not strict if %s', (_, schema) => {
    expect(sent(schema)).toEqual({ name: 'answer', schema });
  });

  test('the schema that is sent is strict or not as the caller sets it', () => {
    const open = { ...place, required: [] };

    expect(responseFormat(place, 'a', { strict: false }).json_schema).toEqual({
      name: 'a',
      strict: false,
      schema: place,
    });
    expect(responseFormat(open, 'a', { strict: true }).json_schema).toMatchObject({
      strict: true,
      schema: open,
    });
  });

  test('a schema can be passed separately for a validator without one', () => {
    const { schema } = schemaOf((value) => ({ value }));

    expect(responseFormat(schema, 'a', { jsonSchema: place }).json_schema.schema).toMatchObject(
      place,
    );
    expect(() => responseFormat(z.object({ at: z.date() }))).toThrow('pass one in jsonSchema');
  });

  test('a schema is required in the types too if a validator has none', () => {
    const { schema } = schemaOf((value) => ({ value }));
    const valibot = { '~standard': { ...schema['~standard'], vendor: 'valibot' } };

    // @ts-expect-error: a validator without a JSON Schema
    expect(() => responseFormat(schema)).toThrow(InvalidInputError);
    // @ts-expect-error: a validator without a JSON Schema
    expect(() => responseFormat(schema)).toThrow('schema: ours returns no JSON Schema for it');
    // @ts-expect-error: zod 3 has no JSON Schema
    expect(() => responseFormat(z3.string())).toThrow('or use model-gateway/helpers/zod');
    // @ts-expect-error: zod 3 has no JSON Schema
    expect(() => tool({ name: 'find', schema: z3.object({}) })).toThrow(
      'or use model-gateway/helpers/zod',
    );
    // @ts-expect-error: valibot has no JSON Schema
    expect(() => responseFormat(valibot)).toThrow(
      'or use toStandardJsonSchema(schema) of @valibot/to-json-schema',
    );
    expect(tool({ name: 'find', schema, jsonSchema: place })).toHaveProperty('$parseRaw');
  });

  test("the schema that is sent does not change the caller's schema", () => {
    const mine = structuredClone(place);

    responseFormat(mine);

    expect(mine).toEqual(place);
  });

  test.each(['', 'with space', 'a'.repeat(65), 'ä'])(
    'the schema that is sent requires a name that providers accept: %j',
    (name) => {
      expect(() => responseFormat(place, name)).toThrow('name: must be 1 to 64 letters');
      expect(() => tool({ name, execute: () => 1 })).toThrow('name: must be 1 to 64 letters');
    },
  );
});

const isText = (value: unknown): value is string => typeof value === 'string';

describe('the parser of a format', () => {
  test("validates, and returns the validator's output", async () => {
    const format = responseFormat(z.object({ days: z.string().transform(Number) }));

    await expect(format.$parseRaw('{"days":"3","more":1}')).resolves.toEqual({ days: 3 });
    await expect(format.$parseRaw('{"days":3}')).rejects.toMatchObject({
      issues: [{ path: 'days', message: expect.stringContaining('string') }],
    });
  });

  test('names the path of a problem', async () => {
    const format = responseFormat(z.object({ stops: z.array(z.object({ name: z.string() })) }));
    const { schema } = schemaOf(() => ({
      issues: [{ message: 'no', path: [{ key: 'a' }, Symbol('b')] }, { message: 'never' }],
    }));

    await expect(format.$parseRaw('{"stops":[{"name":"a"},{}]}')).rejects.toThrow(
      /^stops\[1\]\.name: .*string/,
    );
    await expect(responseFormat(schema, 'a', { jsonSchema: {} }).$parseRaw('1')).rejects.toThrow(
      'a.Symbol(b): no; never',
    );
  });

  test('awaits a validator', async () => {
    const pause = new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    const { schema } = schemaOf((value) => ({ value }), { jsonSchema: place, pause });

    await expect(responseFormat(schema).$parseRaw('[1]')).resolves.toEqual([1]);
  });

  test('the parser of a format only parses with a plain JSON Schema, unless validate is set', async () => {
    await expect(responseFormat(place).$parseRaw('"anything"')).resolves.toBe('anything');
    const checked = responseFormat(place, 'a', { validate: isText });
    await expect(checked.$parseRaw('"text"')).resolves.toBe('text');
    await expect(checked.$parseRaw('1')).rejects.toThrow('validate rejected it');
  });

  test.each(['```json\n{"a":1}\n```', '<think>So {…</think>{"a":1}', ' {"a":1}\n'])(
    'finds the JSON in %j',
    async (text) => {
      await expect(responseFormat(place).$parseRaw(text)).resolves.toEqual({ a: 1 });
    },
  );

  test.each(['', 'Sure! {"a":1} {"a":2}', '{"a":', 'undefined'])('rejects %j', async (text) => {
    await expect(responseFormat(place).$parseRaw(text)).rejects.toThrow('it is not valid JSON');
  });
});

describe('tool()', () => {
  test('describes a function, and validates its arguments', async () => {
    const weather = tool({
      name: 'get_weather',
      description: 'The weather.',
      schema: z.object({ city: z.string() }),
      execute: ({ city }) => city.length,
    });

    expect(JSON.parse(JSON.stringify(weather))).toEqual({
      type: 'function',
      function: {
        name: 'get_weather',
        description: 'The weather.',
        strict: true,
        parameters: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
          additionalProperties: false,
        },
      },
    });
    await expect(weather.$parseRaw('{"city":"Rome"}')).resolves.toEqual({ city: 'Rome' });
    await expect(weather.$parseRaw('{}')).rejects.toThrow('city: ');
  });

  test('needs no schema for a function without arguments, and accepts missing arguments', async () => {
    const now = tool({ name: 'now', execute: () => 'noon' });

    expect(now.function.parameters).toMatchObject({ type: 'object', properties: {} });
    await expect(now.$parseRaw('')).resolves.toEqual({});
  });

  test('a tool without execute can only be parsed', () => {
    expect(tool({ name: 'now' })).not.toHaveProperty('$callback');
  });
});

const v4 = z.object({
  city: z.string(),
  days: z.int().optional(),
  kind: z.enum(['a', 'b']).default('a'),
});
const tiny = mini.object({
  city: mini.string(),
  days: mini.optional(mini.int()),
  kind: mini.prefault(mini.enum(['a', 'b']), 'a'),
});

describe('the helpers for zod', () => {
  test.each([
    ['4', v4],
    ['mini', tiny],
  ])('the helpers for zod accept schemas of zod %s', async (_, schema) => {
    const format = zodResponseFormat(schema, 'place');

    expect(format.json_schema).toMatchObject({
      name: 'place',
      schema: {
        type: 'object',
        properties: {
          city: { type: 'string' },
          days: { type: 'integer' },
          kind: { enum: ['a', 'b'] },
        },
        required: ['city'],
      },
    });
    await expect(format.$parseRaw('{"city":"Rome"}')).resolves.toEqual({ city: 'Rome', kind: 'a' });
    await expect(format.$parseRaw('{"city":1}')).rejects.toThrow(/^city: /);
  });

  test('the helpers for zod accept functions for tools', async () => {
    const find = zodFunction({
      name: 'find',
      description: 'Finds.',
      parameters: z.object({ id: z.string() }),
      function: ({ id }) => id,
    });

    expect(find.function).toMatchObject({ name: 'find', description: 'Finds.', strict: true });
    await expect(find.$parseRaw('{"id":"1"}')).resolves.toEqual({ id: '1' });
    expect(zodFunction({ name: 'find', parameters: v4 })).not.toHaveProperty('$callback');
  });

  test('name the part without a JSON Schema', () => {
    expect(() => zodResponseFormat(z.object({ at: z.date() }), 'a')).toThrow(InvalidInputError);
  });

  test('the helpers for zod reject the schema of another library, with an alternative', () => {
    const { schema } = schemaOf((value) => ({ value }));
    const problem =
      'schema: must be a schema of zod. For another validator, use responseFormat(schema, name, { jsonSchema }), ' +
      'or tool({ name, schema, jsonSchema }).';

    // @ts-expect-error: not a schema of zod
    expect(() => zodResponseFormat(schema, 'place')).toThrow(InvalidInputError);
    // @ts-expect-error: not a schema of zod
    expect(() => zodTextFormat(schema, 'place')).toThrow(problem);
    // @ts-expect-error: not a schema of zod
    expect(() => zodFunction({ name: 'find', parameters: schema })).toThrow(problem);
    // @ts-expect-error: not a schema of zod
    expect(() => zodRealtimeFunction({ name: 'find', parameters: schema })).toThrow(problem);
  });

  test('the helpers for zod accept a schema of zod 3 with its JSON Schema, and validate responses', async () => {
    const schema = z3.object({ city: z3.string() });
    const jsonSchema = { type: 'object', properties: { city: { type: 'string' } } };

    for (const format of [
      responseFormat(schema, 'place', { jsonSchema }),
      zodResponseFormat(schema, 'place', { jsonSchema }),
    ]) {
      expect(format.json_schema).toEqual({ name: 'place', schema: jsonSchema });
      await expect(format.$parseRaw('{"city":"Rome"}')).resolves.toEqual({ city: 'Rome' });
      await expect(format.$parseRaw('{"city":1}')).rejects.toThrow(/^city: /);
    }
  });
});

describe('fields that tool() and responseFormat() do not have', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

  test('`parameters` is the schema', async () => {
    const { function: definition } = tool(
      untyped<{ name: string }>({ name: 'f', parameters: schema }),
    );

    expect(definition.parameters).toMatchObject(schema);
    expect(() =>
      tool(untyped<{ name: string }>({ name: 'f', parameters: schema, schema })),
    ).toThrow('parameters: is the same as schema; pass only schema.');
  });

  test.each([
    ['inputSchema', 'use schema'],
    ['scheme', 'use schema'],
    ['handler', 'use execute'],
    ['excute', 'use execute'],
    ['desciption', 'use description'],
    ['type', 'the fields are name, schema, execute,'],
    ['function', 'the fields are name, schema, execute,'],
  ])('%s is an input error of tool() that names the right field', (name, fix) => {
    const definition = untyped<{ name: string }>({ name: 'f', [name]: schema });

    expect(() => tool(definition)).toThrow(`${name}: is not a field of tool(); ${fix}`);
    expect(tool(untyped<{ name: string }>({ name: 'f', [name]: undefined }))).toBeDefined();
  });

  test('one of the options of responseFormat() is an input error too', () => {
    const options = untyped<object>({ validates: () => true });

    expect(() => responseFormat(schema, 'place', options)).toThrow(
      'validates: is not a field of responseFormat(); use validate.',
    );
  });
});
