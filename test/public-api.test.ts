import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import typedoc from '../docs/typedoc.json' with { type: 'json' };
import packageJson from '../package.json' with { type: 'json' };
import { entry as entryPoints } from '../tsup.config.ts';
import { root } from './helpers/run-program.ts';

/** Every file that `entry` reaches through relative imports, and every package that they name. */
async function reach(entry: string): Promise<{ files: Set<string>; packages: Set<string> }> {
  const files = new Set<string>();
  const packages = new Set<string>();
  const queue = [entry];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    const text = await readFile(path, 'utf8');
    const specifiers = text.matchAll(/(?:from|import|require)\s*\(?\s*['"]([^'"\n]+)['"]/g);
    for (const [, specifier = ''] of specifiers) {
      if (!specifier.startsWith('.')) packages.add(specifier);
      else {
        const target = join(dirname(path), specifier);
        queue.push(/\.d\.c?ts$/.test(path) ? target.replace(/\.(c?)js$/, '.d.$1ts') : target);
      }
    }
  }
  return { files, packages };
}

const mainExports = packageJson.exports['.'];

/** Each entry point with the files it has for one way to load it: ES modules or CommonJS. */
const entriesFor = (format: 'import' | 'require') =>
  Object.entries(packageJson.exports).flatMap(([name, target]) => {
    if (typeof target === 'string') return [];
    const { types, default: code } = target[format];
    if (name !== '.' && code === mainExports[format].default) return [];
    const names = name.includes('*') ? ['mcp', 'standard-schema', 'zod'] : [''];
    return names.map((part) => ({
      name: name.replace('*', part),
      code: join(root, code).replace('*', part),
      types: join(root, types).replace('*', part),
    }));
  });

const entries = [...entriesFor('import'), ...entriesFor('require')];

