import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { InvalidInputError } from '../../../src/index.ts';
import { fileLedger } from '../../../src/adapters/node/index.ts';
import { makeRef } from '../../../src/tasks/ref.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { failureOf } from '../../helpers/clients.ts';

const ref = makeRef({ id: 'task_1', baseURL: 'https://gateway.test', createdAt: 5, callId: 'job' });

describe('the files of fileLedger()', () => {
  test('the files of fileLedger() contain the handle, and are complete at any time', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash');
    await ledger.accept('job', ref);

    const names = await readdir(folder);
    const text = await readFile(join(folder, names[0] ?? ''), 'utf8');

    expect(names).toEqual([expect.stringMatching(/^[\da-f]{32}\.1\.json$/)]);
    expect(JSON.parse(text)).toMatchObject({ v: 1, callId: 'job', inputHash: 'hash', ref });
  });

  test('the files of fileLedger() are read by another ledger on the same folder', async () => {
    const folder = await temporaryFolder();
    await fileLedger(folder).claim('job', 'hash');
    await fileLedger(folder).accept('job', ref);

    expect(await fileLedger(folder).claim('job', 'hash')).toMatchObject({ ref });
  });

  test.each(['', '{', 'null', '[]', '{"v":2}'])(
    'treats an entry of %j as a claim by an unknown process',
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

  test('the files of fileLedger() show that their process has ended', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash');
    const [name = ''] = await readdir(folder);
    const path = join(folder, name);
    const entry = JSON.parse(await readFile(path, 'utf8'));
    const claimAs = async (owner: object) => {
      await writeFile(path, JSON.stringify({ ...entry, owner: { ...entry.owner, ...owner } }));
      return ledger.claim('job', 'hash');
    };

    expect(await claimAs({})).toMatchObject({ isAlive: true });
    expect(await claimAs({ pid: 4_194_303 })).toMatchObject({ isAlive: false });
    expect(await claimAs({ pid: 1, start: '1' })).toMatchObject({ isAlive: false });
    expect(await claimAs({ host: 'elsewhere' })).toMatchObject({ isAlive: undefined });
  });

  test('the files of killed processes are removed after an hour', async () => {
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

  test('fileLedger() rejects a file as the folder', async () => {
    const path = join(await temporaryFolder(), 'file');
    await writeFile(path, '');
    const ledger = fileLedger(path);

    expect(await failureOf(ledger.claim('job', 'hash'))).toMatchObject({ code: 'EEXIST' });
    expect(await failureOf(ledger.claim('job', 'hash'))).toMatchObject({ code: 'EEXIST' });
  });

  test('fileLedger() requires a folder', () => {
    expect(() => fileLedger('')).toThrow(InvalidInputError);
    expect(() => Reflect.apply(fileLedger, undefined, [])).toThrow(InvalidInputError);
  });

  test('work on file systems without hard links', async () => {
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
