import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import type { EngineServer } from './engines.ts';
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

/**
 * Tests the recipe of an engine, with a server and a database of its own.
 *
 * @param startServer - Starts the server, or returns why there is none.
 */
export function testRecipe(
  engine: string,
  startServer?: () => Promise<EngineServer | string>,
): void {
  test(
    `the recipe for ${engine} pays once for each video, wherever its worker is killed`,
    { timeout: 600_000 },
    async ({ skip }) => {
      const folder = join(import.meta.dirname, 'engines', engine);
      // Large packages are not installed with the others.
      if (existsSync(join(folder, 'package.json')) && !existsSync(join(folder, 'node_modules'))) {
        skip(`Not installed: npm ci --prefix test/durable/engines/${engine}`);
      }
      onTestFinished(killWorkers);
      const address = new URL(inject('postgresURL'));
      const pool = new Pool({ connectionString: address.href });
      await pool.query(`CREATE DATABASE ${engine}`);
      await pool.end();
      address.pathname = engine;

      const started = await startServer?.();
      await using server = typeof started === 'string' ? skip(started) : started;
      const videos = await killEverywhere(engine, address.href, server);

      const good = { submissions: 1, charges: 1, isWhole: true };
      expect(videos).toMatchObject(places.map(({ name: place }) => ({ place, ...good })));
      // Also those whose second submission was interrupted by the next kill.
      const checked = videos.filter(({ isChecked }) => isChecked).map(({ place }) => place);
      expect(checked).toEqual(expect.arrayContaining([...unknown]));
    },
  );
}
