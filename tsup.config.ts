import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, resolve } from 'node:path';
import { transform } from 'esbuild';
import { defineConfig, type Options } from 'tsup';
import packageJson from './package.json' with { type: 'json' };

const bundled = ['commander', 'eventsource-parser', 'ky'];

/** What `form-data` is made of, without the tables of media types: each of our files has its own type. */
const formData = ['form-data', 'asynckit', 'combined-stream', 'delayed-stream'];

/** What the page of the playground is made with (vite.config.ts). */
const ofPage = ['preact', '@preact/signals', '@preact/signals-core'];

/** The licences of what is bundled ask for being passed on with it. */
async function writeLicences(): Promise<void> {
  const licences = [...bundled, ...formData, ...ofPage].map(async (name) => {
    const folder = `node_modules/${name}`;
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (file === undefined) throw new Error(`${name} has no licence file.`);
    return `# ${name}\n\n${await readFile(`${folder}/${file}`, 'utf8')}`;
  });
  await writeFile('dist/THIRD-PARTY-LICENSES.md', (await Promise.all(licences)).join('\n'));
}

/** Node shows the whole line that an uncaught error comes from. */
const lineLimit = 160;

/** The command line and its playground are imported by nobody and show no stacks: their names may be short. */
async function shortenProgram(): Promise<void> {
  const files = (await readdir('dist')).filter((name) => /^(program|start)-/.test(name));
  for (const name of files) {
    const source = await readFile(`dist/${name}`, 'utf8');
    const options = { minify: true, format: 'esm', charset: 'utf8', lineLimit } as const;
    const { code } = await transform(source, options);
    await writeFile(`dist/${name}`, code);
  }
}

/** ky in the same file as the rest and yet run with the first call only: see src/http/send.ts. */
const kyWithin: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'ky-within',
  setup(build) {
    build.onLoad({ filter: /[\\/]http[\\/]send\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replace("(await import('ky'))", "require('ky')");
      if (contents === source) throw new Error('send.ts does not import ky as expected.');
      return { contents, loader: 'ts', resolveDir: dirname(path) };
    });
  },
};

const turnedOff = "() => { throw new Error('turned off'); };";

/**
 * The parts of ky that do what src/http/send.ts turns off (waiting, time limits, telling of progress):
 * nothing reaches them. Every page would load them. A name that ky imports from one of these and that is
 * not here fails the build.
 */
const kyWithout: Readonly<Record<string, string>> = {
  'utils/body.js': `export const streamRequest = ${turnedOff}
export const streamResponse = ${turnedOff}`,
  'utils/delay.js': `export default ${turnedOff}`,
  'utils/timeout.js': `export default ${turnedOff}`,
};

const kyOnlyAsUsed: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'ky-only-as-used',
  setup(build) {
    build.onLoad({ filter: /[\\/]ky[\\/]distribution[\\/]/ }, ({ path }) => {
      const [, file = ''] = path.replaceAll('\\', '/').split('/ky/distribution/');
      const contents = kyWithout[file];
      return contents === undefined ? undefined : { contents };
    });
  },
};

/** What reaches nearly all that every client needs, and loads nothing later by itself. */
const ofEveryClient = [
  'streams/open-stream',
  'http/make-error',
  'given',
  'chat/schema',
  'uploads/types',
];

/** Entry points that do without most of it. */
const withoutClient = /[\\/](stream|no-form-data|(cli|helpers)[\\/][\w-]+)\.ts$/;

/**
 * What every client needs, in as few files as can be. esbuild puts modules into one file that are reached by
 * the same entry points and parts, so that each of these splits the client once more: into 26 files, which
 * take Node a third longer to load, and cost a page 1.5 KiB for the names that they pass to each other. So
 * all of these reach the same; a bundler leaves the imports out again, as they have no effect. What calls
 * `import()` must not be among it: bundlers would then keep all that is loaded later for `GatewayError` too.
 */
const clientInFewFiles: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'client-in-few-files',
  setup(build) {
    const besides = new Set<string>();
    build.onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
      const isLoadedBySomebody = kind === 'entry-point' || kind === 'dynamic-import';
      if (isLoadedBySomebody && !withoutClient.test(path)) besides.add(resolve(resolveDir, path));
      return undefined;
    });
    const imports = ofEveryClient.map(
      (name) => `import ${JSON.stringify(resolve(`src/${name}.ts`))};`,
    );
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      if (!besides.has(path)) return undefined;
      const contents = [await readFile(path, 'utf8'), ...imports].join('\n');
      return { contents, loader: 'ts', resolveDir: dirname(path) };
    });
  },
};

/**
 * Everything in files that load nothing later. Service workers may not use `import()`, and test runners
 * that turn modules into CommonJS do not all turn it. Names are short there, and still classes are called
 * what they are: programs tell errors apart by it.
 */
