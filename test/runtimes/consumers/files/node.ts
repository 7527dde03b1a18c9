// Exports of Node's entry only, without the types of a browser.
import { fileFromPath, saveTo } from 'model-gateway/node';
import { Gateway, type SubmitLedger } from 'model-gateway';
import { postgresLedger, type PostgresPool } from 'model-gateway/postgres';
import { redisLedger, type NodeRedisClient } from 'model-gateway/redis';

const client = new Gateway({ apiKey: 'k', baseURL: 'https://gateway.example.com' });

export async function speak(input: string, path: string): Promise<void> {
  const response: Response = await client.audio.speech.create({ model: 'm', input });
  await saveTo(response, path);
}

export async function translate(path: string): Promise<string> {
  const file = await fileFromPath(path);
  return (await client.audio.translations.create({ model: 'm', file })).text;
}

export async function ledgerIn(database: PostgresPool | NodeRedisClient): Promise<SubmitLedger> {
  if (!('query' in database)) return redisLedger(database, { lease: 60_000 });
  const ledger = postgresLedger(database, { table: 'app.calls' });
  await ledger.migrate();
  return ledger;
}
