import { defineConfig } from 'vitest/config';

export default defineConfig({
  define: { __VERSION__: '"0.0.0-test"' },
  test: {
    include: ['test/**/*.test.ts'],
    // What failed, and the summary. `--reporter=default` shows the rest.
    reporters: ['minimal'],
    // `npm run test:servers` and `test:compat` run the first two, and install what they need.
    exclude: ['test/servers/**', 'test/compat/**', '**/node_modules/**'],
    setupFiles: ['test/helpers/load-parts.ts'],
    typecheck: { include: ['test/**/*.test-d.ts'] },
    // Property tests and real sockets take their time on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // One core is left free by default; of two that is half, and tests mostly wait.
    maxWorkers: '100%',
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
