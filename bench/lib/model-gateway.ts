/** The client as it ships. `npm run build` in the root makes it. */
export * from '../../dist/index.js';
