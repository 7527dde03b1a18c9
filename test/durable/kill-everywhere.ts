import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { Gateway } from '../../dist/index.js';
import { postgresLedger } from '../../dist/postgres.js';
import type { EngineServer } from './engines.ts';
import { startGateway } from './gateway.ts';
import { places, type Place } from './places.ts';
import { Worker } from './workers.ts';

/** A video whose worker was killed at a place. */
export interface KilledVideo {
  readonly place: Place;
  /** Submissions that the gateway has received. */
  readonly submissions: number;
  readonly charges: number;
  /** True if the file is the video. */
  readonly isWhole: boolean;
  /** True if it was unknown whether there is a task, so that a person had to check the account. */
  readonly isChecked: boolean;
}

/**
 * Makes a video for each place, with a worker that is killed there while the videos before go on. A last
 * worker completes what is left.
 *
 * @param url - A database for the engine and the ledger.
 * @param server - If it keeps videos apart, each has a last worker of its own.
 */
export async function killEverywhere(
  engine: string,
  url: string,
  server: Pick<EngineServer, 'environment' | 'apart'> = { environment: {} },
): Promise<readonly KilledVideo[]> {
  await using gateway = await startGateway();
  const { emulator } = gateway;
  const folder = await mkdtemp(join(tmpdir(), 'model-gateway-durable-'));
  const pool = new Pool({ connectionString: url });
  const ledger = postgresLedger(pool);
  await ledger.migrate();
  const env = {
    ...process.env,
    ...server.environment,
    DATABASE_URL: url,
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: emulator.apiKey,
    VIDEO_INTERVAL: '250',
    NODE_NO_WARNINGS: '1',
  };
  const orders = places.map(({ name, by }, index) => {
    const model = `m-video-${index}`;
    return { place: name, by, id: `order-${index}`, model, path: join(folder, `${model}.mp4`) };
  });

  const client = new Gateway({ baseURL: gateway.url, apiKey: emulator.apiKey, logLevel: 'off' });
  const checked = new Set<string>();
  /** Does what a worker asks a person for: looks for the task in the account, and informs the ledger. */
  const check = async (callId: string, model: string): Promise<void> => {
    checked.add(model);
    const entry = await ledger.entry(callId);
    const isOpen = entry !== undefined && 'claimId' in entry && entry.isAlive !== true;
    if (!isOpen) return;
    const task = emulator.videos.list.find((video) => video.model === model);
    if (task === undefined)
      await ledger.finish(callId, 'not_submitted', { claimId: entry.claimId });
    else await ledger.accept(callId, (await client.videos.retrieve(task.id)).ref);
  };
  let checks = Promise.resolve();
  const onLine = (line: string): void => {
    const [, callId, model] = /^Check call (\S+) \((\S+)\)/.exec(line) ?? [];
    if (callId === undefined || model === undefined) return;
    checks = checks.then(() => check(callId, model));
  };

  const { apart } = server;
  const paths = new Map<string, string>();
  try {
    for (const group of apart === undefined ? [orders] : orders.map((order) => [order])) {
      const variables = { ...env, ...apart?.(join(folder, String(group[0]?.id))) };
      for (const { place, by, model, ...order } of group) {
        const kill = by === 'worker' ? { place, model } : undefined;
        const worker = await Worker.start(engine, variables, onLine, kill);
        if (by === 'gateway') gateway.killAt(place, model, () => worker.kill());
        worker.send({ start: { ...order, model } });
        await worker.killed();
        // Nobody holds a claim any more. Otherwise the test would wait until the leases expire.
        await pool.query('UPDATE model_gateway_calls SET lease_until = now()');
      }
      const last = await Worker.start(engine, variables, onLine);
      const results = await last.results(group.map(({ id }) => id));
      for (const [id, path] of results) paths.set(id, path);
      await last.kill();
    }
    await checks;
    const results = orders.map(async ({ place, id, model, path }): Promise<KilledVideo> => {
      const video = emulator.videos.list.find((one) => one.model === model);
      const response = video && (await client.videos.downloadContent(video.id));
      const content = response && Buffer.from(await response.arrayBuffer());
      const file = await readFile(path);
      return {
        place,
        charges: emulator.charges.filter((charge) => charge.model === model).length,
        submissions: gateway.submissions.filter((one) => one === model).length,
        isWhole: paths.get(id) === path && content?.equals(file) === true,
        isChecked: checked.has(model),
      };
    });
    return await Promise.all(results);
  } finally {
    await pool.end();
    await rm(folder, { recursive: true, force: true });
  }
}
