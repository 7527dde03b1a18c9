import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { takesSome } from '../../helpers/some-cases.ts';
import { programOfNames } from '../../helpers/openai-names.ts';
import type { Case } from './case.ts';
import type { Project } from './project.ts';

const require = createRequire(import.meta.url);
const here = dirname(require.resolve('../package.json'));

/** Settings of all cases: everything is checked, also the declarations of packages. */
const common = {
  strict: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'ES2022',
  noEmit: true,
};

const nodeNext = { module: 'NodeNext', moduleResolution: 'NodeNext' };
const node16 = { module: 'Node16', moduleResolution: 'Node16' };
const node18 = { module: 'Node18', moduleResolution: 'Node16' };
const bundler = { module: 'ESNext', moduleResolution: 'Bundler' };

/** As a web project has them. */
const web = { lib: ['ES2022', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], types: [] };
/** As a server's project has them: nothing of a browser. */
const server = {
  lib: ['ES2023'],
  types: ['node'],
  typeRoots: [join(here, 'node_modules/@types')],
};

/** Neither: only a project that skips declarations compiles. */
const bare = { lib: ['ES2022'], types: [], skipLibCheck: true };

interface Variant {
  readonly name: string;
  readonly options: object;
  readonly files: readonly string[];
}

const variants: readonly Variant[] = [
  { name: 'NodeNext, web', options: { ...nodeNext, ...web }, files: ['app.ts', 'errors.ts'] },
  { name: 'bundler, web', options: { ...bundler, ...web }, files: ['app.ts', 'errors.ts'] },
  {
    name: 'NodeNext, server',
    options: { ...nodeNext, ...server },
    files: ['app.ts', 'errors.ts', 'node.ts', 'both.ts', 'common.cts'],
  },
  {
    name: 'Node16, server',
    options: { ...node16, ...server },
    files: ['app.ts', 'node.ts', 'both.ts', 'common.cts'],
  },
  {
    name: 'Node18, server',
    options: { ...node18, ...server },
    files: ['app.ts', 'node.ts', 'both.ts', 'common.cts'],
  },
  { name: 'Node16, web', options: { ...node16, ...web }, files: ['app.ts', 'errors.ts'] },
  {
    name: 'bundler, server',
    options: { ...bundler, ...server },
    files: ['app.ts', 'node.ts'],
  },
];

function toCase(version: number | string, { name, options, files }: Variant): Case {
  return {
    name: `TypeScript ${version}: ${name}`,
    async run(project: Project) {
      const folder = `types-${version}-${name.replaceAll(/\W+/g, '-')}`;
      for (const file of files) project.copy(file, join(folder, file));
      const config = { compilerOptions: { ...common, ...options }, files };
      project.write(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const compiler = join(
        here,
        `node_modules/typescript-${String(version).replace('.', '-')}/bin/tsc`,
      );
      const startedAt = Date.now();
      await project.mustRun(process.execPath, [compiler, '-p', folder]);
      return `${Date.now() - startedAt} ms`;
    },
  };
}

/** Code for the `openai` package with only the package name changed. */
function namesCase(major: number, kind: string, options: object): Case {
  return {
    name: `TypeScript ${major}: every name of openai, ${kind}`,
    async run(project: Project) {
      const folder = `names-${major}-${kind}`;
      const config = { compilerOptions: { ...common, ...options, ...web }, files: ['names.ts'] };
      project.write(join(folder, 'names.ts'), programOfNames());
      project.write(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const compiler = join(here, `node_modules/typescript-${major}/bin/tsc`);
      await project.mustRun(process.execPath, [compiler, '-p', folder]);
    },
  };
}

/** A project that finds packages by `main`, `types` and `typesVersions`: compiled to CommonJS, and run. */
const node10Case: Case = {
  name: 'TypeScript 5: node10, compiled to CommonJS and run',
  async run(project: Project) {
    const folder = 'types-node10';
    project.copy('old.ts', join(folder, 'old.ts'));
    project.write(join(folder, 'package.json'), '{ "type": "commonjs" }');
    const node10 = { module: 'CommonJS', moduleResolution: 'Node10', esModuleInterop: true };
    const compilerOptions = { ...common, ...node10, ...server, noEmit: false };
    const config = { compilerOptions, files: ['old.ts'] };
    project.write(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const compiler = join(here, 'node_modules/typescript-5/bin/tsc');
    await project.mustRun(process.execPath, [compiler, '-p', folder]);
    await project.mustHold(process.execPath, [join(folder, 'old.js')]);
  },
};

/** With `TEST_CASES=some`: the compiler of each way to find modules. 7 is ten times faster than the others. */
const compilers = [7, 6, 5, 7, 7, 7, 7, 7, 7];

/** Every compiler, with every way to find modules; with `TEST_CASES=some`, each way with one of the compilers. */
export const typescriptCases: readonly Case[] = [
  ...[5, 6, 7].flatMap((major) => {
    const cases = [
      ...variants.map((variant) => toCase(major, variant)),
      namesCase(major, 'NodeNext', nodeNext),
      namesCase(major, 'bundler', bundler),
    ];
    return takesSome ? cases.filter((_, index) => compilers[index] === major) : cases;
  }),
  node10Case,
  // The oldest version that compiles the declarations.
  toCase('5.6', { name: 'NodeNext, web', options: { ...nodeNext, ...web }, files: ['app.ts'] }),
  toCase(7, { name: 'without a library', options: { ...bundler, ...bare }, files: ['bare.ts'] }),
];
