import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of a PostgreSQL server that all test files share. */
    readonly postgresURL: string;
    /** The address of a Redis server that all test files share; `""` where this machine has none. */
    readonly redisURL: string;
  }
}

/** Starts the servers before the first test file, and ends them after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  project.provide('postgresURL', postgres.url);
  project.provide('redisURL', redis?.url ?? '');
  if (redis === undefined) {
    console.warn('redis-server is not on the PATH: the tests on Redis are LEFT OUT.');
  }
  return async () => {
    await postgres[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
  };
}
