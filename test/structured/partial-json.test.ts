import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { extractJSON, GrowingJSON, parsePartialJSON } from '../../src/structured/json.ts';

/** Checks that `part` is consistent with the beginning of `whole`. */
function isBeginning(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part);
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || part.length > whole.length) return false;
    return part.every((item, index) =>
      index < part.length - 1 ? equal(item, whole[index]) : isBeginning(item, whole[index]),
    );
  }
  if (typeof part === 'object' && part !== null) {
    if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false;
    const names = Object.keys(part);
    return names.every((name, index) => {
      if (!Object.hasOwn(whole, name)) return false;
      const [mine, theirs]: unknown[] = [Reflect.get(part, name), Reflect.get(whole, name)];
      return index < names.length - 1 ? equal(mine, theirs) : isBeginning(mine, theirs);
    });
  }
  return part === whole;
}

function equal(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/** Names like numbers are put first by the runtime, so the last one received is not the last in the object. */
const json = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 5 })
  .filter((value) => !/"\d+":/.test(JSON.stringify(value)));

describe('partial JSON', () => {
  test('returns the partial value for every prefix of a text', () => {
    const indents = fc.constantFrom(undefined, 2, '\t');

    fc.assert(
      fc.property(json, indents, (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const whole: unknown = JSON.parse(text);
        for (let end = 0; end <= text.length; end += 1) {
          const part = parsePartialJSON(text.slice(0, end));
          if (part !== undefined && !isBeginning(part, whole)) return false;
        }
        return typeof whole === 'number' || equal(parsePartialJSON(text), whole);
      }),
    );
  });

  test('grows with the text', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        let before: unknown;
        for (let end = 0; end <= text.length; end += 1) {
          const now = parsePartialJSON(text.slice(0, end));
          if (before !== undefined && !isBeginning(before, now)) return false;
          before = now;
        }
        return true;
      }),
    );
  });

  test('never throws, for any text', () => {
    const noise = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '"',
        '\\',
        ',',
        ':',
        'tru',
        'u12',
        '1',
        '-',
        ' ',
        'é',
        '\u00a0',
      ),
    );

    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), noise), (text) => {
        parsePartialJSON(typeof text === 'string' ? text : text.join(''));
      }),
    );
  });

  test.each([
    ['', undefined],
    ['{"a', {}],
    ['{"a":', {}],
    ['{"a":1', {}],
    ['{"a":1,', { a: 1 }],
    ['{"a":1,"b', { a: 1 }],
    ['{"a":tr', { a: true }],
    ['{"a":n', { a: null }],
    ['[1,-', [1]],
    ['[1, 2 ', [1, 2]],
    ['"a\\', 'a'],
    ['"a\\u00e', 'a'],
    ['"a\\\\', 'a\\'],
    ['"a\\"', 'a"'],
    ['[[[{"a":[', [[[{ a: [] }]]]],
    ['Sorry', undefined],
    ['{"a":1}}', undefined],
    ['[1,]', undefined],
    // White space that JSON does not know.
    ['\u00a0', undefined],
    ['[\u00a01,', undefined],
    ['{"a":1}\u2028', { a: 1 }],
  ])('%j is read as far as possible', (text, value) => {
    expect(parsePartialJSON(text)).toEqual(value);
  });

  test('partial JSON does not set a prototype', () => {
    const value = parsePartialJSON('{"__proto__":{"polluted":true}');

    expect(value).not.toHaveProperty('polluted');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('reads any depth', () => {
    expect(parsePartialJSON('['.repeat(200_000))).toBeInstanceOf(Array);
  });
});

describe('a growing text', () => {
  test('a growing text is parsed again only after it has grown by a fraction', () => {
    const text = JSON.stringify(Array.from({ length: 5_000 }, (_, index) => `item ${index}`));
    const growing = new GrowingJSON();
    const seen = new Set<unknown>();

    for (let end = 1; end < text.length; end += 1) seen.add(growing.read(text.slice(0, end)));

    expect(seen.size).toBeLessThan(6_000);
    expect(text.length).toBeGreaterThan(50_000);
  });

  test('a growing text is null until it has a value', () => {
    const growing = new GrowingJSON();

    expect([growing.read(''), growing.read(' '), growing.read(' {')]).toEqual([null, null, {}]);
  });
});

describe('the JSON in a response', () => {
  test.each([
    ['{"a":1}', '{"a":1}'],
    ['```json\n{"a":1}\n```', '{"a":1}'],
    [' ```\n{"a":1}\n``` \n', '{"a":1}'],
    ['<think>Is it "{"?</think>\n{"a":1}', '{"a":1}'],
    ['<thinking>Is it "{"?</thinking>{"a":1}', '{"a":1}'],
    ['\uFEFF```json\n```\n{"a":1}\n```\n```', '{"a":1}'],
    ['<think>Hm</think>```json\n{"a":"```"}\n```', '{"a":"```"}'],
    ['<think>Hm', ''],
    ['```json\n{"a":', '{"a":'],
    ['"```"', '"```"'],
  ])('the JSON in a response is found in %j', (text, inside) => {
    expect(extractJSON(text)).toBe(inside);
  });
});
