// Bundles the workflow of a copy of the recipe, once for all workers: `build.ts <folder>`.
import { bundleWorkflowCode } from '@temporalio/worker';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const folder = process.argv[2] ?? '';
const { code } = await bundleWorkflowCode({ workflowsPath: join(folder, 'temporal-workflow.ts') });
await writeFile(join(folder, 'bundle.cjs'), code);
