import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../../servers/processes.ts';
import { copyRecipe, type EngineServer } from '../../engines.ts';

/** Builds the recipe. The engine has no server: its local world is a folder. */
export async function buildWorkflow(): Promise<EngineServer> {
  const folder = await copyRecipe('workflow', ['workflow.ts']);
  // In a process of its own, which keeps its compiled plugin in its working directory.
  await run(process.execPath, [join(import.meta.dirname, 'build.ts'), folder], {
    cwd: import.meta.dirname,
  });
  return {
    environment: {
      RECIPE: folder,
      WORKFLOW_TARGET_WORLD: 'local',
      WORKFLOW_TELEMETRY_DISABLED: '1',
    },
    // A process that is killed while it writes the result of a step leaves a run that never ends. So nothing is
    // written for another video when a worker is killed.
    apart: (data) => ({ WORKFLOW_LOCAL_DATA_DIR: data }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
