import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { InvalidInputError } from '../../src/errors/gateway-error.ts';
import { fileLedger } from '../../src/node/index.ts';
import { memoryLedger } from '../../src/videos/ledger.ts';
import { makeRef } from '../../src/videos/ref.ts';
import type { SubmitLedger } from '../../src/videos/ledger.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { failureOf } from '../helpers/videos.ts';

const ref = makeRef({ id: 'task_1', baseURL: 'https://gateway.test', createdAt: 5, callId: 'job' });

const makers: [string, () => Promise<SubmitLedger>][] = [
  ['memoryLedger()', async () => memoryLedger()],
  ['fileLedger()', async () => fileLedger(join(await temporaryFolder(), 'ledger'))],
];

describe.each(makers)('%s', (_, make) => {
  test('a call goes from claimed to accepted to finished', async () => {
    const ledger = await make();

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'claimed' });
    expect(await ledger.claim('job', 'hash')).toEqual({
      status: 'submitting',
      inputHash: 'hash',
      claimId: expect.any(String),
      isAlive: true,
    });
    await ledger.accept('job', ref);
    expect(await ledger.claim('job', 'other')).toEqual({
      status: 'accepted',
      inputHash: 'hash',
      ref,
    });
    await ledger.finish('job', 'completed');
    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'finished', ref });
  });

  test('calls do not touch each other', async () => {
    const ledger = await make();

    for (const callId of ['a', 'A', '../a', 'a/b', 'ä', ' ', 'x'.repeat(5_000)]) {
      // eslint-disable-next-line no-await-in-loop -- one after the other
      expect(await ledger.claim(callId, 'hash')).toMatchObject({ status: 'claimed' });
    }
  });

  test('of many that claim at the same time one gets it', async () => {
    const ledger = await make();

    const claims = await Promise.all(Array.from({ length: 50 }, () => ledger.claim('job', 'hash')));

    expect(claims.filter(({ status }) => status === 'claimed')).toHaveLength(1);
  });

  test('a call that provably made no task may be claimed again', async () => {
    const ledger = await make();
    await ledger.claim('job', 'hash');

    await ledger.finish('job', 'not_submitted');

    expect(await ledger.claim('job', 'other')).toMatchObject({ status: 'claimed' });
  });

  test('a call of unknown fate stays claimed, and says that nobody works at it', async () => {
    const ledger = await make();
    await ledger.claim('job', 'hash');

    await ledger.finish('job', 'unknown');

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'unknown', isAlive: false });
  });

  test('one that takes over names the claim; of many, one gets it', async () => {
    const ledger = await make();
    await ledger.claim('job', 'hash');
    await ledger.finish('job', 'unknown');
    const found = await ledger.claim('job', 'hash');
    const claimId = 'claimId' in found ? found.claimId : '';

    const wrong = await ledger.claim('job', 'hash', 'another');
    const takers = Array.from({ length: 20 }, () => ledger.claim('job', 'hash', claimId));

    const claims = await Promise.all(takers);
    expect(wrong).toMatchObject({ status: 'unknown' });
    expect(claims.filter(({ status }) => status === 'claimed')).toHaveLength(1);
  });

  test('a claim that was taken over and made no task leaves the doubt about the first', async () => {
    const ledger = await make();
    await ledger.claim('job', 'hash');
    await ledger.finish('job', 'unknown');
    const found = await ledger.claim('job', 'hash');
    await ledger.claim('job', 'hash', 'claimId' in found ? found.claimId : '');

    await ledger.finish('job', 'not_submitted');

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'unknown' });
  });

  test('what was accepted is never lost to a later word', async () => {
    const ledger = await make();
    await ledger.claim('job', 'hash');
    await ledger.accept('job', ref);

    for (const end of ['not_submitted', 'unknown', 'failed'] as const) {
      // eslint-disable-next-line no-await-in-loop -- one after the other
      await ledger.finish('job', end);
      // eslint-disable-next-line no-await-in-loop
      expect(await ledger.claim('job', 'hash')).toMatchObject({ ref });
    }
  });

  test('a task that was found by hand can be entered', async () => {
    const ledger = await make();

    await ledger.accept('job', ref);

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted', ref });
  });

  test('the end of a call that nobody claimed is no news', async () => {
    const ledger = await make();

    await ledger.finish('job', 'not_submitted');

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'claimed' });
  });
});

