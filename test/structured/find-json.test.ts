import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJSON } from '../../src/structured/json.ts';

const prose = fc.string({ unit: 'binary' }).map((text) => text.replaceAll(/["{}[\]]/g, ' '));
const container = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 4 })
  .filter((value) => typeof value === 'object' && value !== null);
const indent = fc.constantFrom(undefined, 2, '\t');

describe('findJSON()', () => {
  test('finds an object or a list between prose, with any strings', () => {
    fc.assert(
      fc.property(prose, container, indent, prose, (before, value, space, after) => {
        const text = JSON.stringify(value, null, space);
        return findJSON(`${before}${text}${after}`) === text;
      }),
    );
  });

  test('finds nothing if there are two', () => {
    fc.assert(
      fc.property(prose, container, prose, container, (before, one, between, other) => {
        const text = `${before}${JSON.stringify(one)}${between}${JSON.stringify(other)}`;
        return findJSON(text) === undefined;
      }),
    );
  });

  test('finds only valid JSON, in any text', () => {
    const piece = fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '1', 'a', ' ', '"a":1');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const found = findJSON(pieces.join(''));
        return found === undefined || typeof JSON.parse(found) === 'object';
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    { text: 'The plan [1]: {"a":[1]} [2]', type: 'object', found: '{"a":[1]}' },
    { text: 'Of {"a":1} and {"b":2} I take [{"c":3}].', type: 'array', found: '[{"c":3}]' },
    { text: 'Fill in {name}, {x} or {}: {"a":1}', type: undefined, found: undefined },
    { text: 'Fill in {name} or {{x}}: {"a":1}', type: undefined, found: '{"a":1}' },
    { text: 'Text with { and [ and "quotes": {"a":"}"}', type: undefined, found: '{"a":"}"}' },
    { text: 'Use [ for lists, [the] or [-: {"a":[true]}', type: undefined, found: '{"a":[true]}' },
    { text: 'Broken: {"b":{"a":1}, "c":', type: 'object', found: undefined },
    { text: 'Broken: {"a":1', type: undefined, found: undefined },
    { text: 'Broken: {"a":1] {"b":2}', type: undefined, found: '{"b":2}' },
    { text: 'Broken: {"a":[1} {"b":2}', type: undefined, found: '{"b":2}' },
    { text: 'Broken: {"a":"1}', type: undefined, found: undefined },
    { text: 'Nothing', type: undefined, found: undefined },
    { text: '', type: undefined, found: undefined },
  ] as const)('finds in $text ($type): $found', ({ text, type, found }) => {
    expect(findJSON(text, type)).toBe(found);
  });
});
