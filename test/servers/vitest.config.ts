import { defineConfig } from 'vitest/config';
import shared, { testOptions } from '../../vitest.config.ts';

/** `npm run test:servers`: tests on real servers, with packages that only they need. */
export default defineConfig({
  ...shared,
  root: import.meta.dirname,
  test: {
    ...testOptions,
    include: ['**/*.test.ts'],
    exclude: ['node_modules'],
    globalSetup: ['setup.ts'],
  },
});
