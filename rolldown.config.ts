import { defineConfig, type Plugin } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** Where `tsc -p src` puts one declaration file for each source file. */
const declarations = 'node_modules/.cache/model-gateway';

/** Streams, the emulator and ledgers can be used with `using`, whatever the user's own `lib` is. */
const banner = '/// <reference lib="esnext.disposable" />';

/** What a file ends in that declares nothing: every name twice. */
const onlyPassedOn = /^import \{[^}]*\} from ("[^"]+");\nexport (\{[^}]*\});?\s*$/m;
const exportList = /^export \{([^}]*)\};?\s*$/m;

/**
 * Exports what is declared where it is declared: a list is one more thing to hold for every name. It is
 * left for names that differ from the declared one, and for classes of which only the type is passed on.
 */
function exportInPlace(code: string, list: string): string {
  const declaration = /^(?:declare )?(?:abstract )?(\w+) (\w+)/gm;
  const values = new Set<string>();
  for (const [, kind = '', name = ''] of code.matchAll(declaration)) {
    if (!['interface', 'type', 'namespace'].includes(kind)) values.add(name);
  }
  const items = list.split(',').map((item) => item.trim());
  const left = items.filter(
    (item) => item.includes(' as ') || (item.startsWith('type ') && values.has(item.slice(5))),
  );
  const inPlace = new Set(
    items.filter((item) => !left.includes(item)).map((item) => item.replace('type ', '')),
  );
  const exported = code.replaceAll(declaration, (start, _, name: string) =>
    inPlace.has(name) ? `export ${start}` : start,
  );
  return `${exported.trimEnd()}\nexport { ${left.join(', ')} };\n`;
}

/** What a class that extends another one says again of itself, though the other one says the same. */
const saidByBase = /(?<=class \w+ extends (?!Error )[^{]*\{\n) {2}static readonly kind: string;\n/g;

/**
 * The main entry point declares nothing and passes on what entry points share. So its file is that of what
 * they share: each name is declared and exported in one place, which halves what compilers hold.
 */
const mainIsShared: Plugin = {
  name: 'main-is-shared',
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      const { 'index.d.ts': main, 'shared.d.ts': shared, ...others } = bundle;
      if (main?.type !== 'chunk' || shared?.type !== 'chunk') throw new Error('Files are missing.');
      const [, passedOn = ''] = exportList.exec(main.code) ?? [];
      const [, own = ''] = exportList.exec(shared.code) ?? [];
      const names = new Set(passedOn.split(',').map((name) => name.trim().replace(/ as .*/, '')));
      const isHidden = (name: string): boolean => !names.has(name) && !names.has(`type ${name}`);
      const hidden = own
        .split(',')
        .map((name) => name.trim())
        .filter(isHidden);
      if (hidden.length > 0) {
        // They would become public.
        this.warn(
          `The group "shared" has what only other entry points share: ${hidden.join(', ')}.`,
        );
        return;
      }
      const declared = shared.code.replace(exportList, '').replaceAll(saidByBase, '');
      main.code = `${banner}\n${exportInPlace(declared, passedOn)}`;
      delete bundle['shared.d.ts'];
      for (const file of Object.values(others)) {
        if (file.type !== 'chunk') continue;
        file.code = file.code
          .replaceAll(/\/shared\.js(?=";)/g, '/index.js')
          .replace(onlyPassedOn, 'export $2 from $1;\n');
      }
    },
  },
};

/** With all that is added to it `APIError` is still that class, and is declared once. */
const errorsAreClasses: Plugin = {
  name: 'errors-are-classes',
  load: {
    filter: { id: /errors[\\/]by-status\.d\.ts$/ },
    handler: () => "export { APIError } from './api-errors.ts';",
  },
};

/**
 * Bundles the declarations, which tsup would need an older compiler for. A type check of a user opens
 * one file in place of eighty, and what no public type mentions is left out.
 */
export default defineConfig({
  input: {
    index: `${declarations}/index.d.ts`,
    'ai-sdk/index': `${declarations}/ai-sdk/index.d.ts`,
    'bullmq/index': `${declarations}/bullmq/index.d.ts`,
    'helpers/audio': `${declarations}/node/ffmpeg.d.ts`,
    'helpers/standard-schema': `${declarations}/helpers/standard-schema.d.ts`,
    'helpers/zod': `${declarations}/helpers/zod.d.ts`,
    'node/index': `${declarations}/node/index.d.ts`,
    'otel/index': `${declarations}/otel/index.d.ts`,
    postgres: `${declarations}/ledgers/postgres.d.ts`,
    redis: `${declarations}/ledgers/redis.d.ts`,
    stream: `${declarations}/stream.d.ts`,
    'testing/index': `${declarations}/testing/index.d.ts`,
    'testing/msw': `${declarations}/testing/msw.d.ts`,
  },
  external: [/^node:/, '@ai-sdk/provider', '@opentelemetry/api', 'msw', /^zod(?:\/|$)/],
  plugins: [
    errorsAreClasses,
    dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false }),
    mainIsShared,
  ],
  // Names of exports stay readable, and no paths of this machine get into the files.
  experimental: { attachDebugInfo: 'none' },
  output: {
    banner,
    dir: 'dist',
    // What several entry points share with the main one is one file: a type check opens few.
    codeSplitting: {
      groups: [{ name: 'shared', test: /model-gateway[\\/](?!testing|ledgers)/, minShareCount: 2 }],
    },
    chunkFileNames: '[name].d.ts',
    minifyInternalExports: false,
  },
});
