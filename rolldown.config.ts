import { defineConfig } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** Where `tsc -p src` puts one declaration file for each source file. */
const declarations = 'node_modules/.cache/model-gateway';

/**
 * Bundles the declarations, which tsup would need an older compiler for. A type check of a user opens
 * eight files in place of eighty, and what no public type mentions is left out.
 */
export default defineConfig({
  input: {
    index: `${declarations}/index.d.ts`,
    'ai-sdk/index': `${declarations}/ai-sdk/index.d.ts`,
    'bullmq/index': `${declarations}/bullmq/index.d.ts`,
    'helpers/zod': `${declarations}/helpers/zod.d.ts`,
    'node/index': `${declarations}/node/index.d.ts`,
    stream: `${declarations}/stream.d.ts`,
    'testing/index': `${declarations}/testing/index.d.ts`,
    'testing/msw': `${declarations}/testing/msw.d.ts`,
  },
  external: [/^node:/, '@ai-sdk/provider', 'msw', /^zod(?:\/|$)/],
  plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })],
  // Names of exports stay readable, and no paths of this machine get into the files.
  experimental: { attachDebugInfo: 'none' },
  output: {
    // Streams, the emulator and ledgers can be used with `using`, whatever the user's own `lib` is.
    banner: '/// <reference lib="esnext.disposable" />',
    dir: 'dist',
    // What several entry points share is one file: a type check opens few.
    codeSplitting: {
      groups: [{ name: 'shared', test: /model-gateway[\\/](?!testing)/, minShareCount: 2 }],
    },
    chunkFileNames: '[name].d.ts',
    minifyInternalExports: false,
  },
});
