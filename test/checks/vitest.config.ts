import { defineConfig } from 'vitest/config';
import shared, { testOptions } from '../../vitest.config.ts';

/** `npm run check:patterns`: proves that every regular expression takes linear time. */
export default defineConfig({
  ...shared,
  root: import.meta.dirname,
  test: {
    ...testOptions,
    include: ['**/*.test.ts'],
    exclude: ['node_modules'],
  },
});
