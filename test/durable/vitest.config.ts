import { defineConfig } from 'vitest/config';
import shared, { testOptions } from '../../vitest.config.ts';

/** `npm run test:durable`: the recipes for durable engines, with packages that only they need. */
export default defineConfig({
  ...shared,
  root: import.meta.dirname,
  test: {
    ...testOptions,
    include: ['*.test.ts'],
    globalSetup: ['setup.ts'],
  },
});
