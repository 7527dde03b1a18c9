// What is sent of a schema, beside what the `openai` package sends of it.
import { zodFunction as theirFunction, zodResponseFormat as theirFormat } from 'openai/helpers/zod';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as z3 from 'zod/v3';
import { zodFunction, zodResponseFormat } from '../../src/helpers/zod.ts';
import { responseFormat } from '../../src/index.ts';

const keywords =
  /^(type|properties|required|additionalProperties|items|anyOf|enum|const|\$ref|\$defs|definitions|description|title|pattern|format|multipleOf|(exclusiveM|m)(in|ax)imum|(min|max)Items)$/;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const valuesOf = (value: unknown): unknown[] => Object.values(Object(value));

/** Where a reference of a schema points. */
function target(root: unknown, ref: unknown): unknown {
  const steps = String(ref).split('/').slice(1).map(decodeURIComponent);
  return steps.reduce<unknown>((inner, step) => Object(inner)[step], root);
}

/** Why strict mode would refuse a schema, by the rules that providers publish. */
function refusals(root: unknown): string[] {
  const found: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    const refuse = (why: string): void => void found.push(`${path}: ${why}`);
    if (!isRecord(schema)) {
      refuse('is no object');
      return;
    }
    for (const keyword of Object.keys(schema)) {
      if (!keywords.test(keyword)) refuse(`has ${keyword}`);
    }
    const { type, properties, required, additionalProperties, items, anyOf, $ref } = schema;
    if ($ref !== undefined) {
      if (Object.keys(schema).length > 1) refuse('says more than its reference');
      if (target(root, $ref) === undefined) refuse('refers to nothing');
    } else if (type === undefined && anyOf === undefined) refuse('has no type');
    if (type === 'object') {
      if (additionalProperties !== false) refuse('is open');
      const isRequired = (name: string): boolean => [required].flat().includes(name);
      if (!Object.keys(Object(properties)).every(isRequired)) refuse('may lack properties');
    }
    for (const map of [properties, schema['$defs'], schema['definitions']]) {
      for (const [name, inner] of Object.entries(Object(map))) visit(inner, `${path}/${name}`);
    }
    if (items !== undefined) visit(items, `${path}/items`);
    valuesOf(anyOf).forEach((inner, index) => visit(inner, `${path}/anyOf/${index}`));
  };
  visit(root, '#');
  if (!isRecord(root) || root['type'] !== 'object') found.push('#: is no object');
  return found;
}

interface Tree {
  name: string;
  children: Tree[];
}
const tree4: z.ZodType<Tree> = z.lazy(() =>
  z.object({ name: z.string(), children: z.array(tree4) }),
);
const tree3: z3.ZodType<Tree> = z3.lazy(() =>
  z3.object({ name: z3.string(), children: z3.array(tree3) }),
);
interface Linked {
  value: number;
  next: Linked | null;
}
const linked4: z.ZodType<Linked> = z.object({
  value: z.number(),
  next: z.lazy(() => linked4.nullable()),
});
const linked3: z3.ZodType<Linked> = z3.object({
  value: z3.number(),
  next: z3.lazy(() => linked3.nullable()),
});
const Node4 = z.object({
  name: z.string(),
  get children() {
    return z.array(Node4);
  },
});
const User4 = z.object({
  email: z.email(),
  get posts() {
    return z.array(Post4);
  },
});
const Post4 = z.object({
  title: z.string(),
  get author() {
    return User4;
  },
});
const place4 = z.object({ street: z.string() });
const place3 = z3.object({ street: z3.string() });
const named4 = z.object({ street: z.string() }).meta({ id: 'Address' });

const cases = {
  'zod 4: used twice': z.object({ home: place4, work: place4, others: z.array(place4) }),
  'zod 4: used twice, described': z.object({
    home: place4.describe('Where they live.'),
    work: place4.describe('Where they work.'),
  }),
  'zod 4: with an id': z.object({ home: named4, work: named4 }),
  'zod 4: with an id, described': z.object({ home: named4.describe('Where they live.') }),
  'zod 4: contains itself, lazily': tree4,
  'zod 4: what is inside contains itself': z.object({ root: tree4, other: tree4 }),
  'zod 4: what is inside contains itself, described': z.object({
    root: tree4.describe('The root.'),
    other: tree4,
  }),
  'zod 4: contains itself or null': linked4,
  'zod 4: contains itself by a getter': Node4,
  'zod 4: contain each other': User4,
  'zod 4: kinds with a discriminator': z.object({
    event: z.discriminatedUnion('type', [
      z.object({ type: z.literal('key'), key: z.string() }),
      z.object({ type: z.literal('click'), x: z.number() }),
    ]),
  }),
  'zod 4: optional and nullable': z.object({ at: z.string().nullable().optional(), id: z.int() }),
  'zod 4: default': z.object({ units: z.enum(['c', 'f']).default('c') }),
  'zod 4: readonly': z.object({ tags: z.array(z.string()).readonly() }),
  'zod 4: literals': z.object({ a: z.literal([1, 2]), b: z.literal(null), c: z.literal(true) }),
  'zod 4: unions': z.object({ a: z.union([z.string(), z.number()]), b: place4.nullable() }),
  'zod 3: used twice': z3.object({ home: place3, work: place3, others: z3.array(place3) }),
  'zod 3: used twice, described': z3.object({
    home: place3.describe('Where they live.'),
    work: place3.describe('Where they work.'),
  }),
  'zod 3: contains itself': tree3,
  'zod 3: what is inside contains itself': z3.object({ root: tree3, other: tree3 }),
  'zod 3: contains itself or null': linked3,
  'zod 3: kinds with a discriminator': z3.object({
    event: z3.discriminatedUnion('type', [
      z3.object({ type: z3.literal('key'), key: z3.string() }),
      z3.object({ type: z3.literal('click'), x: z3.number() }),
    ]),
  }),
  'zod 3: optional and nullable': z3.object({ at: z3.string().nullable().optional() }),
  'zod 3: default': z3.object({ units: z3.enum(['c', 'f']).default('c') }),
  'zod 3: readonly': z3.object({ tags: z3.array(z3.string()).readonly() }),
  'zod 3: unions': z3.object({ a: z3.union([z3.string(), z3.number()]), b: place3.nullable() }),
};

