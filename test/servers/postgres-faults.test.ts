import { Pool } from 'pg';
import { afterEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { postgresLedger, type PostgresPool } from '../../src/adapters/ledgers/postgres.ts';
import { makeRef } from '../../src/tasks/ref.ts';
import { failureOf } from '../helpers/clients.ts';
import { claimIdOf } from '../helpers/ledger-contract.ts';
import { untyped } from '../helpers/untyped.ts';
import { countRequests, emulatedVideos, order } from '../helpers/videos.ts';
import { newTable, sharedPool } from './ledgers.ts';
import { freePort } from './processes.ts';

const pool = sharedPool();
const ref = makeRef({ id: 'task_1', baseURL: 'https://gateway.test', createdAt: 5 });

afterEach(() => {
  vi.useRealTimers();
});

/** A pool that acts before or after a statement. */
function poolWith(
  change: (text: string, run: () => ReturnType<PostgresPool['query']>) => unknown,
): PostgresPool {
  return {
    async query(text, values) {
      const run = () => pool.query(text, values);
      return untyped<Awaited<ReturnType<PostgresPool['query']>>>(await change(text, run));
    },
  };
}

const lost = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** A pool that does what it is asked, and loses the first answers to it. */
function losing(answers: number, part: string): PostgresPool {
  let left = answers;
  return poolWith(async (text, run) => {
    const result = await run();
    if (!text.includes(part) || left === 0) return result;
    left -= 1;
    throw lost();
  });
}

async function isAlive(table: string): Promise<boolean | undefined> {
  const entry = await postgresLedger(pool, { table }).entry('job');
  return entry !== undefined && 'isAlive' in entry ? entry.isAlive : undefined;
}

async function migrated(table = newTable()): Promise<string> {
  await postgresLedger(pool, { table }).migrate();
  return table;
}

describe('an unreachable database', () => {
  test('submits nothing, and is a temporary error', async () => {
    const { emulator, videos } = emulatedVideos();
    const gone = new Pool({ host: '127.0.0.1', port: await freePort() });
    onTestFinished(() => gone.end());
    const ledger = postgresLedger(gone, { timeout: 500 });

    const error = await failureOf(videos.create(order, { ledger, callId: 'job' }));

    expect(error).toMatchObject({ name: 'LedgerError', outcome: 'not_sent', callId: 'job' });
    expect(error).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    expect(String(error)).toMatch(
      /ECONNREFUSED.*Check that the server runs, and the connection settings of the pool/,
    );
    expect(emulator.requests).toHaveLength(0);
  });

  test('a database that hangs fails after its time limit', async () => {
    const ledger = postgresLedger({ query: () => new Promise(() => {}) }, { timeout: 300 });

    const error = await failureOf(ledger.claim('job', 'hash'));

    expect(error).toMatchObject({ name: 'LedgerError' });
    expect(String(error)).toContain('no response within 100 ms');
  });

  test.each([
    ['57P01', 'terminating connection due to administrator command'],
    ['53300', 'sorry, too many clients already'],
    ['40001', 'could not serialize access'],
    ['25006', 'cannot execute INSERT in a read-only transaction'],
    ['EPIPE', 'write EPIPE'],
    [undefined, 'Connection terminated unexpectedly'],
  ])('an unreachable database is retried after %s', async (code, message) => {
    let failures = 2;
    const table = await migrated();
    const shaky = poolWith((_, run) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(Object.assign(new Error(message), { code })) : run();
    });

    const claim = await postgresLedger(shaky, { table }).claim('job', 'hash');

    expect(claim).toMatchObject({ status: 'claimed' });
    expect(failures).toBe(-1);
  });

  test('a task that an unreachable database cannot store is returned with the failure, and the call is not submitted again', async () => {
    const { emulator, videos } = emulatedVideos();
    const table = await migrated();
    const broken = poolWith((text, run) =>
      text.includes("'accepted'") ? Promise.reject(lost()) : run(),
    );
    const options = { ledger: postgresLedger(broken, { table, timeout: 300 }), callId: 'job' };

    const task = await videos.create(order, options);
    const again = await failureOf(
      videos.create(order, { ledger: postgresLedger(pool, { table }), callId: 'job' }),
    );

    expect(task.ref.id).toBe(emulator.videos.list[0]?.id);
    expect(task._ledger_error).toMatchObject({
      name: 'LedgerError',
      cause: { code: 'ECONNRESET' },
    });
    expect(again).toMatchObject({ name: 'VideoSubmitUnknownError', isInProgress: false });
    expect(countRequests(emulator).posts).toBe(1);
  });
});

