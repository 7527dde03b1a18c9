import { expect, test } from 'vitest';
import { createScrubber } from '../../../src/programs/cli/doctor/scrub.ts';
import { untyped } from '../../helpers/untyped.ts';

test.each([
  ['model', 'model of 12 models, Model', '[key] of 12 models, [key]'],
  ['long-secret', 'xlong-secretx', 'x[key]x'],
])('removes the key %s from reports; a short one only as a whole word', (key, text, shown) => {
  const { clean } = createScrubber(
    untyped({ key, headers: {}, baseURL: 'https://gateway.test/v1' }),
  );

  expect(clean(text)).toBe(shown);
});