describe.each(Object.entries(cases))('%s', (_, schema) => {
  test('is strict and would be taken, as is what the openai package sends', () => {
    const { strict, schema: sent } = zodResponseFormat(schema, 'answer').json_schema;
    const { parameters } = zodFunction({ name: 'answer', parameters: schema }).function;

    expect(strict).toBe(true);
    expect(refusals(sent)).toEqual([]);
    expect(parameters).toEqual(sent);
    // It keeps what only comments on values, also beside references, and the name of its dialect.
    const comments = /: (has (\$schema|default|readOnly|nullable)|says more than its reference)$/;
    const theirs = theirFormat(schema, 'answer').json_schema;
    expect(theirs.strict).toBe(true);
    expect(refusals(theirs.schema).filter((why) => !comments.test(why))).toEqual([]);
    expect(theirFunction({ name: 'answer', parameters: schema }).function.strict).toBe(true);
  });
});

describe('a schema that strict mode cannot say', () => {
  test.each([
    ['zod 4: may be missing', z.object({ at: z.string().optional() })],
    ['zod 4: any fields', z.object({ counts: z.record(z.string(), z.number()) })],
    ['zod 4: more fields', z.looseObject({ id: z.string() })],
    ['zod 4: anything', z.object({ value: z.unknown() })],
    ['zod 4: a tuple', z.object({ at: z.tuple([z.number(), z.number()]) })],
    ['zod 3: may be missing', z3.object({ at: z3.string().optional() })],
    ['zod 3: any fields', z3.object({ counts: z3.record(z3.number()) })],
    ['zod 3: more fields', z3.object({ id: z3.string() }).passthrough()],
    ['zod 3: anything', z3.object({ value: z3.unknown() })],
  ])('is sent as it is: %s', (_, schema) => {
    expect(zodResponseFormat(schema, 'answer').json_schema).not.toHaveProperty('strict');
  });
});

describe('schemaDefinitions', () => {
  test.each([
    ['zod 4', z.object({ home: place4, work: z.array(place4) }), place4],
    ['zod 3', z3.object({ home: place3, work: z3.array(place3) }), place3],
    ['zod 3, lazily', z3.object({ home: z3.lazy(() => place3), work: z3.array(place3) }), place3],
  ])('are sent once, under their names: %s', (_, schema, place) => {
    const options = { description: 'Where.', schemaDefinitions: { Place: place } };

    const { json_schema: sent } = zodResponseFormat(schema, 'answer', options);

    const reference = { $ref: '#/$defs/Place' };
    expect(sent).toEqual({
      name: 'answer',
      description: 'Where.',
      strict: true,
      schema: {
        type: 'object',
        properties: { home: reference, work: { type: 'array', items: reference } },
        required: ['home', 'work'],
        additionalProperties: false,
        $defs: {
          Place: {
            type: 'object',
            properties: { street: { type: 'string' } },
            required: ['street'],
            additionalProperties: false,
          },
        },
      },
    });
    expect(refusals(sent.schema)).toEqual([]);
    expect(theirFormat(schema, 'answer', options).json_schema.strict).toBe(true);
  });

  test('keep their descriptions and what contains itself', () => {
    const schema = z.object({ home: place4.describe('Where they live.'), tree: tree4 });

    const { schema: sent } = zodResponseFormat(schema, 'answer', {
      schemaDefinitions: { Tree: tree4 },
    }).json_schema;

    expect(refusals(sent)).toEqual([]);
    expect(JSON.stringify(sent)).toContain('Where they live.');
    expect(sent).toMatchObject({ properties: { tree: { $ref: '#/$defs/Tree' } } });
  });

  test('need names that can stand in a reference', () => {
    const options = { schemaDefinitions: { 'a/b': place4 } };

    expect(() => zodResponseFormat(place4, 'answer', options)).toThrow('name: must be 1 to 64');
  });
});

test('definitions of a plain JSON Schema are closed too, and alternatives are put in its words', () => {
  const inner = { id: 'inner', type: 'object', properties: { a: { const: 1 } }, required: ['a'] };
  const schema = {
    type: 'object',
    properties: {
      one: { $ref: '#/definitions/inner', description: 'One.' },
      two: { oneOf: [{ $ref: '#/definitions/inner' }, { enum: ['x', null] }] },
      three: { type: 'string', default: 'x' },
    },
    required: ['one'],
    definitions: { inner },
  };
  const open = structuredClone(schema);

  const { strict, schema: sent } = responseFormat(schema).json_schema;

  // `two` may be left out, and nothing that fits says so.
  expect(strict).toBeUndefined();
  expect(sent).toEqual(open);
  const required = { ...schema, required: ['one', 'two'] };
  const { strict: isStrict, schema: closed } = responseFormat(required).json_schema;
  expect(isStrict).toBe(true);
  expect(refusals(closed)).toEqual([]);
  expect(closed).toMatchObject({
    properties: {
      one: { anyOf: [{ $ref: '#/definitions/inner' }], description: 'One.' },
      two: {
        anyOf: [{ $ref: '#/definitions/inner' }, { enum: ['x', null], type: ['string', 'null'] }],
      },
      three: { type: 'string' },
    },
    definitions: { inner: { properties: { a: { const: 1, type: 'number' } } } },
  });
});
