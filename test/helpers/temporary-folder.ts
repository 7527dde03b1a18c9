import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A folder for one test, removed when the test has ended.
 *
 * @param finished - Tests that run at the same time give their own, from their context: the one of the
 * module belongs to whichever of them began last.
 */
export async function temporaryFolder(
  parent: string = tmpdir(),
  finished: typeof onTestFinished = onTestFinished,
): Promise<string> {
  const folder = await mkdtemp(join(parent, 'model-gateway-test-'));
  finished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