describe('the files of fileLedger()', () => {
  test('hold the handle, and are whole at any time', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash');
    await ledger.accept('job', ref);

    const names = await readdir(folder);
    const text = await readFile(join(folder, names[0] ?? ''), 'utf8');

    expect(names).toEqual([expect.stringMatching(/^[\da-f]{32}\.1\.json$/)]);
    expect(JSON.parse(text)).toMatchObject({ v: 1, callId: 'job', inputHash: 'hash', ref });
  });

  test('are found by another ledger on the same folder', async () => {
    const folder = await temporaryFolder();
    await fileLedger(folder).claim('job', 'hash');
    await fileLedger(folder).accept('job', ref);

    expect(await fileLedger(folder).claim('job', 'hash')).toMatchObject({ ref });
  });

  test.each(['', '{', 'null', '[]', '{"v":2}'])(
    'one that holds %j counts as claimed by nobody knows whom',
    async (text) => {
      const folder = await temporaryFolder();
      const ledger = fileLedger(folder);
      await ledger.claim('job', 'hash');
      const [name = ''] = await readdir(folder);
      await writeFile(join(folder, name), text);

      const claim = await fileLedger(folder).claim('job', 'hash');

      expect(claim).toMatchObject({ status: 'submitting', inputHash: '', isAlive: undefined });
    },
  );

  test('of processes that are gone say so', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash');
    const [name = ''] = await readdir(folder);
    const path = join(folder, name);
    const entry = JSON.parse(await readFile(path, 'utf8'));
    const claimOf = async (owner: object) => {
      await writeFile(path, JSON.stringify({ ...entry, owner: { ...entry.owner, ...owner } }));
      return ledger.claim('job', 'hash');
    };

    expect(await claimOf({})).toMatchObject({ isAlive: true });
    expect(await claimOf({ pid: 4_194_303 })).toMatchObject({ isAlive: false });
    expect(await claimOf({ pid: 1, start: '1' })).toMatchObject({ isAlive: false });
    expect(await claimOf({ host: 'elsewhere' })).toMatchObject({ isAlive: undefined });
  });

  test('left over by killed processes are removed after an hour', async () => {
    const folder = await temporaryFolder();
    const names = ['0123456789ab', 'ba9876543210'].map(
      (random) => `${'0'.repeat(32)}.1.json.${random}.tmp`,
    );
    const [old = '', fresh = ''] = names;
    await Promise.all(names.map((name) => writeFile(join(folder, name), '')));
    const past = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(folder, old), past, past);

    await fileLedger(folder).claim('job', 'hash');

    const left = await readdir(folder);
    expect(left).toHaveLength(2);
    expect(left).toContain(fresh);
  });

  test('cannot be in a file', async () => {
    const path = join(await temporaryFolder(), 'file');
    await writeFile(path, '');
    const ledger = fileLedger(path);

    expect(await failureOf(ledger.claim('job', 'hash'))).toMatchObject({ code: 'EEXIST' });
    expect(await failureOf(ledger.claim('job', 'hash'))).toMatchObject({ code: 'EEXIST' });
  });

  test('need a folder', () => {
    expect(() => fileLedger('')).toThrow(InvalidInputError);
    expect(() => Reflect.apply(fileLedger, undefined, [])).toThrow(InvalidInputError);
  });

  test('work where files cannot have two names', async () => {
    const { default: fsPromises } = await import('node:fs/promises');
    const { syncBuiltinESMExports } = await import('node:module');
    const refused = Object.assign(new Error('no links here'), { code: 'EPERM' });
    const link = vi.spyOn(fsPromises, 'link').mockRejectedValue(refused);
    syncBuiltinESMExports();
    const ledger = fileLedger(await temporaryFolder());

    const claims = await Promise.all(Array.from({ length: 20 }, () => ledger.claim('job', 'hash')));
    link.mockRestore();
    syncBuiltinESMExports();

    expect(claims.filter(({ status }) => status === 'claimed')).toHaveLength(1);
  });
});
