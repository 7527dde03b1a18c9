import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseVideoTaskRef } from '../src/tasks/task-ref.ts';
import { createEmulator } from '../src/testing/index.ts';
import { countRequests, videosOf } from './helpers/videos.ts';

/** The signal that ended a program. */
function run(program: string, parameters: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program, ...parameters], { timeout: 30_000 }, (error) => {
      resolve(error?.signal ?? undefined);
    });
  });
}

test('a process that is killed while it waits loses nothing: the next one waits on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'videos-crash-'));
  await using emulator = createEmulator({ videoDuration: 60_000 });
  const { url } = await emulator.listen();
  const file = join(folder, 'ref.json');
  const program = join(import.meta.dirname, 'helpers', 'submit-and-crash.ts');

  const signal = await run(program, [url, emulator.apiKey, file]);
  const ref = parseVideoTaskRef(JSON.parse(await readFile(file, 'utf8')));
  emulator.videos.complete(ref.id);
  const done = await videosOf({ baseURL: url, apiKey: emulator.apiKey }).wait(ref, {
    interval: 250,
  });

  expect(signal).toBe('SIGKILL');
  expect(done).toMatchObject({ id: ref.id, status: 'completed' });
  expect(countRequests(emulator)).toEqual({ posts: 1, gets: 2 });
  expect(emulator.charges).toHaveLength(1);
  await rm(folder, { recursive: true });
}, 60_000);
