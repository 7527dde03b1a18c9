import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import measuredCharges from '../bench/results/duplicates.json' with { type: 'json' };
import { statedSize, withCharges } from '../bench/report/readme.ts';
import { groups, moved } from '../docs/contents.ts';
import { optionRows } from '../docs/options.ts';
import { isName } from '../src/options/option-names.ts';
import packageJson from '../package.json' with { type: 'json' };
import { type ChargeClass, type Endpoint, endpoints } from '../src/index.ts';
import { outputRules } from '../src/http/outputs.ts';
import { createEmulator, type Emulator, type EmulatorServer } from '../src/testing/index.ts';
import { root, runProgram } from './helpers/run-program.ts';

const operationsGuide = await readFile(join(root, 'docs/guides/operations.md'), 'utf8');
const optionsGuide = await readFile(join(root, 'docs/guides/options.md'), 'utf8');
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

/** Calls that use an operation besides the one that it is named after. */
const otherCalls: Readonly<Record<string, readonly string[]>> = {
  'chat.completions.create': [
    'chat.completions.stream',
    'chat.completions.parse',
    'chat.completions.runTools',
  ],
  'generate.content': ['generate.runTools'],
  'embeddings.create': ['embeddings.createMany'],
  'images.generate': ['images.generateMany'],
  'responses.create': ['responses.parse'],
  'videos.create': ['videos.createAndWait', 'videos.createAndWaitAll'],
  'videos.retrieve': ['videos.wait', 'videos.watch', 'videos.waitAll', 'videos.step'],
  'videos.remix': ['videos.remixAndWait'],
};

/** Operations without a method of their own. */
const otherWays: Readonly<Record<string, string>> = {
  'messages.create': "[`post('/v1/messages')`](#any-other-route)",
  'rerank.create':
    "[`post('/v1/rerank')`](#any-other-route), [`rerankingModel()`](frameworks.md#reranking) of the AI SDK",
};

const bodyNames = { none: '–', json: 'JSON', multipart: 'multipart' };
const answerNames = { json: 'JSON', text: 'text', events: 'event stream', binary: 'file' };

function operationsTable(): string {
  const rows = Object.entries<Endpoint>(endpoints).map(([name, endpoint]) => {
    const query = new URLSearchParams({ ...endpoint.query }).toString();
    return [
      otherWays[name] ??
        [name, ...(otherCalls[name] ?? [])].map((call) => `\`${call}()\``).join(', '),
      `\`${endpoint.method} ${endpoint.path}${query === '' ? '' : `?${query}`}\``,
      endpoint.bodies.map((kind) => bodyNames[kind]).join(' or '),
      endpoint.responses.map((kind) => answerNames[kind]).join(' or '),
      endpoint.charge,
    ];
  });
  const header = ['Call', 'Route', 'Request body', 'Response', 'Charge class'];
  const table = [header, Array(5).fill('---'), ...rows];
  return table.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The calls of a route in the table of charge classes. */
const nouns: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'responses',
  messages: 'messages',
  generate: 'generation',
  embeddings: 'embeddings',
  rerank: 'reranking',
  'audio.speech': 'speech',
  'audio.transcriptions': 'transcription',
  'audio.translations': 'translation',
  images: 'images',
  videos: 'videos',
};

/** The first two columns of the table of charge classes. */
function classTable(): readonly (readonly [name: string, calls: string])[] {
  const charges: readonly ChargeClass[] = ['free', 'metered', 'charged'];
  return charges.map((charge) => {
    const own = Object.entries<Endpoint>(endpoints).filter(([, each]) => each.charge === charge);
    const calls = own.map(([name]) => {
      const noun = Object.keys(nouns).find((start) => name.startsWith(`${start}.`)) ?? name;
      return charge === 'free' ? 'reads' : (nouns[noun] ?? name);
    });
    const list = [...new Set(calls)].join(', ');
    const rules = outputRules.map(({ request }) => request).join(', ');
    return [`**${charge}**`, charge === 'charged' ? `${list}; text with ${rules}` : list];
  });
}

test('the table of charge classes matches endpoints.ts and the rules of outputs', async () => {
  const guide = await readFile(join(root, 'docs/guides/retries-and-charges.md'), 'utf8');
  const rows = [...guide.matchAll(/^\| (\*\*\w+\*\*) +\| (.+?) +\|/gm)];

  expect(rows.map(([, name, calls]) => [name, calls])).toEqual(classTable());
});

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

/** Removes what the formatter adds to align the columns of tables. */
const narrow = (text: string): string =>
  text.replaceAll(/ {2,}/g, ' ').replaceAll(/-{2,}(?=:? )/g, '-');

test('the charges in the README are those that were measured', async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');

  expect(narrow(readme)).toBe(narrow(withCharges(readme, measuredCharges)));
  expect(readme).toMatch(/^\| connection reset after the request +\| +1 \|/m);
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

test('the table of operations matches endpoints.ts', () => {
  const shown = /<!-- operations:start -->\n([\s\S]*?)\n<!-- operations:end -->/.exec(
    operationsGuide,
  )?.[1];

  // The formatter pads the cells.
  const plain = shown?.trim().replace(/ +/g, ' ').replace(/-{3,}/g, '---');
  expect(plain).toBe(operationsTable());
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

  test('exist', () => {
    expect(blocks.length).toBeGreaterThan(8);
  });

  test('compile', { timeout: 60_000 }, async () => {
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
    'those of %s run',
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

      expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
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

test('every option has a row', async () => {
  const source = await readFile(join(root, 'src', 'options', 'options.ts'), 'utf8');
  const [, options = ''] = source.split('export interface SharedOptions');
  const names = [...options.matchAll(/^  (\w+)\?: /gm)].map(([, name = '']) => name);
  const [, shown = ''] =
    /<!-- options:start -->\n([\s\S]*?)\n<!-- options:end -->/.exec(optionsGuide) ?? [];

  expect(names.length).toBeGreaterThan(25);
  expect(names.filter((name) => !isName(name))).toEqual([]);
  // `node docs/options.ts && npx oxfmt` writes the table.
  expect(shown.trim().replace(/ +/g, ' ').replace(/-{3,}/g, '---')).toBe(optionRows());
});
