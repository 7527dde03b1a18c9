import { appendFile, writeFile } from 'node:fs/promises';
import { defineConfig, type Options } from 'tsup';
import packageJson from './package.json' with { type: 'json' };

/** The public entry points: each becomes `dist/<name>.js`, `.cjs`, `.d.ts` and `.d.cts`. */
export const entry = {
  index: 'src/index.ts',
  'ai-sdk/index': 'src/adapters/ai-sdk/index.ts',
  'bullmq/index': 'src/adapters/bullmq/index.ts',
  core: 'src/core.ts',
  'helpers/mcp': 'src/adapters/helpers/mcp.ts',
  'helpers/standard-schema': 'src/adapters/helpers/standard-schema.ts',
  'helpers/zod': 'src/adapters/helpers/zod.ts',
  'node/index': 'src/adapters/node/index.ts',
  'otel/index': 'src/adapters/otel/index.ts',
  postgres: 'src/adapters/ledgers/postgres.ts',
  redis: 'src/adapters/ledgers/redis.ts',
  stream: 'src/stream.ts',
  'testing/index': 'src/testing/index.ts',
  'testing/msw': 'src/testing/msw.ts',
};

/** Bundled so that users install one package and run the versions that we tested. */
export const bundled = [
  '@bomb.sh/tab',
  'commander',
  'eventsource-parser',
  'fast-png',
  'ipaddr.js',
  'jpeg-js',
  'ky',
];

const library: Options = {
  silent: true,
  target: 'es2022',
  // The core also runs in browsers and workers, so no Node shims may be injected.
  platform: 'neutral',
  noExternal: bundled,
  external: [/^node:/],
  // Deno and workers only know Node's modules by their full names.
  removeNodeProtocol: false,
  splitting: true,
  treeshake: true,
  define: { __VERSION__: JSON.stringify(packageJson.version) },
  esbuildOptions(options) {
    // Only Node loads form-data: `imports` in package.json gives other runtimes an empty file.
    options.alias = { 'form-data': '#form-data' };
    options.external = ['#form-data', '#mcp-sdk'];
  },
};

/** Makes `require('model-gateway')` the class, as `require('openai')` is, with the other exports as members. */
const classOfRequire = `
const names = exports;
module.exports = Object.defineProperties(function Gateway(...args) {
  return Reflect.construct(names.Gateway, args, new.target || names.Gateway);
}, Object.getOwnPropertyDescriptors(names));
Object.setPrototypeOf(module.exports, names.Gateway);
module.exports.prototype = names.Gateway.prototype;
`;

export default defineConfig([
  { ...library, format: 'esm', entry: { ...entry, 'cli/main': 'src/programs/cli/main.ts' } },
  {
    ...library,
    format: 'cjs',
    entry,
    async onSuccess() {
      await appendFile('dist/index.cjs', classOfRequire);
    },
  },
  {
    silent: true,
    target: 'es2022',
    platform: 'node',
    noExternal: [/./],
    // None of it is ours.
    minify: true,
    treeshake: true,
    format: 'esm',
    entry: { 'mcp-sdk': 'src/programs/mcp/sdk.ts' },
  },
  {
    silent: true,
    platform: 'node',
    noExternal: [/./],
    format: 'cjs',
    entry: { 'form-data': 'node_modules/form-data/lib/form_data.js' },
    async onSuccess() {
      await writeFile('dist/no-form-data.js', 'export default undefined;\n');
    },
  },
]);
