import { defineConfig } from 'tsup';
import packageJson from './package.json' with { type: 'json' };

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'node/index': 'src/node/index.ts',
    'testing/index': 'src/testing/index.ts',
  },
  format: 'esm',
  target: 'es2022',
  // The core runs in browsers and workers too, so nothing Node-specific may be injected.
  platform: 'neutral',
  external: [/^node:/],
  splitting: true,
  treeshake: true,
  clean: true,
  dts: false,
  define: { __VERSION__: JSON.stringify(packageJson.version) },
});
