// Compares the schemas of zod 3 with those that zod 4 writes for the same definition, and with `openai`.
import * as theirs from 'openai/helpers/zod';
import { z as z3 } from 'zod/v3';
import * as z4 from 'zod';
import { describe, expect, expectTypeOf, test } from 'vitest';
import {
  zodFunction,
  zodRealtimeFunction,
  zodResponseFormat,
  zodResponsesFunction,
  zodTextFormat,
} from '../../src/adapters/helpers/zod.ts';
import { InvalidInputError } from '../../src/index.ts';

// What the compiler writes for `enum Size { Small, Large }`, and an enum of texts.
const Size = { 0: 'Small', 1: 'Large', Small: 0, Large: 1 } as const;
const Color = { Red: 'red', Blue: 'blue' } as const;

/** Writes alternatives of simple types as the converter does; each version of zod 4 has another way. */
const comparable = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (_, part: unknown) => {
    const { type, format, ...rest } = Object(part);
    // Zod 4 names some of its checks as formats, beside their patterns.
    if (/^(starts_with|ends_with|includes)$/.test(format)) return { type, ...rest };
    return Array.isArray(type) ? { anyOf: type.map((name) => ({ type: name })), ...rest } : part;
  });

const pairs = {
  texts: [
    z3.object({
      a: z3.string().min(2).max(5),
      b: z3.string().length(3),
      c: z3.string().regex(/^x+$/),
    }),
    z4.object({
      a: z4.string().min(2).max(5),
      b: z4.string().length(3),
      c: z4.string().regex(/^x+$/),
    }),
  ],
  'parts of texts': [
    z3.object({
      a: z3.string().startsWith('a.b'),
      b: z3.string().endsWith('(c)'),
      c: z3.string().includes('d+'),
    }),
    z4.object({
      a: z4.string().startsWith('a.b'),
      b: z4.string().endsWith('(c)'),
      c: z4.string().includes('d+'),
    }),
  ],
  numbers: [
    z3.object({
      a: z3.number().min(1).max(9),
      b: z3.number().gt(1).lt(9),
      c: z3.number().multipleOf(5).finite(),
    }),
    z4.object({
      a: z4.number().min(1).max(9),
      b: z4.number().gt(1).lt(9),
      c: z4.number().multipleOf(5),
    }),
  ],
  'an integer with limits': [
    z3.object({ a: z3.number().int().min(0).max(3) }),
    z4.object({ a: z4.int().min(0).max(3) }),
  ],
  simple: [
    z3.object({
      a: z3.boolean(),
      b: z3.null(),
      c: z3.literal('x'),
      d: z3.literal(2),
      e: z3.enum(['p', 'q']),
    }),
    z4.object({
      a: z4.boolean(),
      b: z4.null(),
      c: z4.literal('x'),
      d: z4.literal(2),
      e: z4.enum(['p', 'q']),
    }),
  ],
  'native enums': [
    z3.object({ a: z3.nativeEnum(Size), b: z3.nativeEnum(Color) }),
    z4.object({ a: z4.enum(Size), b: z4.enum(Color) }),
  ],
  lists: [
    z3.object({ a: z3.array(z3.string()).min(1).max(3), b: z3.array(z3.number()).length(2) }),
    z4.object({ a: z4.array(z4.string()).min(1).max(3), b: z4.array(z4.number()).length(2) }),
  ],
  'tuples, records, anything': [
    z3.object({
      a: z3.tuple([z3.string(), z3.number()]).rest(z3.boolean()),
      b: z3.record(z3.string(), z3.number()),
      c: z3.unknown().nullable(),
      d: z3.never().nullable(),
      e: z3.tuple([z3.string()]),
    }),
    z4.object({
      a: z4.tuple([z4.string(), z4.number()]).rest(z4.boolean()),
      b: z4.record(z4.string(), z4.number()),
      c: z4.unknown().nullable(),
      d: z4.never().nullable(),
      e: z4.tuple([z4.string()]),
    }),
  ],
  'optional, nullable, with defaults': [
    z3.object({
      a: z3.string().optional(),
      b: z3.string().nullable(),
      c: z3.string().nullish(),
      d: z3.string().default('x'),
      e: z3.string().optional().readonly(),
    }),
    z4.object({
      a: z4.string().optional(),
      b: z4.string().nullable(),
      c: z4.string().nullish(),
      d: z4.string().default('x'),
      e: z4.string().optional(),
    }),
  ],
  'transformed, refined, branded, caught, piped': [
    z3.object({
      a: z3.string().transform(Number),
      b: z3.string().refine((text) => text !== ''),
      c: z3.string().brand('c'),
      d: z3.string().pipe(z3.string().min(2)),
    }),
    z4.object({
      a: z4.string().transform(Number),
      b: z4.string().refine((text) => text !== ''),
      c: z4.string().brand('c'),
      d: z4.string(),
    }),
  ],
  unions: [
    z3.object({ a: z3.union([z3.string(), z3.number()]) }),
    z4.object({ a: z4.union([z4.string(), z4.number()]) }),
  ],
  'open and closed objects': [
    z3.object({
      a: z3.object({ x: z3.string() }).strict(),
      b: z3.object({ x: z3.string() }).passthrough(),
      c: z3.object({ x: z3.string() }).catchall(z3.number()),
    }),
    z4.object({
      a: z4.strictObject({ x: z4.string() }),
      b: z4.looseObject({ x: z4.string() }),
      c: z4.object({ x: z4.string() }).catchall(z4.number()),
    }),
  ],
  described: [
    z3.object({
      a: z3.string().describe('A.'),
      b: z3.string().describe('Inner.').nullable().describe('B.'),
    }),
    z4.object({
      a: z4.string().describe('A.'),
      b: z4.string().describe('Inner.').nullable().describe('B.'),
    }),
  ],
} as const;

