import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { APIUserAbortError, VideoSubmitUnknownError, type VideoTask } from 'model-gateway';
import { downloadVideo, FileError, fileFromPath, fileLedger, saveTo } from 'model-gateway/node';
import { assert, equal, includes, caughtFrom, rejects } from '../harness/assert.ts';
import type { Check } from '../harness/check.ts';
import { fresh, type Remote } from '../harness/emulator.ts';
import type { World } from '../harness/world.ts';
import { isMp4, wavBytes } from './media.ts';

const order = { model: 'm-video', prompt: 'A paper boat', seconds: 1, size: '128x128' } as const;
const operation = 'videos.downloadContent';

/** A check with a folder of its own, which is removed after it. */
function inFolder(
  name: string,
  run: (world: World, folder: string) => Promise<string | undefined | void>,
): Check {
  return {
    name: `files: ${name}`,
    async run(world) {
      const folder = await mkdtemp(join(tmpdir(), 'model-gateway-runtime-'));
      try {
        return await run(world, folder);
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  };
}

/** A completed video, and its content. */
async function completed(world: World) {
  const { client, remote } = await fresh(world, { maxRetries: 0 });
  const { ref } = await client.videos.create(order);
  await remote.clock({ advance: 60_000 });
  const task: VideoTask = await client.videos.retrieve(ref);
  const content = await (await client.videos.downloadContent(task)).bytes();
  await remote.quirks({ contentRange: 'honoured' });
  return { client, remote, task, content };
}

/** The ranges that downloads have asked for, after the first plain one. */
async function readRanges(remote: Remote): Promise<(string | undefined)[]> {
  const seen = (await remote.requests()).filter((request) => request.operation === operation);
  return seen.slice(1).map(({ headers }) => headers['range']);
}

async function isFile(path: string, content: Uint8Array): Promise<boolean> {
  return content.length > 0 && (await readFile(path)).equals(content);
}

/** Files on disk: only where there is a disk. */
export const fileChecks: readonly Check[] = [
  inFolder('fileFromPath() is uploaded whole, any number of times', async (world, folder) => {
    const { client, remote } = await fresh(world);
    const path = join(folder, 'ünï 1.wav');
    await writeFile(path, wavBytes(20));
    const file = await fileFromPath(path);
    equal([file.name, file.size], [basename(path), 160_044], 'the file');
    // Bun names the type itself, and in another way.
    assert(/^audio\/(x-)?wav$/.test(file.type), `The type is ${file.type}`);
    equal((await file.arrayBuffer()).byteLength, file.size, 'bytes in memory');
    for (let time = 0; time < 2; time += 1) {
      const answer = await client.audio.translations.create({ model: 'm-translation', file });
      includes(answer.text, '20.0 seconds', 'what arrived');
    }
    const uploads = (await remote.requests()).map(({ body }) => body.files?.[0]);
    equal(
      uploads.map((upload) => [upload?.filename, upload?.type, upload?.size]),
      // Vendors accept this name of the type alone.
      [0, 1].map(() => [file.name, 'audio/wav', file.size]),
      'uploads',
    );
  }),
  inFolder(
    'fileFromPath() refuses what cannot be read, and what has changed',
    async (world, folder) => {
      const { client, remote } = await fresh(world);
      includes(
        String(await caughtFrom(fileFromPath(join(folder, 'none.wav')))),
        'does not exist',
        'text',
      );
      includes(String(await caughtFrom(fileFromPath(folder))), 'is not a file', 'text of a folder');
      const path = join(folder, 'a.wav');
      await writeFile(path, wavBytes(1));
      const file = await fileFromPath(path);
      await appendFile(path, 'more');
      const call = client.audio.translations.create({ model: 'm-translation', file });
      await call.catch(() => {});
      const answered = (await remote.requests()).filter(({ status }) => status === 200);
      // Bun reads files for a form itself, and sends what it finds then.
      equal(answered.length, world.family === 'bun' ? 1 : 0, 'answers');
    },
  ),
  inFolder(
    'downloadVideo() saves the whole, from here and from elsewhere',
    async (world, folder) => {
      const { client, remote, task, content } = await completed(world);
      const to = join(folder, 'boat.mp4');
      let last = 0;
      const saved = await downloadVideo(client, task, {
        to,
        onProgress: ({ received }) => {
          last = received;
        },
      });
      equal(saved, { path: to, bytes: content.length }, 'what was saved');
      equal(last, content.length, 'progress');
      assert(isMp4(content) && (await isFile(to, content)), 'The file is not the content');
      await remote.quirks({ contentDelivery: 'redirect', fileOrigin: 'other' });
      await downloadVideo(client, task.ref, { to });
      assert(await isFile(to, content), 'The file from elsewhere is not the content');
      equal(await readdir(folder), ['boat.mp4'], 'files');
      return `${content.length} bytes`;
    },
  ),
  inFolder('downloadVideo() goes on where it broke off', async (world, folder) => {
    const { client, remote, task, content } = await completed(world);
    const to = join(folder, 'boat.mp4');
    await remote.fail({ type: 'cut', bytes: 1_000 }, { operation });
    await caughtFrom(downloadVideo(client, task, { to, resume: true, maxRetries: 0 }));
    equal((await readdir(folder)).length, 2, 'files of a part');
    await downloadVideo(client, task, { to, resume: true });
    assert(await isFile(to, content), 'The file is not the content');
    equal(await readdir(folder), ['boat.mp4'], 'files');
    equal(await readRanges(remote), [undefined, 'bytes=1000-'], 'ranges');
  }),
  inFolder('downloadVideo() begins again when ranges are ignored', async (world, folder) => {
    const { client, remote, task, content } = await completed(world);
    await remote.quirks({ contentRange: 'ignored' });
    await remote.fail({ type: 'cut', bytes: 1_000 }, { operation });
    const to = join(folder, 'boat.mp4');
    await downloadVideo(client, task, { to, maxRetries: 1 });
    assert(await isFile(to, content), 'The file is not the content');
    equal(await readdir(folder), ['boat.mp4'], 'files');
  }),
  inFolder('an abort ends a download at once, and leaves nothing', async (world, folder) => {
    const { client, remote, task } = await completed(world);
    await remote.fail({ type: 'stall', bytes: 1_000 }, { operation });
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = (): void => void setTimeout(() => controller.abort(), 50);
    const to = join(folder, 'boat.mp4');
    const startedAt = Date.now();
    await rejects(downloadVideo(client, task, { to, signal, onProgress }), APIUserAbortError);
    equal(await readdir(folder), [], 'files');
    return `${Date.now() - startedAt} ms`;
  }),
  inFolder('a file that cannot be written says why, and leaves nothing', async (world, folder) => {
    const { client, task } = await completed(world);
    const save = (to: string, onProgress?: () => void) =>
      rejects(downloadVideo(client, task, { to, onProgress }), FileError);
    equal((await save(folder)).code, 'EISDIR', 'a folder');
    equal((await save(join(folder, 'none', 'a.mp4'))).code, 'ENOENT', 'a missing folder');
    const to = join(folder, 'a.mp4');
    let isMade = false;
    const error = await save(to, () => {
      if (!isMade) void mkdir(to);
      isMade = true;
    });
    assert(/^(EISDIR|ENOTEMPTY|EEXIST|EPERM)$/.test(error.code), `The code is ${error.code}`);
    equal(await readdir(folder), ['a.mp4'], 'files');
  }),
  inFolder('saveTo() saves speech, bytes and images', async (world, folder) => {
    const { client } = await fresh(world);
    const params = { model: 'm-speech', voice: 'alloy', input: 'Hello there' };
    const speech = await saveTo(await client.audio.speech.create(params), join(folder, 'a.mp3'));
    assert(speech.bytes > 100, 'Missing speech');
    const { data } = await client.images.generate({ model: 'm-image', prompt: 'A circle' });
    const [image] = data;
    if (image === undefined) throw new Error('Missing image');
    assert((await saveTo(image, join(folder, 'b.png'))).bytes > 50, 'Missing image');
    const bytes = new Uint8Array([1, 2, 3]);
    await saveTo(bytes, join(folder, 'c'));
    await saveTo(new Blob([bytes]), join(folder, 'c'));
    assert(await isFile(join(folder, 'c'), bytes), 'The bytes are other ones');
    equal((await readdir(folder)).toSorted(), ['a.mp3', 'b.png', 'c'], 'files');
  }),
  inFolder('fileLedger() gives a call to one, and keeps its task', async (world, folder) => {
    const { client, remote } = await fresh(world);
    await remote.clock({ speed: 20 });
    const ledger = fileLedger(join(folder, 'new', 'ledger'));
    const claims = await Promise.all(Array.from({ length: 20 }, () => ledger.claim('a', 'hash')));
    equal(claims.filter(({ status }) => status === 'claimed').length, 1, 'claims');
    const other = await fileLedger(join(folder, 'new', 'ledger')).claim('a', 'hash');
    equal('isAlive' in other && other.isAlive, true, 'whether this process runs');
    await ledger.finish('a', 'not_submitted');
    equal((await ledger.claim('a', 'hash')).status, 'claimed', 'a call that was given back');

    const options = { ledger, callId: 'job', interval: 250 };
    const first = await client.videos.createAndWait(order, options);
    const again = await client.videos.createAndWait(order, options);
    equal(again.id, first.id, 'the task');
    equal(await remote.charges(), 1, 'charges');
  }),
  inFolder('a ledger never submits an orphan on its own', async (world, folder) => {
    const { client, remote } = await fresh(world);
    const options = { ledger: fileLedger(folder), callId: 'job' };
    await remote.fail({ type: 'reset', when: 'after-charge' });
    await rejects(client.videos.create(order, options), VideoSubmitUnknownError);
    await rejects(client.videos.create(order, options), VideoSubmitUnknownError);
    equal(await remote.charges(), 1, 'charges');
  }),
];
