import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Options of every vitest run, also of those in `test/checks`, `compat`, `durable`, `litellm` and `servers`. */
export const testOptions = {
  // Failures and the summary; `--reporter=default` prints the rest.
  reporters: ['minimal'],
  // Property tests and real sockets need time on a busy machine.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  // By default vitest leaves one core free; of two that is half, and tests mostly wait.
  maxWorkers: '100%',
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
} satisfies ViteUserConfig['test'];

/** Tests that start processes, measure their own process or replace modules. */
export const systemTests = [
  // The files left out start no process.
  'test/programs/cli/!(doctor-evidence|doctor-report|doctor-routes|headers|scrub).test.ts',
  'test/examples.test.ts',
  'test/http/unhandled-rejections.test.ts',
  'test/http/unread-responses.test.ts',
  // Its programs run in this process.
  'test/doors/{programs,results}.test.ts',
  'test/linear-time.test.ts',
  'test/programs/mcp/!(public-host).test.ts',
  'test/http/node-process.test.ts',
  'test/client/openai/names.test.ts',
  'test/client/openai/types.test.ts',
  'test/programs/playground/rival.test.ts',
  'test/public-api.test.ts',
  'test/readme.test.ts',
  'test/streams/backpressure.test.ts',
  'test/streams/grow-text.test.ts',
  'test/streams/heap.test.ts',
  'test/uploads/memory.test.ts',
  'test/resources/images/crash.test.ts',
  'test/resources/videos/crash.test.ts',
];

export default defineConfig({
  define: { __VERSION__: '"0.0.0-test"' },
  test: {
    ...testOptions,
    projects: [
      {
        extends: true,
        test: {
          name: 'source',
          include: ['test/**/*.test.ts'],
          // These have packages and commands of their own.
          exclude: [
            'test/{checks,compat,durable,litellm,servers}/**',
            '**/node_modules/**',
            ...systemTests,
          ],
          // Test files share the modules they import, so that a worker loads the source only once.
          isolate: false,
          setupFiles: ['test/helpers/shared-worker.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: systemTests,
          // A process takes longer beside the other steps of `.ci/run`.
          testTimeout: 90_000,
        },
      },
    ],
  },
});
