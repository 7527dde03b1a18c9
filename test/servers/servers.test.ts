import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { createClient } from 'redis';
import { describe, expect, inject, test } from 'vitest';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';

async function countIn(url: string): Promise<number> {
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await pool.query('CREATE TABLE IF NOT EXISTS notes (note text)');
    await pool.query("INSERT INTO notes VALUES ('kept')");
    return (await pool.query('SELECT * FROM notes')).rows.length;
  } finally {
    await pool.end();
  }
}

test('PostgreSQL keeps entries after a crash', async () => {
  await using server = await startPostgres();

  const counts = [await countIn(server.url)];
  await server.stop('crash');
  await expect(countIn(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await server.start();
  counts.push(await countIn(server.url));

  expect(counts).toEqual([1, 2]);
  expect(server.url).not.toBe(inject('postgresURL'));
});

describe.skipIf(inject('redisURL') === '')('Redis', () => {
  test('keeps entries after a crash', async () => {
    await using server = await startRedis(true);
    const url = server?.url ?? '';
    const client = new Redis(url, { lazyConnect: true });
    client.on('error', () => {});

    await client.set('note', 'kept');
    await server?.stop();
    await server?.start();

    expect(await client.get('note')).toBe('kept');
    client.disconnect();
  });

  test('works with both clients', async () => {
    const client = await createClient({ url: inject('redisURL') }).connect();
    const other = new Redis(inject('redisURL'));

    await client.set('note', 'seen');

    expect(await other.get('note')).toBe('seen');
    client.destroy();
    other.disconnect();
  });
});
