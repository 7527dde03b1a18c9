import { Pool } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { killEverywhere } from './kill-everywhere.ts';
import { places, type Place } from './places.ts';
import { killWorkers } from './workers.ts';

/** Where it is unknown whether a task exists. */
const unknown: readonly Place[] = [
  'claimed, and nothing sent',
  'the request travels',
  'charged, and the response travels',
  'response received, and not in the ledger',
];

/** The server of an engine. */
export interface EngineServer extends AsyncDisposable {
  /** Variables for workers, such as its address. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Tests the recipe of an engine, with a server and a database of its own. */
export function testRecipe(engine: string, startServer?: () => Promise<EngineServer>): void {
  test(
    `the recipe for ${engine} pays once for each video, wherever its worker is killed`,
    { timeout: 300_000 },
    async () => {
      onTestFinished(killWorkers);
      const address = new URL(inject('postgresURL'));
      const pool = new Pool({ connectionString: address.href });
      await pool.query(`CREATE DATABASE ${engine}`);
      await pool.end();
      address.pathname = engine;

      await using server = await startServer?.();
      const videos = await killEverywhere(engine, address.href, server?.environment);

      const good = { submissions: 1, charges: 1, isWhole: true };
      expect(videos).toMatchObject(places.map(({ name: place }) => ({ place, ...good })));
      // Also those whose second submission was interrupted by the next kill.
      const checked = videos.filter(({ isChecked }) => isChecked).map(({ place }) => place);
      expect(checked).toEqual(expect.arrayContaining([...unknown]));
    },
  );
}