const nothingLater: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'nothing-later',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const [, part] = /\bimport\('(\.[^']+)'\)/.exec(source) ?? [];
      const contents = source
        .replace(/\bimport\('\.[^']+'\)/, 'Promise.resolve(part)')
        .replace("(await import('ky'))", "require('ky')")
        .replace(
          "import('form-data')",
          "Promise.resolve().then(() => ({ default: require('form-data') }))",
        )
        .replaceAll(
          /^export class (\w+)[^]*?(?: |^)\{$/gm,
          "$&\nstatic get name() { return '$1'; }",
        );
      if (/\bimport\('/.test(contents)) throw new Error(`${path} loads more than one part.`);
      const own = part === undefined ? '' : `import * as part from '${part}';\n`;
      return { contents: own + contents, loader: 'ts', resolveDir: dirname(path) };
    });
  },
};

const shims: Readonly<Record<string, string>> = {
  'mime-types': 'module.exports = { lookup: () => false };',
  'es-set-tostringtag':
    'module.exports = (target, tag) => Object.defineProperty(target, Symbol.toStringTag, { value: tag });',
  hasown: 'module.exports = Object.hasOwn;',
};

/**
 * form-data in a file of its own that only Node's runtimes load (`imports` in package.json). It takes
 * Node's modules from `process`, so that no bundler looks for them.
 */
const formDataWithin: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'form-data-within',
  setup(build) {
    build.onResolve({ filter: /^form-data$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: '#form-data', external: true } : undefined,
    );
    build.onResolve({ filter: /^[^.]/ }, ({ path, importer }) => {
      if (!importer.includes('node_modules')) return undefined;
      if (path in shims || isBuiltin(path)) return { path, namespace: 'form-data' };
      return formData.includes(path) ? { path: createRequire(importer).resolve(path) } : undefined;
    });
    build.onLoad({ filter: /./, namespace: 'form-data' }, ({ path }) => ({
      contents: shims[path] ?? `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

const common = {
  // What goes well is not worth reading.
  silent: true,
  format: 'esm',
  target: 'es2022',
  // The core runs in browsers and workers too, so nothing Node-specific may be injected.
  platform: 'neutral',
  external: [/^node:/],
  // These go into the build, and only what is used of them. Importing them as they are installed, some
  // two hundred files, took 147 ms of CPU; bundled it is 74, and 27 now that ky is loaded with the first
  // call (src/http/send.ts), which bundling makes 13 ms cheaper too. Users get no second copy and no
  // version conflict, and what runs is what was tested; the price is that a fix of theirs needs a release
  // of ours. The helpers for zod take the user's own, because schemas are the user's.
  noExternal: [...bundled, 'form-data'],
  // Deno and workers know Node's modules by their full names only.
  removeNodeProtocol: false,
  splitting: true,
  treeshake: true,
  dts: false,
  define: { __VERSION__: JSON.stringify(packageJson.version) },
  // What is installed is downloaded and scanned everywhere; names stay, for whoever reads a stack.
  esbuildOptions(options) {
    options.minifyWhitespace = true;
    options.lineLimit = lineLimit;
    options.minifySyntax = true;
    options.charset = 'utf8';
  },
} satisfies Options;

export default defineConfig([
  {
    ...common,
    entry: {
      index: 'src/index.ts',
      // Apart from the index, so that bundlers can leave out what only that exports.
      gateway: 'src/gateway.ts',
      'ai-sdk/index': 'src/ai-sdk/index.ts',
      'bullmq/index': 'src/bullmq/index.ts',
      'helpers/audio': 'src/node/ffmpeg.ts',
      'helpers/standard-schema': 'src/helpers/standard-schema.ts',
      'helpers/zod': 'src/helpers/zod.ts',
      'node/index': 'src/node/index.ts',
      'otel/index': 'src/otel/index.ts',
      postgres: 'src/ledgers/postgres.ts',
      redis: 'src/ledgers/redis.ts',
      stream: 'src/stream.ts',
      'testing/index': 'src/testing/index.ts',
      'testing/msw': 'src/testing/msw.ts',
      'cli/main': 'src/cli/main.ts',
    },
    esbuildPlugins: [kyWithin, clientInFewFiles, kyOnlyAsUsed, formDataWithin],
    clean: ['!form-data.js', '!single/**'],
    async onSuccess() {
      // What form-data is where there are no Node streams.
      await writeFile('dist/no-form-data.js', 'export default undefined;\n');
      await writeLicences();
      await shortenProgram();
    },
  },
  {
    ...common,
    entry: { 'form-data': 'node_modules/form-data/lib/form_data.js' },
    esbuildPlugins: [formDataWithin],
    minify: true,
  },
  {
    ...common,
    outDir: 'dist/single',
    entry: {
      index: 'src/index.ts',
      'ai-sdk': 'src/ai-sdk/index.ts',
      bullmq: 'src/bullmq/index.ts',
      node: 'src/node/index.ts',
      otel: 'src/otel/index.ts',
      postgres: 'src/ledgers/postgres.ts',
      redis: 'src/ledgers/redis.ts',
      stream: 'src/stream.ts',
    },
    esbuildPlugins: [nothingLater, kyOnlyAsUsed, formDataWithin],
    minify: true,
    clean: true,
  },
]);
