import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createEmulator, type Emulator, type EmulatorServer } from '../../src/testing/index.ts';
import { root, runProgram } from '../helpers/run-program.ts';

const guide = await readFile(join(root, 'docs/guides/many-machines.md'), 'utf8');
const blocks = [...guide.matchAll(/^```ts servers\n([\s\S]*?)^```$/gm)].map(
  ([, code = ''], index) => ({ name: `block-${index}.ts`, code }),
);
const folder = join(import.meta.dirname, '.guide');
const link = join(import.meta.dirname, 'node_modules/model-gateway');

let emulator: Emulator;
let server: EmulatorServer;

beforeAll(async () => {
  emulator = createEmulator({ videoDuration: 0 });
  server = await emulator.listen();
  await rm(folder, { recursive: true, force: true });
  await rm(link, { force: true });
  await mkdir(folder);
  // The package as it was built, beside the clients that a user has.
  await symlink(root, link, 'dir');
  for (const { name, code } of blocks) {
    await writeFile(join(folder, name), code);
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../../tsconfig.json',
      files: blocks.map(({ name }) => name),
      include: [],
    }),
  );
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
  await rm(link, { force: true });
});

test("the guide's code compiles with the clients that it names", async () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [compiler, '-p', folder], (_, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });

  expect(output).toBe('');
  expect(blocks.length).toBeGreaterThan(1);
});

const runnable = blocks.filter(({ code }) => inject('redisURL') !== '' || !/redis/i.test(code));

test.each(runnable)("the guide's $name creates one video", async ({ name, code }) => {
  const before = emulator.charges.length;
  // The programs hold connections, and would not end by themselves.
  await writeFile(join(folder, name), `${code}\nprocess.exit();\n`);
  const { code: exitCode, output } = await runProgram(
    join(folder, name),
    {
      GATEWAY_BASE_URL: server.url,
      GATEWAY_API_KEY: emulator.apiKey,
      DATABASE_URL: inject('postgresURL'),
      REDIS_URL: inject('redisURL'),
    },
    folder,
  );

  expect(exitCode, output).toBe(0);
  expect(output).toContain('completed');
  expect(emulator.charges).toHaveLength(before + 1);
});
