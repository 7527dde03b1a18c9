import { errorMessage } from '../../../answers/objects.ts';
import { jobsFolder, JobStore } from '../../mcp/jobs/store.ts';
import { makeFolder } from '../records.ts';
import type { Finding } from './checks.ts';

/** Checks whether this computer can record the calls of `model-gateway mcp`, and how the recorded ones ended. */
export async function mcpFinding(): Promise<Finding> {
  const id = 'mcp';
  try {
    const store = await JobStore.open(jobsFolder(await makeFolder(id)));
    const records = await store.list();
    const lost = records.filter(({ state }) => state === 'unknown').length;
    const detail = `calls of agents can be recorded; ${records.length} are`;
    if (lost === 0) return { id, status: 'ok', detail };
    return {
      id,
      status: 'warn',
      detail: `${detail}, of which ${lost} may have been charged without a result`,
      fix: 'The tools list_jobs and check_charge of "model-gateway mcp" look them up.',
    };
  } catch (error) {
    const fix = errorMessage(error);
    return { id, status: 'warn', detail: '"model-gateway mcp" cannot record calls', fix };
  }
}
