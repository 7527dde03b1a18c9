import { defineConfig } from 'vite';

/** Builds the page of `npx model-gateway playground` into the package. */
export default defineConfig({
  root: 'src/playground/page',
  // It is served from the root of its own port, and asks for nothing else.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/playground',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the page allows no code that was not served as a file.
    modulePreload: false,
    assetsInlineLimit: 0,
  },
});
