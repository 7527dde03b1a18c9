import fsPromises, {
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { shortHash, thisProcess } from '../../../src/adapters/node/durable.ts';
import { fileLedger } from '../../../src/adapters/node/index.ts';
import { makeRef } from '../../../src/tasks/ref.ts';
import type { SubmitClaim, SubmitLedger } from '../../../src/index.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { countRequests, emulatedVideos, order } from '../../helpers/videos.ts';
import { failureOf } from '../../helpers/clients.ts';

const ref = makeRef({ id: 'task_1', baseURL: 'https://gateway.test', createdAt: 5 });

async function getClaimId(asked: Promise<SubmitClaim>): Promise<string> {
  const found = await asked;
  return 'claimId' in found ? found.claimId : '';
}

const claimIdIn = (ledger: SubmitLedger): Promise<string> =>
  getClaimId(ledger.claim('job', 'hash'));

/** Passes the latest claim off as one of a process on another machine. */
async function moveAway(folder: string, number: number): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  const path = join(folder, names.find((name) => name.endsWith(`${sep}${number}.json`)) ?? '');
  const entry = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...entry, owner: { ...entry.owner, host: 'elsewhere' } }));
}

/** Replaces a function of the file system. */
function replaceOnDisk(changes: Partial<typeof fsPromises>): void {
  const originals = { ...fsPromises };
  Object.assign(fsPromises, changes);
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fsPromises, originals);
    syncBuiltinESMExports();
  });
}

