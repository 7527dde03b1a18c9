import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statedSize } from '../bench/report/readme.ts';
import { groups, moved } from '../docs/contents.ts';
import packageJson from '../package.json' with { type: 'json' };
import { createEmulator, type Emulator, type EmulatorServer } from '../src/testing/index.ts';
import { root, runProgram } from './helpers/run-program.ts';

const guides = await readdir(join(root, 'docs/guides')).catch(() => []);
const papers = [
  'README.md',
  ...guides.filter((name) => name.endsWith('.md')).map((name) => `docs/guides/${name}`),
];
const blocks = (await Promise.all(papers.map(readBlocks))).flat();
// Inside the package, so that `model-gateway` resolves to what was built.
const folder = join(root, 'test', '.readme');

interface Block {
  readonly name: string;
  /** The name of its page. */
  readonly page: string;
  readonly code: string;
  /** False for ```` ```ts compiled ````: code that needs a server of another kind. */
  readonly runs: boolean;
}

async function readBlocks(paper: string): Promise<Block[]> {
  const text = await readFile(join(root, paper), 'utf8');
  return [...text.matchAll(/^```ts( compiled)?\n([\s\S]*?)^```$/gm)].map(
    ([, compiled, code], index) => ({
      name: `${basename(paper, '.md')}-${index}`,
      page: basename(paper, '.md'),
      code: code ?? '',
      runs: compiled === undefined,
    }),
  );
}

test('the contents list every guide', () => {
  const named = groups.flatMap(({ pages }) => pages.map((page) => `docs/${page}.md`));

  expect(named).toEqual(expect.arrayContaining(papers.filter((paper) => paper !== 'README.md')));
});

test('old addresses of pages lead to sections', async () => {
  for (const [from, to] of Object.entries(moved)) {
    const [page, section = ''] = to.split('#');
    const text = await readFile(join(root, `docs/${page}.md`), 'utf8');
    const sections = [...text.matchAll(/^## (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    );

    expect(sections, from).toContain(section);
    expect(existsSync(join(root, `docs/${from}.md`)), from).toBe(false);
  }
});

test('the badges show the version and the licence of the package', async () => {
  const badges = ['version', 'licence'].map((name) =>
    readFile(join(root, `docs/badges/${name}.svg`), 'utf8'),
  );
  const [version, licence] = await Promise.all(badges);
  const readme = await readFile(join(root, 'README.md'), 'utf8');

  expect(version).toContain(`>version: ${packageJson.version}<`);
  expect(licence).toContain(`>licence: ${packageJson.license}<`);
  expect(readme).toContain(`![Version ${packageJson.version}](docs/badges/version.svg)`);
});

test('the size of the package in the README is that of the build', async () => {
  const files = await readdir(join(root, 'dist'), { recursive: true, withFileTypes: true });
  const paths = files
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name));
  const others = ['README.md', 'LICENSE', 'CHANGELOG.md', 'package.json'];
  const all = [...paths, ...others.map((name) => join(root, name))];
  const sizes = await Promise.all(all.map(async (path) => (await stat(path)).size));
  const measured = sizes.reduce((sum, size) => sum + size, 0) / 1024 / 1024;

  // The bench rounds up to 0.1 MiB when it writes the number.
  expect(statedSize()).toBeGreaterThanOrEqual(measured);
  expect(statedSize()).toBeLessThan(measured + 0.3);
});

test('README links to every guide', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');

  expect(papers.filter((paper) => paper !== 'README.md' && !readme.includes(`(${paper})`))).toEqual(
    [],
  );
});

test.each(papers)('links of %s exist', async (paper) => {
  const text = await readFile(join(root, paper), 'utf8');
  const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link]) => link ?? '');
  const missing = links.filter((link) => !existsSync(join(root, dirname(paper), link)));

  expect(missing).toEqual([]);
});

describe('code blocks', () => {
  let emulator: Emulator;
  let server: EmulatorServer;
  beforeAll(async () => {
    emulator = createEmulator({ videoDuration: 1_000 });
    server = await emulator.listen();
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await Promise.all(blocks.map(({ name, code }) => writeFile(join(folder, `${name}.ts`), code)));
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: '../../tsconfig.json',
        files: blocks.map(({ name }) => `${name}.ts`),
        include: [],
      }),
    );
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('code blocks exist', () => {
    expect(blocks.length).toBeGreaterThan(8);
  });

  test('code blocks compile', { timeout: 60_000 }, async () => {
    const output = await new Promise<string>((resolve) => {
      execFile(
        process.execPath,
        [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder],
        (_, stdout, stderr) => resolve(stdout + stderr),
      );
    });

    expect(output).toBe('');
  });

  const running = blocks.filter(({ runs }) => runs);

  // One process for each page: that of a block alone spends most of its time on loading the package.
  test.concurrent.each([...new Set(running.map(({ page }) => page))])(
    'the code blocks of %s run',
    { timeout: 90_000 },
    async (page) => {
      const names = running
        .filter((block) => block.page === page)
        .map(({ name }) => `./${name}.ts`);
      const path = join(folder, `all-of-${page}.ts`);
      await writeFile(
        path,
        `await Promise.all(${JSON.stringify(names)}.map((name) => import(name)));`,
      );

      const { code: exitCode, output } = await runProgram(
        path,
        { GATEWAY_BASE_URL: server.url, GATEWAY_API_KEY: emulator.apiKey },
        folder,
      );

      expect(exitCode, output).toBe(0);
    },
  );
});

test('code of an example equals its file', async () => {
  const texts = await Promise.all(papers.map((paper) => readFile(join(root, paper), 'utf8')));
  const shown = texts.flatMap((text) => [
    ...text.matchAll(/^```ts (examples\S+)\n([\s\S]*?)^```$/gm),
  ]);

  expect(shown.length).toBeGreaterThan(3);
  for (const [, file = '', code] of shown) {
    expect(code, file).toBe(await readFile(join(root, file), 'utf8'));
  }
});
