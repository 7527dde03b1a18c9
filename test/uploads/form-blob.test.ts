import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { formBlob } from '../../src/uploads/multipart.ts';
import { parseMultipart } from '../helpers/parse-multipart.ts';

describe('formBlob()', () => {
  test('a form comes back as it was, whatever its names, texts and bytes', async () => {
    const text = fc.string({ unit: 'grapheme' });
    const file = fc.record({
      // Nothing is sent without a name; runtimes write an empty one in different ways.
      name: fc.string({ unit: 'grapheme', minLength: 1 }),
      bytes: fc.uint8Array(),
      type: fc.constantFrom('', 'image/png'),
    });
    const entry = fc.tuple(text, fc.oneof(text, file));

    await fc.assert(
      fc.asyncProperty(fc.array(entry), async (entries) => {
        const form = new FormData();
        for (const [name, value] of entries) {
          if (typeof value === 'string') form.append(name, value);
          else form.append(name, new File([value.bytes], value.name, { type: value.type }));
        }

        const blob = formBlob(form);

        // The runtime's own encoding of the same form, taken apart by the same parser.
        const own = new Response(form);
        const expected = parseMultipart(
          new Uint8Array(await own.clone().arrayBuffer()),
          own.headers.get('content-type') ?? '',
        );
        const actual = parseMultipart(new Uint8Array(await blob.arrayBuffer()), blob.type);
        expect(actual).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test('has a boundary that nobody can guess', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    vi.spyOn(Date, 'now').mockReturnValue(1);

    const types = Array.from({ length: 100 }, () => formBlob(new FormData()).type);

    expect(new Set(types).size).toBe(100);
    expect(types[0]).toMatch(/boundary=----formdata-[\da-f]{32}$/);
  });
});