describe('a schema of zod 3 is sent like one of zod 4', () => {
  test.each(Object.entries(pairs))('%s', (_, [old, current]) => {
    const ours = zodResponseFormat(old, 'answer').json_schema;
    expect(comparable(ours)).toEqual(comparable(zodResponseFormat(current, 'answer').json_schema));
    expect(zodFunction({ name: 'answer', parameters: old }).function.parameters).toEqual(
      ours.schema,
    );
  });
});

interface Tree {
  name: string;
  children: Tree[];
}
const tree: z3.ZodType<Tree> = z3.lazy(() =>
  z3.object({ name: z3.string(), children: z3.array(tree) }),
);
interface Linked {
  value: number;
  next: Linked | null;
}
const linked: z3.ZodType<Linked> = z3.object({
  value: z3.number(),
  next: z3.lazy(() => linked.nullable()),
});

const place = z3.object({ street: z3.string() });
const strict = {
  'with a discriminator': z3.object({
    event: z3.discriminatedUnion('type', [
      z3.object({ type: z3.literal('key'), key: z3.string() }),
      z3.object({ type: z3.literal('click'), x: z3.number() }),
    ]),
  }),
  'used twice': z3.object({ home: place, work: place, others: z3.array(place) }),
  'contains itself': z3.object({ root: tree, other: tree }),
  'contains itself or null': z3.object({ first: linked }),
  formats: z3.object({ a: z3.string().email(), b: z3.string().uuid(), c: z3.string().datetime() }),
};

describe('a schema of zod 3 is strict, as in openai', () => {
  test.each(Object.entries(strict))('%s', (_, schema) => {
    const ours = zodResponseFormat(schema, 'answer').json_schema;
    const original = theirs.zodResponseFormat(schema, 'answer').json_schema;

    expect(ours.strict).toBe(true);
    expect(original.strict).toBe(true);
    for (const [, reference = ''] of JSON.stringify(ours.schema).matchAll(
      /"\$ref":"#\/\$defs\/(\w+)"/g,
    )) {
      expect(ours.schema).toHaveProperty(['$defs', reference]);
    }
  });

  test.each([
    ['texts', z3.object({ city: z3.string().describe('The city.'), at: z3.string().min(2) })],
    ['lists', z3.object({ days: z3.array(z3.number().int()), size: z3.enum(['a', 'b']) })],
    ['formats', strict.formats],
  ])('a schema of zod 3 is equal to that of openai for %s', (_, schema) => {
    const { $schema: __, ...original } = {
      ...theirs.zodResponseFormat(schema, 'a').json_schema.schema,
    };
    expect(zodResponseFormat(schema, 'a').json_schema.schema).toEqual(original);
  });
});

test('an intersection is sent as both schemas, without strict mode', () => {
  const schema = z3.intersection(z3.object({ x: z3.string() }), z3.object({ y: z3.string() }));
  const sent = zodResponseFormat(schema, 'a').json_schema;
  expect(sent).not.toHaveProperty('strict');
  expect(sent.schema).toMatchObject({ allOf: [{ required: ['x'] }, { required: ['y'] }] });
});

describe('the helpers for zod 3', () => {
  test('the helpers for zod 3 validate responses and arguments', async () => {
    const schema = z3.object({ days: z3.string().transform(Number) });
    const format = zodResponseFormat(schema, 'trip');
    const text = zodTextFormat(schema, 'trip');
    const call = zodFunction({ name: 'plan', parameters: schema });
    const modern = zodResponsesFunction({ name: 'plan', parameters: schema });

    for (const parser of [format, text, call, modern]) {
      expectTypeOf(parser.$parseRaw).returns.resolves.toEqualTypeOf<{ days: number }>();
      expect(await parser.$parseRaw('{"days":"3"}')).toEqual({ days: 3 });
      await expect(parser.$parseRaw('{"days":3}')).rejects.toThrow(/^days: /);
    }
  });

  test('the helpers for zod 3 define schemas once by name', () => {
    const schema = z3.object({ home: place, work: z3.array(place) });
    const { schema: sent } = zodResponseFormat(schema, 'a', {
      schemaDefinitions: { Place: place },
    }).json_schema;

    const $ref = '#/$defs/Place';
    expect(sent).toMatchObject({
      properties: { home: { $ref }, work: { type: 'array', items: { $ref } } },
      $defs: { Place: { type: 'object', properties: { street: { type: 'string' } } } },
    });
  });

  test.each([z3.date(), z3.bigint(), z3.map(z3.string(), z3.string()), z3.undefined()])(
    'name a part without a JSON Schema',
    (part) => {
      const parameters = z3.object({ part });
      const failing = (): unknown => zodRealtimeFunction({ name: 'a', parameters });
      expect(failing).toThrow(InvalidInputError);
      expect(failing).toThrow('cannot be converted to a JSON Schema');
    },
  );
});
