import { defineConfig, type RolldownOptions } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { entry } from './tsup.config.ts';

/** Where `tsc -p src` writes one declaration file per source file. */
const declarations = 'node_modules/.cache/model-gateway';

const toDeclaration = ([name, path]: [string, string]): [string, string] => [
  name,
  path.replace(/^src(.*)\.ts$/, `${declarations}$1.d.ts`),
];

/** Bundles the declarations, for ES modules and for CommonJS: tsup would need an older compiler. */
export default defineConfig(
  ['.d.ts', '.d.cts'].map((extension): RolldownOptions => ({
    input: Object.fromEntries(Object.entries(entry).map(toDeclaration)),
    external: [/^node:/, '@ai-sdk/provider', '@opentelemetry/api', 'msw', /^zod(?:\/|$)/],
    plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false })],
    // Keeps paths of the build machine out of the package.
    experimental: { attachDebugInfo: 'none' },
    output: {
      // `using` works on streams and ledgers whatever the user's own `lib` is.
      banner: '/// <reference lib="esnext.disposable" />',
      dir: 'dist',
      entryFileNames: `[name]${extension}`,
      chunkFileNames: `[name]-[hash]${extension}`,
      minifyInternalExports: false,
    },
  })),
);
