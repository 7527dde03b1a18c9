import { accessSync, constants, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, isAbsolute, join } from 'node:path';

const require = createRequire(import.meta.url);

function packageFolder(name: string): string | undefined {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

function firstFile(candidates: readonly (readonly [name: string, file: string])[]): string {
  for (const [name, file] of candidates) {
    const folder = packageFolder(name);
    const path = folder === undefined ? '' : join(folder, file);
    if (path !== '' && existsSync(path)) return path;
  }
  const names = candidates.map(([name]) => name).join(', ');
  throw new Error(`None of these packages has a binary for this machine: ${names}`);
}

const { platform, arch } = process;

/** Node of a major version: this one, or that of its package for this platform. */
export function nodeBinary(major: number): string {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  return firstFile([[`node-${major}-${platform}-${arch}`, 'bin/node']]);
}

/** Bun, from its package for this platform: the package `bun` itself only links to it. */
export function bunBinary(): string {
  const cpu = arch === 'arm64' ? 'aarch64' : arch;
  return firstFile([
    [`@oven/bun-${platform}-${cpu}`, 'bin/bun'],
    [`@oven/bun-${platform}-${cpu}-musl`, 'bin/bun'],
  ]);
}

/** Deno, from its package for this platform. */
export function denoBinary(): string {
  return firstFile([
    [`@deno/${platform}-${arch}-glibc`, 'deno'],
    [`@deno/${platform}-${arch}`, 'deno'],
  ]);
}

/** Returns a program of the machine: that of an environment variable, or the first of these that can be run. */
export function findBinary(variable: string, names: readonly string[]): string | undefined {
  const chosen = process.env[variable];
  if (chosen !== undefined && chosen !== '') return chosen;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = names.flatMap((name) =>
    isAbsolute(name) ? name : folders.map((folder) => join(folder, name)),
  );
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
