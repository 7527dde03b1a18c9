import { defineConfig } from 'tsup';
import packageJson from './package.json' with { type: 'json' };

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'helpers/zod': 'src/helpers/zod.ts',
    'node/index': 'src/node/index.ts',
    'testing/index': 'src/testing/index.ts',
    'testing/msw': 'src/testing/msw.ts',
  },
  format: 'esm',
  target: 'es2022',
  // The core runs in browsers and workers too, so nothing Node-specific may be injected.
  platform: 'neutral',
  external: [/^node:/],
  // Only what is used of zod/mini goes into the build. Users get no second zod, no version conflict,
  // and our settings of it (no generated code) stay ours.
  // The helpers for zod take the user's own, because schemas are the user's.
  noExternal: ['zod/mini'],
  // Deno and workers know Node's modules by their full names only.
  removeNodeProtocol: false,
  splitting: true,
  treeshake: true,
  clean: true,
  dts: false,
  define: { __VERSION__: JSON.stringify(packageJson.version) },
});
