import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Gateway, toStreamingFile } from '../../src/index.ts';
import { fileFromPath } from '../../src/adapters/node/index.ts';
import type { UploadProgress } from '../../src/options/options.ts';
import { createEmulator, type EmulatorServer } from '../../src/testing/index.ts';
import type { Uploadable } from '../../src/uploads/types.ts';
import { failureOf } from '../helpers/clients.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const emulator = createEmulator();
let server: EmulatorServer;
let client: Gateway;
beforeAll(async () => {
  server = await emulator.listen();
  client = new Gateway({ baseURL: server.url, apiKey: emulator.apiKey, logLevel: 'off' });
});
afterAll(() => server.close());

const size = 300_000;
const sound = new Uint8Array(size);

async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < size; at += 50_000) yield sound.subarray(at, at + 50_000);
}

const talk = () => new File([sound], 'talk.mp3');

const model = 'm-translation';

/** Progress events of an upload. */
async function collectProgress(file: Uploadable): Promise<UploadProgress[]> {
  const told: UploadProgress[] = [];
  const onUploadProgress = (progress: UploadProgress) => void told.push(progress);
  await client.audio.translations.create({ model, file }, { onUploadProgress });
  return told;
}

describe('onUploadProgress', () => {
  test.each([
    { name: 'a file in memory', makeImage: talk, total: size },
    { name: 'a file on disk', makeImage: undefined, total: size },
    {
      name: 'a stream of a known size',
      makeImage: () => toStreamingFile(pieces(), 'talk.mp3', { size }),
      total: size,
    },
    { name: 'a stream', makeImage: () => toStreamingFile(pieces(), 'talk.mp3'), total: undefined },
  ])('reports the progress of $name', async ({ makeImage, total }) => {
    const folder = await temporaryFolder();
    const path = join(folder, 'talk.mp3');
    await writeFile(path, sound);

    const told = await collectProgress(makeImage?.() ?? (await fileFromPath(path)));

    const sent = told.map((progress) => progress.sent);
    expect(told.length).toBeGreaterThan(2);
    expect(sent).toEqual(sent.toSorted((one, other) => one - other));
    expect(sent.at(-1)).toBe(total ?? size);
    expect(new Set(told.map((progress) => progress.total))).toEqual(new Set([total]));
  });

  test('the files of a form leave no listeners', async () => {
    const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
    const removed = vi.spyOn(AbortSignal.prototype, 'removeEventListener');
    const form = new FormData();
    for (let at = 0; at < 20; at += 1) form.append('file', new File([`${at}`], `${at}.txt`));
    const own = client.withOptions({
      fetch: async (_, init) => {
        added.mockClear();
        removed.mockClear();
        await new Response(init?.body).text();
        const files = added.mock.calls.length;
        expect(files).toBeGreaterThanOrEqual(20);
        expect(files - removed.mock.calls.length).toBeLessThan(3);
        return Response.json({});
      },
    });

    await own.post('/v1/x', { body: form });
    vi.restoreAllMocks();
  });

  test('a file is not read further after its upload was aborted', async () => {
    const stop = new AbortController();
    let reading: Promise<unknown> | undefined;
    const own = client.withOptions({
      // Reads to the end whatever happens, as Node does.
      fetch: (input, init) => {
        reading = new Response(init?.body).arrayBuffer().catch((error: unknown) => error);
        return fetch(input, { method: 'POST', signal: init?.signal ?? null, body: 'unfinished' });
      },
    });
    const onUploadProgress = vi.fn(() => stop.abort(new Error('left')));

    const call = own.audio.translations.create(
      { model, file: talk() },
      { onUploadProgress, signal: stop.signal },
    );

    expect(await failureOf(call)).toMatchObject({ name: 'APIUserAbortError' });
    expect(await reading).toMatchObject({ message: 'left' });
    expect(onUploadProgress.mock.calls.length).toBeLessThan(3);
  });

  test('reports a file that the caller’s fetch sends', async () => {
    const own = client.withOptions({ fetch: (input, init) => fetch(input, init) });
    const onUploadProgress = vi.fn();

    await own.audio.translations.create({ model, file: talk() }, { onUploadProgress });

    expect(onUploadProgress.mock.lastCall).toEqual([{ sent: size, total: size }]);
  });

  test('sums all files of a form, without text', async () => {
    const told: UploadProgress[] = [];
    const image = [new File([sound], 'a.png'), new File([sound], 'b.png')];

    await client.images.edit(
      { model: 'm-image', prompt: 'A hat', image },
      { onUploadProgress: (progress) => told.push(progress) },
    );

    expect(told.at(-1)).toEqual({ sent: 2 * size, total: 2 * size });
  });

  test('starts again for a retry', async () => {
    emulator.fail({ fault: { type: 'error', status: 503 }, times: 1 });

    const told = await collectProgress(talk());

    expect(told.filter(({ sent, total }) => sent === total)).toHaveLength(2);
  });

  test('an error that it throws does not end an upload that may be charged', async () => {
    const charged = emulator.charges.length;
    const onUploadProgress = vi.fn(() => {
      throw new Error('no display');
    });

    await client.audio.translations.create({ model, file: talk() }, { onUploadProgress });

    expect(onUploadProgress).toHaveBeenCalled();
    expect(emulator.charges).toHaveLength(charged + 1);
  });
});
