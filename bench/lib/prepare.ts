import { execSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..', '..');
const bench = path.join(root, 'bench');

/** Checks that the installed peers match the lock file, using npm's own record. */
function isInstalled(): boolean {
  const installed = path.join(bench, 'node_modules', '.package-lock.json');
  if (!existsSync(installed)) return false;
  return versions(installed) === versions(path.join(bench, 'package-lock.json'));
}

/** The names and versions of a lock file. */
function versions(file: string): string {
  return Object.entries(readPackages(file))
    .filter(([name]) => name !== '')
    .map(([name, version]) => `${name} ${version}`)
    .toSorted()
    .join('\n');
}

function readPackages(file: string): Record<string, string> {
  const lock: { packages: Record<string, { version?: string }> } = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  return Object.fromEntries(
    Object.entries(lock.packages).map(([name, { version }]) => [name, version ?? '']),
  );
}

/**
 * Installs the peers when they are not there, and builds the client: old code is not to be measured.
 *
 * @param isBuilt - `true` to use the build that is there.
 */
export function prepare(isBuilt: boolean): void {
  if (!isInstalled()) {
    console.error('Installing the peers…');
    execSync('npm ci --loglevel=error', { cwd: bench, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  if (isBuilt) return;
  execSync('npm run --silent build', { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
}