describe('a lost response', () => {
  test('a lost response to a claim leaves the claim with that worker', async () => {
    const table = await migrated();
    const ledger = postgresLedger(losing(2, "'submitting', false"), { table });

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'claimed' });
  });

  test('a lost response to a claim, until it times out, leaves the claim to a later call of the same ledger', async () => {
    const { emulator, videos } = emulatedVideos();
    const table = await migrated();
    let isLosing = true;
    const line = poolWith(async (_, run) => {
      const result = await run();
      if (isLosing) throw lost();
      return result;
    });
    const ledger = postgresLedger(line, { table, timeout: 1_500 });
    const options = { ledger, callId: 'job' };

    const error = await failureOf(videos.create(order, options));
    isLosing = false;
    const other = postgresLedger(pool, { table });
    const seen = await failureOf(videos.create(order, { ...options, ledger: other }));
    const claims = await Promise.allSettled([1, 2, 3].map(() => videos.create(order, options)));

    expect(error).toMatchObject({ name: 'LedgerError' });
    expect(seen).toMatchObject({ name: 'VideoSubmitUnknownError' });
    // One submits; who asks after it has the task is given the same.
    expect(claims.filter(({ status }) => status === 'fulfilled')).not.toHaveLength(0);
    expect(countRequests(emulator).posts).toBe(1);
  });

  test('a lost response to a takeover leaves the claim, still unknown, with that worker', async () => {
    const table = await migrated();
    const ledger = postgresLedger(losing(1, "'submitting', false"), { table });
    const first = await claimIdOf(postgresLedger(pool, { table }).claim('job', 'hash'));

    const second = await ledger.claim('job', 'hash', first);
    await ledger.finish('job', 'not_submitted', {
      claimId: await claimIdOf(Promise.resolve(second)),
    });

    expect(second).toMatchObject({ status: 'claimed' });
    expect(await ledger.entry('job')).toMatchObject({ status: 'unknown' });
  });

  test('a lost response to accept() stores the task once', async () => {
    const table = await migrated();
    const ledger = postgresLedger(losing(2, "'accepted'"), { table });

    await ledger.accept('job', ref, await claimIdOf(ledger.claim('job', 'hash')));

    expect(await ledger.entry('job')).toMatchObject({ status: 'accepted', refs: [ref] });
  });
});

describe('a lease', () => {
  const lease = 1_000;

  test('a lease is renewed while a call is being submitted, and not after that', async () => {
    const table = await migrated();
    const renewals: number[] = [];
    const watched = poolWith((text, run) => {
      if (text.includes('SET lease_until')) renewals.push(performance.now());
      return run();
    });
    const ledger = postgresLedger(watched, { table, lease });

    const claimId = await claimIdOf(ledger.claim('job', 'hash'));
    await vi.waitFor(() => expect(renewals.length).toBeGreaterThan(4), { timeout: 10_000 });
    expect(await isAlive(table)).toBe(true);
    await ledger.accept('job', ref, claimId);
    const count = renewals.length;
    await new Promise((resolve) => {
      setTimeout(resolve, lease);
    });

    expect(renewals).toHaveLength(count);
  });

  test('a lease ends without renewals, by the clock of the database', async () => {
    const table = await migrated();
    const deaf = poolWith((text, run) =>
      text.includes('SET lease_until') ? new Promise(() => {}) : run(),
    );
    // Whatever the clock of this machine says.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2099, 0, 1) });
    await postgresLedger(deaf, { table, lease }).claim('job', '');

    expect(await isAlive(table)).toBe(true);
    await vi.waitFor(async () => expect(await isAlive(table)).toBe(false), { timeout: 10_000 });
    const { emulator, videos } = emulatedVideos();
    const ledger = postgresLedger(pool, { table });
    const error = await failureOf(videos.create(order, { ledger, callId: 'job' }));

    expect(error).toMatchObject({ name: 'VideoSubmitUnknownError', isInProgress: false });
    expect(emulator.requests).toHaveLength(0);
  });

  test('taken over by another worker is not renewed', async () => {
    const table = await migrated();
    const renewed: unknown[] = [];
    const watched = poolWith(async (text, run) => {
      const result = await run();
      if (text.includes('SET lease_until')) renewed.push(Object(result).rowCount);
      return result;
    });
    const first = await claimIdOf(postgresLedger(watched, { table, lease }).claim('job', 'hash'));
    await postgresLedger(pool, { table }).claim('job', 'hash', first);

    await vi.waitFor(() => expect(renewed).toEqual([0]), { timeout: 5_000 });
    await new Promise((resolve) => {
      setTimeout(resolve, lease);
    });

    expect(renewed).toEqual([0]);
  });
});

