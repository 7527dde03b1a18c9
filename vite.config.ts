import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The playground's page, `vite build src/playground/page`: served from the root of its own port.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/playground',
    emptyOutDir: true,
    target: 'es2022',
    // The page's content security policy only allows scripts that are served as files.
    modulePreload: false,
    assetsInlineLimit: 0,
  },
  define: { __VERSION__: '"0.0.0-test"' },
  test: {
    include: ['test/**/*.test.ts'],
    // Failures and the summary; `--reporter=default` prints the rest.
    reporters: ['minimal'],
    // `npm run test:servers` and `test:compat` run the first two and install what they need.
    exclude: ['test/servers/**', 'test/compat/**', '**/node_modules/**'],
    typecheck: { include: ['test/**/*.test-d.ts'] },
    // Property tests and real sockets need time on a busy machine.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    // By default vitest leaves one core free; of two that is half, and tests mostly wait.
    maxWorkers: '100%',
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
