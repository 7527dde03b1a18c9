import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Effort, Part, PartResult } from './lib/metric.ts';
import { specifiers, type Column } from './lib/packages.ts';
import { roundSize } from './report/readme.ts';

const bench = import.meta.dirname;
const root = path.join(bench, '..');
const execute = promisify(execFile);

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

async function readManifest(directory: string): Promise<Manifest> {
  const manifest: Manifest = JSON.parse(
    await readFile(path.join(directory, 'package.json'), 'utf8'),
  );
  return manifest;
}

/** The packages that npm installs for one: everything but optional peers. */
function neededBy(manifest: Manifest): string[] {
  const {
    dependencies,
    optionalDependencies,
    peerDependencies = {},
    peerDependenciesMeta,
  } = manifest;
  const peers = Object.keys(peerDependencies).filter(
    (name) => peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...new Set([...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])];
}

/** Resolves a dependency of a package in `from`, as Node does. */
function find(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const directory = path.join(folder, 'node_modules', name);
    if (existsSync(path.join(directory, 'package.json'))) return directory;
    if (folder === path.dirname(folder)) return undefined;
  }
}

async function findDependencies(names: readonly string[], from: string, found = new Set<string>()) {
  for (const name of names) {
    const directory = find(name, from);
    if (directory === undefined || found.has(directory)) continue;
    found.add(directory);
    await findDependencies(neededBy(await readManifest(directory)), directory, found);
  }
  return found;
}

/** The bytes of the files of a package, without packages that are installed inside it. */
async function measureSize(directory: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules') sum += await measureSize(file);
    else if (entry.isFile()) sum += (await stat(file)).size;
  }
  return sum;
}

/** The bytes of the files that this package publishes. */
async function ownSize(): Promise<number> {
  const { stdout } = await execute('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    maxBuffer: 2 ** 26,
  });
  const [packed]: { readonly files: readonly { readonly size: number }[] }[] = Object.values(
    JSON.parse(stdout),
  );
  if (packed === undefined) throw new Error('npm pack gave no files.');
  return packed.files.reduce((bytes, { size }) => bytes + size, 0);
}

async function measure({ columns }: Effort): Promise<PartResult> {
  const own = await ownSize();
  const size: Partial<Record<Column, number>> = {};
  const count: Partial<Record<Column, number>> = {};
  const names: Partial<Record<Column, string[]>> = {};
  for (const column of columns) {
    const isOwn = column === 'model-gateway';
    const needed = isOwn ? neededBy(await readManifest(root)) : [...specifiers[column]];
    // It is a part of our build, and so not imported by its name.
    if (column === 'floor') needed.push('form-data');
    const directories = [...(await findDependencies(needed, isOwn ? root : bench))];
    const sizes = await Promise.all(directories.map(measureSize));
    const total = sizes.reduce((sum, bytes) => sum + bytes, isOwn ? own : 0);
    size[column] = isOwn ? roundSize(total / 2 ** 20) : total / 2 ** 20;
    count[column] = directories.length + (isOwn ? 1 : 0);
    names[column] = directories.map((directory) => path.relative(root, directory)).toSorted();
  }
  return {
    metrics: [
      { id: 'install.size', label: 'Installed size', unit: 'MiB', values: size },
      { id: 'install.packages', label: '– packages', unit: 'packages', values: count },
      {
        id: 'install.own',
        label: '– of the package itself',
        unit: 'MiB',
        values: { 'model-gateway': roundSize(own / 2 ** 20) },
      },
    ],
    raw: { ownBytes: own, packages: names },
  };
}

export const installPart: Part = { name: 'install', measure };