describe('a table', () => {
  test('a table that does not exist is reported with the fix before anything is sent', async () => {
    const { emulator, videos } = emulatedVideos();
    const table = newTable();
    const ledger = postgresLedger(pool, { table });

    const error = await failureOf(videos.create(order, { ledger, callId: 'job' }));
    await ledger.migrate();
    const task = await videos.create(order, { ledger, callId: 'job' });

    expect(error).toMatchObject({ name: 'LedgerError', outcome: 'not_sent', callId: 'job' });
    expect(String(error)).toContain(
      `The table ${table} of the ledger does not exist. Call ledger.migrate() once`,
    );
    expect(task.status).toBe('queued');
    expect(countRequests(emulator).posts).toBe(1);
  });

  test.each(['is_doubtful', 'lease_until', 'other_refs', 'updated_at'])(
    'a table of another version, without %s, is reported before anything is sent',
    async (column) => {
      const { emulator, videos } = emulatedVideos();
      const table = await migrated();
      await pool.query(`ALTER TABLE ${table} DROP COLUMN ${column}`);
      const ledger = postgresLedger(pool, { table });

      const error = await failureOf(videos.create(order, { ledger, callId: 'job' }));

      expect(error).toMatchObject({ name: 'LedgerError', outcome: 'not_sent' });
      expect(String(error)).toMatch(/of another version \(column "\w+".*Call ledger\.migrate\(\)/);
      expect(await failureOf(ledger.migrate())).toMatchObject({ name: 'LedgerError' });
      expect(emulator.requests).toHaveLength(0);
    },
  );

  test('a table of the first version is migrated, and keeps its rows', async () => {
    const table = await migrated();
    const ledger = postgresLedger(pool, { table });
    const claimId = await claimIdOf(ledger.claim('job', 'hash'));
    await pool.query(`ALTER TABLE ${table} DROP COLUMN request`);

    const refused = await failureOf(ledger.claim('other', 'hash'));
    await Promise.all(Array.from({ length: 8 }, () => ledger.migrate()));
    await ledger.finish('job', 'unknown', { claimId, requestId: '20260101-request' });

    expect(String(refused)).toMatch(/of another version \(column "request".*ledger\.migrate\(\)/);
    expect(await ledger.entry('job')).toMatchObject({ requestId: '20260101-request' });
  });

  test('a table with another claim’s request, left by an older version, returns none', async () => {
    const table = await migrated();
    const ledger = postgresLedger(pool, { table });
    await ledger.finish('job', 'unknown', {
      claimId: await claimIdOf(ledger.claim('job', 'hash')),
      requestId: 'request',
    });
    await pool.query(`UPDATE ${table} SET claim_id = 'later'`);

    const entry = await ledger.entry('job');

    expect(entry).toMatchObject({ status: 'unknown', claimId: 'later' });
    expect(entry).not.toHaveProperty('requestId');
  });

  test('a table is created once by concurrent calls, and keeps its rows', async () => {
    const table = newTable();
    const ledgers = Array.from({ length: 8 }, () => postgresLedger(pool, { table }));

    await Promise.all(ledgers.map((ledger) => ledger.migrate()));
    await ledgers[0]?.claim('job', 'hash');
    await Promise.all(ledgers.map((ledger) => ledger.migrate()));

    expect(await ledgers[1]?.entry('job')).toMatchObject({ status: 'submitting' });
  });

  test('a table may be in a schema, and have a name with capital letters', async () => {
    const schema = newTable();
    await pool.query(`CREATE SCHEMA ${schema}`);
    const ledger = postgresLedger(pool, { table: `${schema}.Calls` });

    await ledger.migrate();
    await ledger.claim('job', 'hash');

    expect((await pool.query(`SELECT call_id FROM ${schema}."Calls"`)).rows).toEqual([
      { call_id: 'job' },
    ]);
  });

  test('a table may be used and migrated without permission to create tables', async () => {
    const table = await migrated();
    const user = newTable();
    await pool.query(`CREATE USER ${user}`);
    const url = new URL(inject('postgresURL'));
    url.username = user;
    const limited = new Pool({ connectionString: url.href });
    onTestFinished(() => limited.end());
    const ledger = postgresLedger(limited, { table });

    const refused = await failureOf(ledger.claim('job', 'hash'));
    await pool.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${user}`);
    await ledger.migrate();

    expect(refused).toMatchObject({ name: 'LedgerError', cause: { code: '42501' } });
    expect(String(refused)).toContain(
      'PostgreSQL rejected a query of the ledger: permission denied',
    );
    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'claimed' });
  });

  test('a table contains readable text', async () => {
    const table = await migrated();
    const ledger = postgresLedger(pool, { table });
    await ledger.accept('job', ref, await claimIdOf(ledger.claim('job', 'hash')));
    await ledger.accept('job', { ...ref, id: 'task_2' }, 'late');
    await ledger.finish('job', 'completed');

    const { rows } = await pool.query(
      `SELECT call_id, input_hash, status, is_doubtful, ref, other_refs, ref::jsonb ->> 'id' AS id FROM ${table}`,
    );

    const rest = ',"v":1,"kind":"video","route":{"type":"openai"},"createdAt":5}';
    expect(rows).toEqual([
      {
        call_id: 'job',
        input_hash: 'hash',
        status: 'completed',
        is_doubtful: false,
        ref: `{"id":"task_1","baseURL":"https://gateway.test"${rest}`,
        other_refs: `\n{"id":"task_2","baseURL":"https://gateway.test"${rest}`,
        id: 'task_1',
      },
    ]);
  });
});

describe('postgresLedger() rejects', () => {
  const bad: readonly { title: string; field: string; given: unknown; options?: unknown }[] = [
    { title: 'no pool', field: 'pool', given: undefined },
    { title: 'null', field: 'pool', given: null },
    { title: 'an address', field: 'pool', given: 'postgres://localhost/app' },
    { title: 'what has no query()', field: 'pool', given: {} },
    { title: 'the class', field: 'pool', given: Pool },
    { title: 'options that are text', field: 'options', given: pool, options: 'calls' },
    { title: 'no options', field: 'options', given: pool, options: null },
    {
      title: 'a name that is none',
      field: 'table',
      given: pool,
      options: { table: 'calls; DROP TABLE jobs' },
    },
    { title: 'an empty name', field: 'table', given: pool, options: { table: '' } },
    { title: 'a name of three parts', field: 'table', given: pool, options: { table: 'a.b.c' } },
    {
      title: 'a name that is too long',
      field: 'table',
      given: pool,
      options: { table: 'x'.repeat(64) },
    },
    { title: 'a lease of no time', field: 'lease', given: pool, options: { lease: 0 } },
    { title: 'a lease as text', field: 'lease', given: pool, options: { lease: '30s' } },
    { title: 'a lease without end', field: 'lease', given: pool, options: { lease: Infinity } },
    { title: 'no time to answer', field: 'timeout', given: pool, options: { timeout: 0 } },
  ];

  test.each(bad)('$title, naming $field', ({ field, given, options }) => {
    const make = () => postgresLedger(untyped<PostgresPool>(given), untyped<object>(options));

    expect(make).toThrow(expect.objectContaining({ name: 'InvalidInputError', field }));
  });
});
