import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseEmbeddings } from '../../../src/resources/embeddings/schema.ts';

const vector = fc.oneof(fc.base64String(), fc.string(), fc.array(fc.double()), fc.nat(3));
const item = fc.record(
  { embedding: vector, index: fc.nat(), note: fc.constantFrom('"embedding":"AAAA"', 'embedding') },
  { requiredKeys: [] },
);
const answer = fc.record({ data: fc.array(item), usage: fc.object(), embedding: vector });

describe('the text of a response with vectors', () => {
  test('the text of a response with vectors is read as JSON.parse() reads it, whatever it contains', () => {
    fc.assert(
      fc.property(fc.oneof(answer, fc.jsonValue()), fc.nat(2), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(parseEmbeddings(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('the text of a response with vectors is invalid wherever JSON.parse() rejects it', () => {
    const text = JSON.stringify({ data: [{ embedding: 'AAAA', index: 0 }, { embedding: 'BBBB' }] });
    for (let length = 0; length < text.length; length++) {
      expect(() => parseEmbeddings(text.slice(0, length))).toThrow(SyntaxError);
    }
  });

  test.each([
    ['twice in an item', '{"data":[{"embedding":"AAAA","embedding":"BBBB"}]}'],
    ['below an item', '{"data":[{"more":{"embedding":"AAAA"},"embedding":"BBBB"}]}'],
    ['beside the items', '{"embedding":"AAAA","data":[{"embedding":"BBBB"}]}'],
    ['next to a number that looks like a place', '{"data":[{"embedding":0},{"embedding":"BBBB"}]}'],
    ['with an escape', String.raw`{"data":[{"embedding":"AA\u0041A"},{"embedding":"a\"b"}]}`],
    [
      'in the text of another field',
      String.raw`{"data":[{"a":"\"embedding\":\"x\"","embedding":"B"}]}`,
    ],
  ])('the text of a response with vectors may contain a vector %s', (_place, text) => {
    expect(parseEmbeddings(text)).toEqual(JSON.parse(text));
  });
});
