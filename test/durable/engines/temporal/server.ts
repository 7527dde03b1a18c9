import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, run, ServerProcess } from '../../../servers/processes.ts';
import { copyRecipe, type EngineServer } from '../../engines.ts';

const here = import.meta.dirname;
/** Where Maven puts the test server, which npm does not have; see pom.xml. */
const jars = join(here, 'target/dependency');

/** Uses the server of `TEMPORAL_ADDRESS`, or starts Temporal's test server. Returns why neither is possible. */
export async function startTemporal(): Promise<EngineServer | string> {
  let address = process.env['TEMPORAL_ADDRESS'];
  let server: ServerProcess | undefined;
  if (address === undefined) {
    if (spawnSync('java', ['-version']).status !== 0) return 'No Java, and no TEMPORAL_ADDRESS';
    if (!existsSync(jars)) {
      return 'No test server: mvn -f test/durable/engines/temporal dependency:copy-dependencies';
    }
    const port = await freePort();
    const parameters = ['-cp', join(jars, '*'), 'io.temporal.testserver.TestServer', `${port}`];
    server = await ServerProcess.start('java', parameters, port);
    address = `127.0.0.1:${port}`;
  }
  const folder = await copyRecipe('temporal', ['temporal.ts', 'temporal-workflow.ts']);
  await run(process.execPath, [join(here, 'build.ts'), folder]);
  return {
    environment: { RECIPE: folder, TEMPORAL_ADDRESS: address },
    async [Symbol.asyncDispose]() {
      await server?.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
