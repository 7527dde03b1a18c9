import { defineConfig } from 'vitest/config';
import shared from '../../vite.config.ts';

/** `npm run test:servers`: tests on real servers, with packages that only they need. */
export default defineConfig({
  ...shared,
  root: import.meta.dirname,
  test: {
    ...shared.test,
    include: ['**/*.test.ts'],
    exclude: ['node_modules'],
    setupFiles: [],
    globalSetup: ['setup.ts'],
    typecheck: { enabled: false },
  },
});