function diskError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: broken`), { code, syscall });
}

/** A disk on which nothing can be written, from the given number of writes on. */
function fillDisk(after = 0): void {
  const { open } = fsPromises;
  let writes = 0;
  replaceOnDisk({
    open: async (...parameters) => {
      const file = await open(...parameters);
      const write: unknown = Reflect.get(file, 'writeFile');
      file.writeFile = async (...content) => {
        writes += 1;
        if (writes > after) throw diskError('ENOSPC', 'write');
        if (typeof write === 'function') await Reflect.apply(write, file, content);
      };
      return file;
    },
  });
}

describe('claims after a takeover', () => {
  test('the release of the first claim does not affect the second', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    // Claimed by another machine, and taken over at the caller's risk.
    const first = await getClaimId(ledger.claim('job', 'hash'));
    await ledger.claim('job', 'hash', first);
    await moveAway(folder, 2);

    // The first is refused after all; the second is still under way.
    await ledger.finish('job', 'not_submitted', { claimId: first });

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'submitting' });
    await ledger.accept('job', ref);
    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted', ref });
  });

  test('a late task of the first claim is found, even while the second is pending', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    const first = await getClaimId(ledger.claim('job', 'hash'));
    await ledger.claim('job', 'hash', first);
    await moveAway(folder, 2);

    await ledger.accept('job', ref, first);

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted', ref });
    expect(await readdir(folder)).toHaveLength(2);
  });

  test('a stored task cannot be released', async () => {
    const ledger = fileLedger(await temporaryFolder());
    await ledger.claim('job', 'hash');
    await ledger.accept('job', ref);

    await ledger.finish('job', 'not_submitted');

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted', ref });
  });

  test('a call that was rejected a hundred times has one file', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    for (let attempt = 0; attempt < 100; attempt += 1) {
      expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'claimed' });
      await ledger.finish('job', 'not_submitted');
    }
    await ledger.claim('job', 'hash');

    expect(await readdir(folder)).toHaveLength(1);
  });

  test('a claim during a release is the only one', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    for (let round = 0; round < 20; round += 1) {
      await ledger.claim('job', 'hash');
      const claimId = await claimIdIn(ledger);
      const [, ...claims] = await Promise.all([
        ledger.finish('job', 'not_submitted'),
        ledger.claim('job', 'hash', claimId),
        ledger.claim('job', 'hash'),
        ledger.claim('job', 'hash'),
      ]);
      expect(claims.filter(({ status }) => status === 'claimed').length).toBeLessThanOrEqual(1);
      await ledger.finish('job', 'not_submitted');
    }
  });

  test('deleting the file of an older claim does not make the call a new one', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash');
    await ledger.claim('job', 'hash', await claimIdIn(ledger));
    await ledger.accept('job', ref);
    const first = (await readdir(folder)).find((name) => name.endsWith('.1.json')) ?? '';
    await fsPromises.rm(join(folder, first));

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted', ref });
  });
});

/** Puts the later claims of a call where they were before calls had folders. */
async function flatten(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  for (const name of names.filter((found) => /[/\\]\d+\.json$/.test(found))) {
    await fsPromises.rename(join(folder, name), join(folder, name.replace(/[/\\]/, '.')));
  }
}

describe('a folder with many calls', () => {
  test('a folder with many calls is listed once, not at each claim', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    const { readdir: list } = fsPromises;
    const listed: unknown[] = [];
    const counted = (...parameters: unknown[]): Promise<unknown> => {
      listed.push(parameters[0]);
      return Reflect.apply(list, fsPromises, parameters);
    };
    replaceOnDisk(Object.fromEntries([['readdir', counted]]));

    for (let number = 0; number < 5; number += 1) {
      const callId = `job-${number}`;
      const claimId = await getClaimId(ledger.claim(callId, 'hash'));
      await ledger.accept(callId, ref, claimId);
      await ledger.finish(callId, 'completed', { claimId });
    }

    expect(listed.filter((path) => path === folder)).toHaveLength(1);
  });

  test('a folder of an older version keeps a task of a later claim without its first file', async () => {
    const folder = await temporaryFolder();
    const before = fileLedger(folder);
    await before.finish('job', 'not_submitted', {
      claimId: await getClaimId(before.claim('job', 'hash')),
    });
    await before.accept('job', ref, await getClaimId(before.claim('job', 'hash')));
    await flatten(folder);
    expect(await readdir(folder)).toContainEqual(expect.stringMatching(/^[\da-f]{32}\.2\.json$/));

    const ledger = fileLedger(folder);

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted', ref });
  });

  test('a folder of an older version keeps an unknown outcome, and lets one worker take it over', async () => {
    const folder = await temporaryFolder();
    const before = fileLedger(folder);
    const first = await getClaimId(before.claim('job', 'hash'));
    await before.claim('job', 'hash', first);
    await before.finish('job', 'unknown');
    await flatten(folder);

    const ledgers = Array.from({ length: 8 }, () => fileLedger(folder));
    const known = await claimIdIn(fileLedger(folder));
    const claims = await Promise.all(ledgers.map((ledger) => ledger.claim('job', 'hash', known)));

    expect(claims.filter(({ status }) => status === 'claimed')).toHaveLength(1);
    expect(await fileLedger(folder).entry('job')).toMatchObject({ status: 'submitting' });
  });

  test('files of killed processes are removed from the folder of a call', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash', await claimIdIn(ledger));
    const [name = ''] = (await readdir(folder)).filter((found) => !found.endsWith('.json'));
    const files = ['2.json.0123456789ab.tmp', '2.json.ba9876543210.tmp', 'notes.tmp'];
    const past = new Date(Date.now() - 2 * 3_600_000);
    await mkdir(join(folder, name), { recursive: true });
    for (const file of files) {
      await writeFile(join(folder, name, file), '');
      if (file !== files[1]) await utimes(join(folder, name, file), past, past);
    }

    await ledger.entry('job');

    const left = await readdir(join(folder, name));
    expect(left.filter((file) => file.endsWith('.tmp')).toSorted()).toEqual(files.slice(1));
  });
});

describe('in a runtime without a list of processes', () => {
  test('a claim of another process is considered alive', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash');
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('Requires run access'), { name: 'NotCapable' });
    });
    onTestFinished(() => kill.mockRestore());
    expect(await ledger.claim('job', 'hash')).toMatchObject({ isAlive: true });
    const [name = ''] = await readdir(folder);
    const entry = JSON.parse(await readFile(join(folder, name), 'utf8'));
    const owner = { ...entry.owner, pid: process.ppid };
    await writeFile(join(folder, name), JSON.stringify({ ...entry, owner }));

    expect(await ledger.claim('job', 'hash')).toMatchObject({ isAlive: undefined });
  });
});

/** The ledger's answer for a claim whose process id belongs to another process now. */
async function movedClaim(owner: object, claimedAt: Date, error?: Error) {
  const folder = await temporaryFolder();
  const ledger = fileLedger(folder);
  await ledger.claim('job', 'hash');
  const [name = ''] = await readdir(folder);
  const entry = JSON.parse(await readFile(join(folder, name), 'utf8'));
  const changed = { ...entry, claimedAt, owner: { ...entry.owner, ...owner } };
  await writeFile(join(folder, name), JSON.stringify(changed));
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    if (error !== undefined) throw error;
    return true;
  });
  onTestFinished(() => kill.mockRestore());
  return ledger.claim('job', 'hash');
}

describe('a reused process id', () => {
  const now = new Date();
  const earlier = new Date(Date.now() - 2 * 3_600_000);

  test.skipIf(process.platform !== 'linux')(
    'a reused process id of another user is detected by its start time',
    async () => {
      const error = diskError('EPERM', 'kill');
      const claim = await movedClaim({ pid: process.ppid, start: '1' }, now, error);

      expect(claim).toMatchObject({ isAlive: false });
    },
  );

  test.each([
    ['another process', { pid: process.ppid, start: '' }],
    ['this process', { start: '' }],
  ])('a reused process id expires if no start time is known: %s', async (_, owner) => {
    expect(await movedClaim(owner, now)).toMatchObject({ isAlive: true });
    expect(await movedClaim(owner, earlier)).toMatchObject({ isAlive: undefined });
  });
});

describe('a full disk', () => {
  test('a full disk prevents the claim, and so the submission', async () => {
    const { emulator, videos } = emulatedVideos();
    const folder = await temporaryFolder();
    const options = { ledger: fileLedger(folder), callId: 'job' };
    fillDisk();

    const error = await failureOf(videos.create(order, options));

    expect(error).toMatchObject({ name: 'LedgerError', cause: { code: 'ENOSPC' } });
    expect(emulator.requests).toHaveLength(0);
    expect(await readdir(folder)).toEqual([]);
  });

  test('a task that a full disk cannot store is returned, and nothing is charged twice', async () => {
    const { emulator, videos } = emulatedVideos();
    const folder = await temporaryFolder();
    const options = { ledger: fileLedger(folder), callId: 'job' };
    fillDisk(1);

    const task = await videos.create(order, options);
    const again = await failureOf(videos.create(order, options));

    expect(task).toMatchObject({ id: emulator.videos.list[0]?.id });
    expect(task._ledger_error).toMatchObject({ name: 'LedgerError', cause: { code: 'ENOSPC' } });
    expect(again).toMatchObject({ name: 'VideoSubmitUnknownError' });
    expect(countRequests(emulator).posts).toBe(1);
    expect(await readdir(folder)).toHaveLength(1);
  });
});

describe('a folder with other files', () => {
  test('a folder with other files is left unchanged', async () => {
    const folder = await temporaryFolder();
    const past = new Date(Date.now() - 48 * 3_600_000);
    const names = ['report.tmp', 'a.json.tmp', 'notes.json', '.hidden', 'x.1.json'];
    for (const name of names) {
      await writeFile(join(folder, name), 'mine');
      await utimes(join(folder, name), past, past);
    }
    await mkdir(join(folder, 'folder.tmp'));

    await fileLedger(folder).claim('job', 'hash');

    expect(await readdir(folder)).toEqual(expect.arrayContaining([...names, 'folder.tmp']));
  });

  test('a file of another call is treated as a claim by an unknown process', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash');
    await ledger.claim('other', 'hash');
    await ledger.accept('other', ref);
    const names = await readdir(folder);
    const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    const other = texts.findIndex((text) => JSON.parse(text).callId === 'other');
    await writeFile(join(folder, names[1 - other] ?? ''), texts[other] ?? '');

    const claim = await ledger.claim('job', 'hash');

    expect(claim).toMatchObject({ status: 'submitting', inputHash: '' });
  });

  test('call ids that differ only in characters that file names cannot have are distinguished', async () => {
    const ledger = fileLedger(await temporaryFolder());

    expect(await ledger.claim('\uD800', 'hash')).toMatchObject({ status: 'claimed' });
    expect(await ledger.claim('\uD801', 'hash')).toMatchObject({ status: 'claimed' });
    expect(await ledger.claim('\uFFFD', 'hash')).toMatchObject({ status: 'claimed' });
  });
});

test('lists a damaged entry, and removes what has finished before a time', async () => {
  const folder = await temporaryFolder();
  const ledger = fileLedger(folder);
  const past = new Date(Date.now() - 48 * 3_600_000);
  const first = await getClaimId(ledger.claim('old', 'hash'));
  const second = await getClaimId(ledger.claim('old', 'hash', first));
  await ledger.accept('old', ref, second);
  await ledger.accept('old', { ...ref, id: 'task_2' }, first);
  await ledger.finish('old', 'completed');
  for (const name of await readdir(folder, { recursive: true })) {
    await utimes(join(folder, name), past, past);
  }
  for (const callId of ['new', 'open']) await ledger.accept(callId, ref);
  await ledger.finish('new', 'completed');
  await writeFile(join(folder, `${'a'.repeat(32)}.1.json`), 'damaged');

  const removed = await ledger.removeFinished({ before: past.getTime() + 1_000 });
  const open = await ledger.open();

  expect(removed).toBe(1);
  expect(await ledger.entry('old')).toBeUndefined();
  expect(await ledger.entry('new')).toMatchObject({ status: 'finished' });
  expect(open).toMatchObject([{ callId: 'a'.repeat(32), since: undefined }, { callId: 'open' }]);
  expect(await readdir(folder)).toHaveLength(3);
});

test('creates a removed folder again', async () => {
  const folder = await temporaryFolder();
  const ledger = fileLedger(folder);
  await ledger.claim('job', 'hash');
  await rm(folder, { recursive: true });

  expect(await ledger.claim('other', 'hash')).toMatchObject({ status: 'claimed' });
  await rm(folder, { recursive: true });
  await ledger.finish('other', 'unknown');
  await ledger.accept('other', ref);
  expect(await ledger.claim('other', 'hash')).toMatchObject({ status: 'accepted', ref });
});

test('treats a dangling link as a claim by an unknown process', async () => {
  const folder = await temporaryFolder();
  const ledger = fileLedger(folder);
  await ledger.claim('job', 'hash');
  const [name = ''] = await readdir(folder);
  await rm(join(folder, name));
  const elsewhere = join(await temporaryFolder(), 'elsewhere');
  await symlink(elsewhere, join(folder, name));

  const claim = await ledger.claim('job', 'hash');

  expect(claim).toMatchObject({ status: 'submitting', inputHash: '', isAlive: undefined });
  await ledger.accept('job', ref);
  expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'accepted', ref });
  expect(await fsPromises.readdir(dirname(elsewhere))).toEqual([]);
});

test('flushes a new folder and its parents before a claim', async () => {
  const parent = await temporaryFolder();
  const { open } = fsPromises;
  const opened: string[] = [];
  replaceOnDisk({
    open: async (...parameters) => {
      opened.push(String(parameters[0]));
      return open(...parameters);
    },
  });
  const folder = join(parent, 'var', 'ledger');

  await fileLedger(folder).claim('job', 'hash');

  expect(opened.slice(0, 2).toSorted()).toEqual([parent, join(parent, 'var')]);
});

test('keeps the tasks of two workers that store them at the same time', async () => {
  const folder = await temporaryFolder();
  const first = await getClaimId(fileLedger(folder).claim('job', 'hash'));
  const second = await getClaimId(fileLedger(folder).claim('job', 'hash', first));
  const other = { ...ref, id: 'task_2' };

  await Promise.all([
    fileLedger(folder).accept('job', ref, first),
    fileLedger(folder).accept('job', other, second),
  ]);

  const entry = await fileLedger(folder).entry('job');
  expect(entry?.refs.map(({ id }) => id).toSorted()).toEqual(['task_1', 'task_2']);
});

/** Does something before the first use of a function of the file system, which may then find nothing. */
function beforeFirst(
  name: 'readFile' | 'readdir',
  act: () => Promise<void>,
  finds?: readonly unknown[],
): void {
  const original: unknown = Reflect.get(fsPromises, name);
  let isFirst = true;
  const replaced = async (...parameters: unknown[]): Promise<unknown> => {
    if (isFirst) {
      isFirst = false;
      await act();
      if (finds !== undefined) return finds;
    }
    if (typeof original !== 'function') throw new Error(`Missing ${name}()`);
    return Reflect.apply(original, fsPromises, parameters);
  };
  replaceOnDisk(Object.fromEntries([[name, replaced]]));
}

test.each([undefined, 'EMFILE'])(
  'a claim without hard links leaves that of an older version: %s',
  async (code) => {
    const folder = await temporaryFolder();
    const path = join(folder, `${shortHash('job', 32)}.1.json`);
    const claim = { v: 1, callId: 'job', inputHash: 'hash', owner: thisProcess(), claimedAt: '' };
    const { open } = fsPromises;
    replaceOnDisk({
      // Both workers have looked at the same time.
      async link() {
        await writeFile(path, JSON.stringify(claim));
        if (code !== undefined) {
          fsPromises.open = () => Promise.reject(diskError(code, 'open'));
          syncBuiltinESMExports();
        }
        throw diskError('EPERM', 'link');
      },
    });
    const ledger = fileLedger(folder);

    const answer = await ledger.claim('job', 'hash').catch(() => undefined);
    replaceOnDisk({ open });

    for (const known of [answer ?? (await ledger.claim('job', 'hash')), await ledger.entry('job')])
      expect(known).toMatchObject({ status: 'submitting', inputHash: 'hash' });
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(claim);
    expect(
      (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.json')),
    ).toEqual([basename(path)]);
  },
);

describe('a ledger that is read while another worker claims a released call', () => {
  test.each([
    {
      title: 'is not given the call when the old claim vanishes under it',
      name: 'readFile',
      finds: undefined,
    },
    {
      title: 'is not given the call when the list of files misses both claims',
      name: 'readdir',
      finds: [],
    },
  ] as const)('$title', async ({ name, finds }) => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash');
    await ledger.finish('job', 'not_submitted');
    const rival = fileLedger(folder);
    const answers: unknown[] = [];
    beforeFirst(name, async () => void answers.push(await rival.claim('job', 'hash')), finds);

    answers.push(await ledger.claim('job', 'hash'));

    expect(answers).toMatchObject([{ status: 'claimed' }, { status: 'submitting' }]);
    expect(await readdir(folder)).toHaveLength(1);
  });

  test('a ledger is not given a call whose only claim the list of files misses', async () => {
    const folder = await temporaryFolder();
    const ledger = fileLedger(folder);
    await ledger.claim('job', 'hash');
    await ledger.finish('job', 'not_submitted');
    // The second claim replaces the file of the first.
    await fileLedger(folder).claim('job', 'hash');
    beforeFirst('readdir', async () => {}, []);

    expect(await ledger.claim('job', 'hash')).toMatchObject({ status: 'submitting' });
  });
});
