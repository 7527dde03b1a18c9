import type { Certificates } from '../servers/certificates.ts';
import type { RunningWorld } from './world-server.ts';

/** Input of a runner. */
export interface RunContext {
  readonly running: RunningWorld;
  readonly certificates: Certificates;
  /** The file that holds the authority to trust. */
  readonly authorityFile: string;
  /** Aborted when the runtime has had its time. */
  readonly signal: AbortSignal;
}
