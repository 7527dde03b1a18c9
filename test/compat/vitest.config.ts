import { defineConfig } from 'vitest/config';
import shared, { testOptions } from '../../vitest.config.ts';

/** `npm run test:compat`: tests with packages that expect a client of `openai`. */
export default defineConfig({
  ...shared,
  root: import.meta.dirname,
  test: {
    ...testOptions,
    include: ['**/*.test.ts'],
    exclude: ['node_modules'],
  },
});
