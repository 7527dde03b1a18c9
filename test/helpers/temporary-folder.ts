import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own for one test, removed when the test has ended. */
export async function temporaryFolder(parent: string = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(parent, 'model-gateway-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
