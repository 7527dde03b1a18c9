import type { TestProject } from 'vitest/node';
import { startPostgres } from '../servers/postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of a PostgreSQL server that all test files share. */
    readonly postgresURL: string;
  }
}

/** Starts the database that all engines share, and ends it after the last test. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await startPostgres();
  project.provide('postgresURL', postgres.url);
  return async () => {
    await postgres[Symbol.asyncDispose]();
  };
}
