import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import shared, { testOptions } from '../../vitest.config.ts';

const packages = join(import.meta.dirname, 'node_modules');

/** `npm run test:compat`: tests with packages that expect a client of `openai`. */
export default defineConfig({
  ...shared,
  root: import.meta.dirname,
  // Examples are outside of this folder, but use its packages.
  resolve: {
    alias: [
      { find: /^(@langchain|@openai)\//, replacement: `${packages}/$1/` },
      { find: /^zod$/, replacement: `${packages}/zod` },
    ],
  },
  test: {
    ...testOptions,
    include: ['**/*.test.ts'],
    exclude: ['node_modules'],
  },
});
