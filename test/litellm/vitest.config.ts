import { defineConfig } from 'vitest/config';
import shared, { testOptions } from '../../vitest.config.ts';

/** `npm run test:litellm`: tests on the LiteLLM proxy, which is installed from PyPI. */
export default defineConfig({
  ...shared,
  root: import.meta.dirname,
  test: {
    ...testOptions,
    include: ['**/*.test.ts'],
    globalSetup: ['setup.ts'],
    // The proxy repeats requests after pauses of its own.
    testTimeout: 120_000,
    hookTimeout: 600_000,
    // Each file starts a proxy, which takes one core for a minute.
    fileParallelism: false,
  },
});
