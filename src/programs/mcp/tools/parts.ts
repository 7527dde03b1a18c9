import type { Gateway } from '../../../index.ts';
import type { Estimator, Spending } from './cost.ts';
import type { Kind } from '../jobs/job.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { ModelList } from './models.ts';
import type { Inline } from './results.ts';
import type { JobStore } from '../jobs/store.ts';
import type { WorkspaceSettings } from './workspace.ts';

/** Everything that the tools use. Connections share it. */
export interface ServerParts {
  readonly version: string;
  readonly client: Gateway;
  readonly jobs: Jobs;
  readonly store: JobStore;
  readonly models: ModelList;
  readonly estimator: Estimator;
  readonly spending: Spending;
  readonly workspace: WorkspaceSettings;
  /** The kinds of calls that are offered. */
  readonly allowed: ReadonlySet<Kind>;
  readonly defaultModels: Readonly<Partial<Record<Kind, string>>>;
  /** Sends names of models that the gateway does not list. */
  readonly anyModel: boolean;
  /** Asks the user before a call that is expected to cost more, in US dollars; `undefined` never asks. */
  readonly confirmAbove: number | undefined;
  readonly inline: Inline;
  /** The longest time that a call of a tool may take, in milliseconds. */
  readonly wait: number;
}
