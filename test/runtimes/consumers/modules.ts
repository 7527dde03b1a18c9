import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bunBinary, denoBinary, nodeBinary } from '../runners/binaries.ts';
import type { Case } from './case.ts';
import type { Project } from './project.ts';

const require = createRequire(import.meta.url);
const here = dirname(require.resolve('../package.json'));

const requireCases = [22, 24, 26].map((major): Case => ({
  name: `require() in Node ${major}, without a warning`,
  async run(project) {
    project.copy('require.cjs');
    await project.mustHold(nodeBinary(major), ['require.cjs']);
  },
}));

/** Jest runs CommonJS by default, so modules have to be turned into it. */
const transformer = `const { transformSync } = require(${JSON.stringify(require.resolve('esbuild'))});
exports.process = (source) => ({
  code: transformSync(source, { format: 'cjs', target: 'node22' }).code,
});
`;

async function runJest(
  project: Project,
  name: string,
  { flags, config }: { readonly flags: readonly string[]; readonly config: object },
): Promise<void> {
  project.copy('gateway.jest.mjs', `${name}/gateway.test.js`);
  project.write(`${name}/transform.cjs`, transformer);
  project.write(`${name}/jest.config.json`, JSON.stringify(config));
  const jest = join(here, 'node_modules/jest/bin/jest.js');
  await project.mustRun(process.execPath, [...flags, jest, '--config', `${name}/jest.config.json`]);
}

/** The folder of this project's own packages. */
const packages = join(here, '../../node_modules');

const openTelemetry: Case = {
  name: 'model-gateway/otel names the package that is missing, and works with it: import and require()',
  async run(project) {
    const { code, stderr } = await project.run(process.execPath, [
      '--input-type=module',
      '--eval',
      "import 'model-gateway/otel';",
    ]);
    if (code === 0 || !stderr.includes("Cannot find package '@opentelemetry/api'")) {
      throw new Error(`It does not say what is missing: ${stderr}`);
    }
    const name = '@opentelemetry/api';
    cpSync(join(packages, name), join(project.folder, 'node_modules', name), { recursive: true });
    for (const file of ['otel.mjs', 'otel.cjs']) {
      project.copy(file);
      await project.mustHold(process.execPath, [file]);
    }
  },
};

const typed = [22, 24, 26].map((major): Case => ({
  name: `a program in TypeScript, run by Node ${major} as it is`,
  async run(project) {
    project.copy('app.ts');
    await project.mustHold(nodeBinary(major), ['app.ts']);
  },
}));

/** Ways to load modules: `require()`, two copies, Jest. */
export const moduleCases: readonly Case[] = [
  ...requireCases,
  ...typed,
  openTelemetry,
  {
    name: 'require() in Bun',
    async run(project) {
      project.copy('require.cjs');
      await project.mustHold(bunBinary(), ['require.cjs']);
    },
  },
  {
    name: 'require() in Deno',
    async run(project) {
      project.copy('require.cjs');
      const rights = ['--no-prompt', '--allow-read', '--allow-env', '--node-modules-dir=manual'];
      await project.mustHold(denoBinary(), ['run', ...rights, 'require.cjs']);
    },
  },
  {
    name: 'import and require() in one program: one emulator, isInstance, handles of the other copy',
    async run(project) {
      project.copy('both.mjs');
      await project.mustHold(process.execPath, ['both.mjs']);
    },
  },
  {
    name: 'two copies side by side: isInstance, handles and streams of the other one',
    async run(project) {
      const modules = join(project.folder, 'node_modules');
      cpSync(join(modules, 'model-gateway'), join(modules, 'model-gateway-copy'), {
        recursive: true,
      });
      project.copy('two-copies.mjs');
      await project.mustHold(process.execPath, ['two-copies.mjs']);
    },
  },
  {
    name: 'Jest with ES modules',
    run: (project) =>
      runJest(project, 'jest-modules', {
        flags: ['--experimental-vm-modules', '--no-warnings'],
        config: { transform: {} },
      }),
  },
  {
    name: 'Jest with CommonJS, with every package transformed',
    run: (project) =>
      runJest(project, 'jest-common', {
        flags: [],
        config: {
          transform: { '\\.m?js$': '<rootDir>/jest-common/transform.cjs' },
          transformIgnorePatterns: [],
          rootDir: project.folder,
          testMatch: ['<rootDir>/jest-common/*.test.js'],
        },
      }),
  },
];
