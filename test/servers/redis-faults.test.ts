import { Redis } from 'ioredis';
import { createClient, RESP_TYPES } from 'redis';
import { afterAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { redisLedger, type IORedisClient } from '../../src/adapters/ledgers/redis.ts';
import { makeRef } from '../../src/tasks/ref.ts';
import { failureOf } from '../helpers/clients.ts';
import { claimIdOf } from '../helpers/ledger-contract.ts';
import { untyped } from '../helpers/untyped.ts';
import { countRequests, emulatedVideos, order } from '../helpers/videos.ts';
import { newPrefix } from './ledgers.ts';
import { freePort } from './processes.ts';
import { startRedis } from './redis.ts';

const ref = makeRef({ id: 'task_1', baseURL: 'https://gateway.test', createdAt: 5 });

describe.skipIf(inject('redisURL') === '')('a Redis', () => {
  const client = new Redis(inject('redisURL'), { lazyConnect: true });
  afterAll(() => client.disconnect());

  test.each([{ maxRetriesPerRequest: null }, { enableOfflineQueue: false }, {}])(
    'a Redis that is unreachable submits nothing, and is a temporary error: %j',
    async (settings) => {
      const { emulator, videos } = emulatedVideos();
      const gone = new Redis(await freePort(), { ...settings, retryStrategy: () => 50 });
      gone.on('error', () => {});
      onTestFinished(() => gone.disconnect());
      const ledger = redisLedger(gone, { timeout: 300 });

      const error = await failureOf(videos.create(order, { ledger, callId: 'job' }));

      expect(error).toMatchObject({ name: 'LedgerError', outcome: 'not_sent', callId: 'job' });
      expect(String(error)).toContain(
        'Check that the server runs, and the connection settings of the client',
      );
      expect(emulator.requests).toHaveLength(0);
    },
  );

  test('a Redis with a client that was never connected is reported with the fix', async () => {
    const ledger = redisLedger(createClient({ url: inject('redisURL') }));

    const error = await failureOf(ledger.claim('job', 'hash'));

    expect(error).toMatchObject({ name: 'LedgerError', outcome: 'not_sent' });
    expect(String(error)).toContain('Call await client.connect() first');
  });

  test('a Redis that may evict entries is rejected before anything is sent', async () => {
    await using server = await startRedis();
    const full = new Redis(server?.url ?? '');
    onTestFinished(() => full.disconnect());
    await full.config('SET', 'maxmemory', '100mb');
    await full.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const { emulator, videos } = emulatedVideos();
    const options = { ledger: redisLedger(full), callId: 'job' };

    const error = await failureOf(videos.create(order, options));
    await full.config('SET', 'maxmemory-policy', 'noeviction');
    const task = await videos.create(order, options);

    expect(error).toMatchObject({ name: 'LedgerError', outcome: 'not_sent' });
    expect(String(error)).toMatch(/allkeys-lru.*Set maxmemory-policy to noeviction/);
    expect(task.status).toBe('queued');
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('a Redis that restarts keeps the claim, and loads the scripts again', async () => {
    await using server = await startRedis(true);
    const restarted = new Redis(server?.url ?? '');
    restarted.on('error', () => {});
    onTestFinished(() => restarted.disconnect());
    const ledger = redisLedger(restarted);
    const claimId = await claimIdOf(ledger.claim('job', 'hash'));

    await server?.stop();
    const accepted = ledger.accept('job', ref, claimId);
    await server?.start();
    await accepted;

    expect(await ledger.entry('job')).toMatchObject({ status: 'accepted', refs: [ref] });
  });

  test('a Redis that returns bytes in place of text is read', async () => {
    const ofBytes = await createClient({
      url: inject('redisURL'),
      commandOptions: { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } },
    }).connect();
    onTestFinished(() => ofBytes.destroy());
    const ledger = redisLedger(ofBytes, { prefix: newPrefix() });
    const claimId = await claimIdOf(ledger.claim('job', 'hash'));

    expect(await ledger.entry('job')).toMatchObject({ status: 'submitting', isAlive: true });
    await ledger.accept('job', ref, claimId);

    expect(await ledger.entry('job')).toMatchObject({ status: 'accepted', refs: [ref] });
  });

  test.each<{ title: string; spoil: (key: string) => Promise<unknown>; word: string }>([
    { title: 'of a later version', spoil: (key) => client.hset(key, 'v', '2'), word: 'format 2' },
    { title: 'of another program', spoil: (key) => client.set(key, 'mine'), word: 'WRONGTYPE' },
  ])('a Redis with an entry $title submits nothing', async ({ spoil, word }) => {
    const { emulator, videos } = emulatedVideos();
    const prefix = newPrefix();
    await spoil(`${prefix}job`);
    const options = { ledger: redisLedger(client, { prefix }), callId: 'job' };

    const error = await failureOf(videos.create(order, options));

    expect(error).toMatchObject({ name: 'LedgerError', outcome: 'not_sent' });
    expect(String(error)).toContain(word);
    expect(emulator.requests).toHaveLength(0);
  });

  test('a Redis keeps finished calls as long as configured, and all others forever', async () => {
    const prefix = newPrefix();
    const ledger = redisLedger(client, { prefix, keepFinished: 60_000 });
    const lives: number[] = [];
    const look = async () => void lives.push(await client.pttl(`${prefix}job`));
    const claimId = await claimIdOf(ledger.claim('job', 'hash'));
    await look();
    await ledger.accept('job', ref, claimId);
    await look();
    await ledger.finish('job', 'completed', { claimId });
    await look();
    await ledger.accept('job', { ...ref, id: 'by hand' });
    await look();

    expect(lives).toEqual([-1, -1, expect.any(Number), -1]);
    expect(lives[2]).toBeGreaterThan(50_000);
  });

  test('a Redis ends the lease of a worker without renewals', async () => {
    const prefix = newPrefix();
    // Only the script of the renewal has two values.
    const deaf: IORedisClient = {
      eval: (...parameters) => client.eval(...parameters),
      evalsha: (...parameters) => {
        const isRenewal = parameters.length === 5;
        return isRenewal ? new Promise(() => {}) : client.evalsha(...parameters);
      },
    };
    const seen = redisLedger(client, { prefix });
    await redisLedger(deaf, { prefix, lease: 1_000 }).claim('job', 'hash');

    expect(await seen.entry('job')).toMatchObject({ isAlive: true });
    await vi.waitFor(
      async () => expect(await seen.entry('job')).toMatchObject({ isAlive: false }),
      { timeout: 10_000 },
    );
    expect(await seen.claim('job', 'hash')).toMatchObject({ status: 'submitting', isAlive: false });
  });

  test('a Redis contains readable text', async () => {
    const prefix = newPrefix();
    const ledger = redisLedger(client, { prefix });
    await ledger.accept('job', ref, await claimIdOf(ledger.claim('job', 'hash')));
    await ledger.finish('job', 'completed');

    expect(await client.hgetall(`${prefix}job`)).toEqual({
      v: '1',
      status: 'completed',
      hash: 'hash',
      claim: expect.any(String),
      lease: expect.stringMatching(/^\d{13}$/),
      ref: '{"id":"task_1","baseURL":"https://gateway.test","v":1,"kind":"video","route":{"type":"openai"},"createdAt":5}',
    });
  });

  const bad: readonly { title: string; field: string; given: unknown; options?: unknown }[] = [
    { title: 'no client', field: 'client', given: undefined },
    { title: 'an address', field: 'client', given: 'redis://localhost' },
    { title: 'an object that is not a client', field: 'client', given: {} },
    { title: 'one that is still connecting', field: 'client', given: Promise.resolve(client) },
    { title: 'what has only one of the methods', field: 'client', given: { eval: () => 1 } },
    { title: 'options that are none', field: 'options', given: client, options: 7 },
    { title: 'a prefix that is none', field: 'prefix', given: client, options: { prefix: 7 } },
    { title: 'a lease of no time', field: 'lease', given: client, options: { lease: 10 } },
    {
      title: 'a time to keep that is none',
      field: 'keepFinished',
      given: client,
      options: { keepFinished: 0 },
    },
  ];

  test.each(bad)('a Redis is rejected: $title, naming $field', ({ field, given, options }) => {
    const make = () => redisLedger(untyped<IORedisClient>(given), untyped<object>(options));

    expect(make).toThrow(expect.objectContaining({ name: 'InvalidInputError', field }));
  });
});
