import { defineConfig } from 'vite';

/** Builds the page of the playground, which is served from the root of its own port. */
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../../dist/playground',
    emptyOutDir: true,
    target: 'es2022',
    // The page's content security policy only allows scripts that are served as files.
    modulePreload: false,
    assetsInlineLimit: 0,
  },
});