/** Imports that each entry point may have besides its own files. */
const allowed: Readonly<Record<string, readonly RegExp[]>> = {
  '.': [/^#form-data$/],
  // Types only: see below.
  './ai-sdk': [/^#form-data$/, /^@ai-sdk\/provider$/],
  './bullmq': [/^node:/, /^#form-data$/],
  './core': [/^#form-data$/],
  './otel': [/^#form-data$/, /^@opentelemetry\/api$/],
  './node': [/^node:/, /^#form-data$/],
  // Clients of servers are the caller's: not even their types are named.
  './postgres': [/^#form-data$/],
  './redis': [/^#form-data$/],
  './stream': [],
  './testing': [],
  './testing/msw': [/^msw$/],
  './helpers/mcp': [],
  './helpers/standard-schema': [],
  './helpers/zod': [/^zod/],
};

const nameOf = (value: unknown): string => String(Reflect.get(Object(value), 'name'));

describe('entry points', () => {
  test.each(entries)('$name imports only the allowed packages', async ({ name, code, types }) => {
    const patterns = allowed[name] ?? [];

    const { packages } = await reach(code);
    const declared = await reach(types);

    const isAllowed = (used: string): boolean => patterns.some((pattern) => pattern.test(used));
    expect([...packages].filter((used) => !isAllowed(used))).toEqual([]);
    expect([...declared.packages].filter((used) => !isAllowed(used))).toEqual([]);
  });

  test('the AI SDK provider imports nothing of the AI SDK', async () => {
    const { packages } = await reach(join(root, 'dist', 'ai-sdk', 'index.js'));

    expect([...packages]).toEqual(['#form-data']);
  });

  test('the entry for streams exports the classes of the main one', async () => {
    const main = new Map(Object.entries(await import('model-gateway')));
    const reader = Object.entries(await import('model-gateway/stream'));

    expect(reader.length).toBeGreaterThan(10);
    expect(reader.filter(([name, value]) => main.get(name) !== value)).toEqual([]);
  });

  test('the paths of the openai package lead to the main one', async () => {
    const main = await import('model-gateway');

    for (const [name, target] of Object.entries(packageJson.exports)) {
      if (!/^\.\/(core\/|error|index|lib|resources|streaming|uploads)/.test(name)) continue;
      expect(target, name).toEqual(packageJson.exports['.']);
    }
    expect(await import('model-gateway/error')).toBe(main);
    expect(await import('model-gateway/resources/chat/completions')).toBe(main);
    expect(await import('model-gateway/streaming')).toBe(main);
    expect(await import('model-gateway/uploads')).toBe(main);
  });

  test('the main entry point exports these names', async () => {
    const names = Object.keys(await import('../src/index.ts'));

    expect(names.toSorted()).toMatchSnapshot();
  });

  test('the main entry point can be required', () => {
    const { Gateway, default: byDefault } = createRequire(import.meta.url)('model-gateway');

    expect(typeof Gateway).toBe('function');
    expect(byDefault).toBe(Gateway);
  });

  test.each(['model-gateway', 'model-gateway/core', 'model-gateway/stream', 'model-gateway/node'])(
    'classes of %s keep their names in CommonJS',
    async (name) => {
      const required: Readonly<Record<string, unknown>> = createRequire(import.meta.url)(name);

      const imported: Readonly<Record<string, unknown>> = await import(name);
      const classes = Object.entries(required).filter(
        ([, value]) => typeof value === 'function' && value.toString().startsWith('class'),
      );

      expect(classes.length).toBeGreaterThan(0);
      const names = classes.map(([key, value]) => [key, nameOf(value)]);
      expect(names).toEqual(classes.map(([key]) => [key, nameOf(imported[key])]));
      // A bundler appends a number to the second class of one name.
      expect(names.filter(([, own = '']) => /\d$/.test(own))).toEqual([]);
    },
  );
});

test('the package contains only the build and its documents', () => {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [{ files }] = JSON.parse(output);
  const paths: string[] = files.map((file: { path: string }) => file.path);

  const outside = paths.filter((path) => !path.startsWith('dist/'));
  expect(outside.toSorted()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
  const untidy = paths.filter((path) => /\.(test|map|tsbuildinfo)|tsconfig/.test(path));
  expect(untidy).toEqual([]);
});

test('every referenced declaration is in the package', async () => {
  const reached = new Set<string>();
  for (const { types } of entries) {
    for (const path of (await reach(types)).files) reached.add(relative(root, path));
  }

  expect([...reached].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('installing the package runs no script', () => {
  const scripts = Object.keys(packageJson.scripts);

  expect(scripts.filter((name) => /^(pre|post)?install$|^(pre|post)?prepare$/.test(name))).toEqual(
    [],
  );
});

test('a stack trace names our functions, because the code is not minified', async () => {
  const { Gateway } = await import('model-gateway');
  const client = new Gateway({ apiKey: 'test', baseURL: 'https://gateway.example.com' });
  const submitted = client.videos.create({ model: '', prompt: 'A boat' });

  await expect(submitted).rejects.toMatchObject({
    name: 'InvalidInputError',
    stack: expect.stringMatching(/at check\w* \(/),
  });
});

test('the API reference has every entry point, under the name that is imported', async () => {
  const sources = Object.values(entryPoints).map((path) => `../${path}`);
  expect(typedoc.entryPoints.toSorted()).toEqual(sources.toSorted());

  for (const path of Object.values(entryPoints)) {
    const text = await readFile(join(root, path), 'utf8');
    const [, name = ''] = /^ \* @module (\S+)$/m.exec(text) ?? [];
    expect(import.meta.resolve(name), path).toMatch(/^file:.*\/dist\//);
  }
});

const readBuilt = (name: string): Promise<string> => readFile(join(root, 'dist', name), 'utf8');

describe('guides in the package', () => {
  test.each(['llms.txt', 'llms-full.txt'])('links of %s lead to its headings', async (name) => {
    const whole = await readBuilt('llms-full.txt');
    const prose = (await readBuilt(name)).replaceAll(/^```[\s\S]*?^```$/gm, '');
    const headings = [...whole.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(/\s/g, '-'),
    );
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const local = links.filter((link) => !/^https?:/.test(link));
    const lost = local.filter((link) => {
      const [file = '', anchor = ''] = link.split('#');
      return !['', 'llms-full.txt'].includes(file) || !headings.includes(anchor);
    });

    expect(local.length).toBeGreaterThan(20);
    expect(lost).toEqual([]);
  });
});
