// Compares the schemas that are sent with those that the `openai` package sends.
import { zodFunction as theirFunction, zodResponseFormat as theirFormat } from 'openai/helpers/zod';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { zodFunction, zodResponseFormat } from '../../src/adapters/helpers/zod.ts';
import { responseFormat } from '../../src/index.ts';

const keywords =
  /^(type|properties|required|additionalProperties|items|anyOf|enum|const|\$ref|\$defs|definitions|description|title|pattern|format|multipleOf|(exclusiveM|m)(in|ax)imum|(min|max)Items)$/;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listValues = (value: unknown): unknown[] => Object.values(Object(value));

/** The target of a schema's reference. */
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
      refuse('is not an object');
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
    listValues(anyOf).forEach((inner, index) => visit(inner, `${path}/anyOf/${index}`));
  };
  visit(root, '#');
  if (!isRecord(root) || root['type'] !== 'object') found.push('#: is not an object');
  return found;
}

interface Tree {
  name: string;
  children: Tree[];
}
const tree: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }));
interface Linked {
  value: number;
  next: Linked | null;
}
const linked: z.ZodType<Linked> = z.object({
  value: z.number(),
  next: z.lazy(() => linked.nullable()),
});
const Node = z.object({
  name: z.string(),
  get children() {
    return z.array(Node);
  },
});
const User = z.object({
  email: z.email(),
  get posts() {
    return z.array(Post);
  },
});
const Post = z.object({
  title: z.string(),
  get author() {
    return User;
  },
});
const place = z.object({ street: z.string() });
const address = z.object({ street: z.string() }).meta({ id: 'Address' });

const cases = {
  'used twice': z.object({ home: place, work: place, others: z.array(place) }),
  'used twice, described': z.object({
    home: place.describe('Where they live.'),
    work: place.describe('Where they work.'),
  }),
  'with an id': z.object({ home: address, work: address }),
  'with an id, described': z.object({ home: address.describe('Where they live.') }),
  'contains itself, lazily': tree,
  'what is inside contains itself': z.object({ root: tree, other: tree }),
  'what is inside contains itself, described': z.object({
    root: tree.describe('The root.'),
    other: tree,
  }),
  'contains itself or null': linked,
  'contains itself by a getter': Node,
  'contain each other': User,
  'kinds with a discriminator': z.object({
    event: z.discriminatedUnion('type', [
      z.object({ type: z.literal('key'), key: z.string() }),
      z.object({ type: z.literal('click'), x: z.number() }),
    ]),
  }),
  'optional and nullable': z.object({ at: z.string().nullable().optional(), id: z.int() }),
  default: z.object({ units: z.enum(['c', 'f']).default('c') }),
  readonly: z.object({ tags: z.array(z.string()).readonly() }),
  literals: z.object({ a: z.literal([1, 2]), b: z.literal(null), c: z.literal(true) }),
  unions: z.object({ a: z.union([z.string(), z.number()]), b: place.nullable() }),
};

describe.each(Object.entries(cases))('%s', (_, schema) => {
  test("a schema is strict and accepted, like the openai package's", () => {
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

describe('a schema that strict mode cannot express', () => {
  test.each([
    ['may be missing', z.object({ at: z.string().optional() })],
    ['any fields', z.object({ counts: z.record(z.string(), z.number()) })],
    ['more fields', z.looseObject({ id: z.string() })],
    ['anything', z.object({ value: z.unknown() })],
    ['a tuple', z.object({ at: z.tuple([z.number(), z.number()]) })],
  ])('a schema that strict mode cannot express is sent unchanged: %s', (_, schema) => {
    expect(zodResponseFormat(schema, 'answer').json_schema).not.toHaveProperty('strict');
  });
});

describe('schemaDefinitions', () => {
  test('schemaDefinitions are sent once, by name', () => {
    const schema = z.object({ home: place, work: z.array(place) });
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

  test('schemaDefinitions keep their descriptions and recursion', () => {
    const schema = z.object({ home: place.describe('Where they live.'), tree: tree });

    const { schema: sent } = zodResponseFormat(schema, 'answer', {
      schemaDefinitions: { Tree: tree },
    }).json_schema;

    expect(refusals(sent)).toEqual([]);
    expect(JSON.stringify(sent)).toContain('Where they live.');
    expect(sent).toMatchObject({ properties: { tree: { $ref: '#/$defs/Tree' } } });
  });

  test('schemaDefinitions require names that are valid in a reference', () => {
    const options = { schemaDefinitions: { 'a/b': place } };

    expect(() => zodResponseFormat(place, 'answer', options)).toThrow('name: must be 1 to 64');
  });
});

test('definitions of a plain JSON Schema are closed too, and alternatives are converted', () => {
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
