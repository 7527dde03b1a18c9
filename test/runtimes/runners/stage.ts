import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../../..', import.meta.url).pathname;

/** Packs the built package as it would be published. @returns the path of the tarball */
export function packPackage(folder: string): string {
  if (!existsSync(join(root, 'dist/index.js'))) {
    throw new Error('The package is not built; run "npm run build" first.');
  }
  const output = execFileSync(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const file = /"filename":\s*"([^"]+)"/.exec(output)?.[1];
  if (file === undefined) throw new Error(`npm packed nothing: ${output}`);
  return join(folder, file);
}

/**
 * Puts the package into `node_modules`, unpacked from its tarball, so that exactly what is published
 * is tested. Its dependencies are those of the root.
 */
export function stagePackage(): void {
  const folder = mkdtempSync(join(tmpdir(), 'package-'));
  try {
    const tarball = packPackage(folder);
    const target = new URL('../node_modules/model-gateway', import.meta.url).pathname;
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
