import { defineConfig } from 'vitest/config';
import shared from '../../vite.config.ts';

/** `npm run test:compat`: tests with packages that expect a client of `openai`. */
export default defineConfig({
  ...shared,
  root: import.meta.dirname,
  test: {
    ...shared.test,
    include: ['**/*.test.ts'],
    exclude: ['node_modules'],
    setupFiles: [],
    typecheck: { enabled: false },
  },
});
