import fsPromises, { type FileHandle, readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFile } from '../../../src/adapters/node/durable.ts';
import { downloadVideo, fileLedger, saveTo } from '../../../src/adapters/node/index.ts';
import { makeRef } from '../../../src/tasks/ref.ts';
import { contentServer } from '../../helpers/content-server.ts';
import { breakDisk } from '../../helpers/faults.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

/** The name of a file without what is random in it. */
function plain(path: unknown): string {
  const name = basename(String(path));
  if (name.endsWith('.tmp') || name.endsWith('.part')) return 'temporary';
  return /^[\da-f]{32}\./.test(name) ? 'entry' : name;
}

/** Operations on the disk, in order. */
function watchDisk(): string[] {
  const seen: string[] = [];
  const { open, link, rename } = fsPromises;
  const watch = (file: FileHandle, name: string): FileHandle => {
    for (const method of ['write', 'writeFile', 'sync'] as const) {
      const original: unknown = Reflect.get(file, method);
      if (typeof original !== 'function') throw new Error(`Missing ${method}()`);
      Reflect.set(file, method, (...parameters: unknown[]): unknown => {
        seen.push(`${method === 'sync' ? 'sync' : 'write'} ${name}`);
        return Reflect.apply(original, file, parameters);
      });
    }
    return file;
  };
  Object.assign(fsPromises, {
    open: async (...parameters: Parameters<typeof open>) =>
      watch(await open(...parameters), plain(parameters[0])),
    link: async (from: string, to: string) => {
      await link(from, to);
      seen.push(`name ${plain(to)}`);
    },
    rename: async (from: string, to: string) => {
      await rename(from, to);
      seen.push(`name ${plain(to)}`);
    },
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fsPromises, { open, link, rename });
    syncBuiltinESMExports();
  });
  return seen;
}

// A power failure keeps what was flushed, and nothing else: first the bytes, then their name.
test('flushes a claim, a task, an end and their folder', async () => {
  const folder = await temporaryFolder();
  const ref = makeRef({ id: 'task_1', baseURL: 'https://gateway.test', createdAt: 5 });
  const ledger = fileLedger(folder);
  const seen = watchDisk();
  const flushed = ['write temporary', 'sync temporary', 'name entry', `sync ${basename(folder)}`];

  await ledger.claim('job', 'hash');
  expect(seen.splice(0)).toEqual(flushed);
  await ledger.accept('job', ref);
  expect(seen.splice(0)).toEqual(flushed);
  await ledger.finish('job', 'completed');
  expect(seen.splice(0)).toEqual(flushed);
});

test('flushes a file before it is renamed, and the folder afterwards', async () => {
  const { client } = await contentServer();
  const folder = await temporaryFolder();
  const seen = watchDisk();
  const flushed = ['write temporary', 'sync temporary', 'name out', `sync ${basename(folder)}`];
  const once = () => seen.splice(0).filter((step, index, all) => step !== all[index - 1]);

  await downloadVideo(client, 'task_1', { to: join(folder, 'out') });
  expect(once()).toEqual(flushed);
  await saveTo(new Blob(['abc']), join(folder, 'out'));
  expect(once()).toEqual(flushed);
});

describe.each([true, false])('a new file, on a disk with hard links: %s', (hasLinks) => {
  const faults = [true, false].flatMap((isLasting) =>
    (['before', 'after'] as const).map((moment) => ({ moment, isLasting })),
  );

  test.each(faults)(
    'a new file is returned only if it was written, when the disk fails $moment a step, lasting: $isLasting',
    async (fault) => {
      const folder = await temporaryFolder();
      for (let step = 1, isReached = true; isReached; step += 1) {
        const theirs = join(folder, `theirs.${step}`);
        const ours = join(folder, `ours.${step}`);
        await writeFile(theirs, 'theirs');
        const disk = breakDisk(hasLinks);
        const results: unknown[] = [];
        isReached = await disk.during({ ...fault, step }, async () => {
          results.push(await createFile(theirs, 'ours').catch(String));
          results.push(await createFile(ours, 'ours').catch(String));
        });

        expect(await readFile(theirs, 'utf8')).toBe('theirs');
        expect(results[0]).not.toBe(theirs);
        if (results[1] === ours) expect(await readFile(ours, 'utf8')).toBe('ours');
      }
    },
  );
});
