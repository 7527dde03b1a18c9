import fsPromises, { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  APIUserAbortError,
  ContentExpiredError,
  ContentNotReadyError,
  Gateway,
  InvalidInputError,
  UnexpectedResponseError,
} from '../../../src/index.ts';
import {
  downloadVideo,
  FileError,
  saveTo,
  type SaveProgress,
} from '../../../src/adapters/node/index.ts';
import { createEmulator } from '../../../src/testing/index.ts';
import { contentServer, someBytes } from '../../helpers/content-server.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { order } from '../../helpers/videos.ts';
import { failureOf } from '../../helpers/clients.ts';

/** The names in a folder, hidden ones too. */
const namesIn = (folder: string) => readdir(folder);

async function fileNamed(name = 'out.mp4') {
  const folder = await temporaryFolder();
  return { folder, to: join(folder, name) };
}

beforeEach(() => {
  // Pauses before a download is gone on with are as short as can be.
  const { setTimeout: original } = globalThis;
  vi.stubGlobal('setTimeout', (run: () => void, milliseconds = 0, ...rest: []) =>
    original(run, milliseconds >= 1_000 && milliseconds < 10_000 ? 1 : milliseconds, ...rest),
  );
});

describe('downloadVideo()', () => {
  test('writes the whole content, reports progress, and leaves no other files', async () => {
    const { client, setup, requests } = await contentServer();
    const { folder, to } = await fileNamed();
    const progress: SaveProgress[] = [];

    const saved = await downloadVideo(client, 'task_1', {
      to,
      onProgress: (seen) => progress.push(seen),
    });

    expect(saved).toEqual({ path: to, bytes: setup.content.length });
    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(await namesIn(folder)).toEqual(['out.mp4']);
    expect(progress.at(-1)).toEqual({ received: 300_000, total: 300_000 });
    expect(requests).toMatchObject([{ method: 'GET', path: '/v1/videos/task_1/content' }]);
    expect(requests[0]?.headers).not.toHaveProperty('range');
  });

  test('replaces an existing file only once the download is complete', async () => {
    const { client, setup } = await contentServer({ cuts: [1_000, 1_000, 1_000], ranges: false });
    const { to } = await fileNamed();
    await writeFile(to, 'old');

    const error = await failureOf(downloadVideo(client, 'task_1', { to }));

    expect(UnexpectedResponseError.isInstance(error)).toBe(true);
    expect(await readFile(to, 'utf8')).toBe('old');
    await downloadVideo(client, 'task_1', { to });
    expect((await readFile(to)).equals(setup.content)).toBe(true);
  });

  test('resumes at the cut if the server honours ranges', async () => {
    const cuts = [100_000, 50_000, 1];
    const { client, setup, requests } = await contentServer({ cuts });
    const { folder, to } = await fileNamed();

    await downloadVideo(client, 'task_1', { to });

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(requests.map(({ headers }) => headers.range)).toEqual([
      undefined,
      'bytes=100000-',
      'bytes=150000-',
      'bytes=150001-',
    ]);
    expect(requests.at(-1)?.headers['if-range']).toBe('"v1"');
    expect(await namesIn(folder)).toEqual(['out.mp4']);
  });

  test('resumes a file whose rest is blank', async () => {
    const content = Buffer.concat([someBytes(1_000), Buffer.from(' \n')]);
    const { client, requests } = await contentServer({ content, cuts: [1_000] });
    const { to } = await fileNamed();

    await downloadVideo(client, 'task_1', { to });

    expect((await readFile(to)).equals(content)).toBe(true);
    expect(requests).toHaveLength(2);
  });

  test('continues after any number of cuts as long as it makes progress', async () => {
    const cuts = Array.from({ length: 20 }, () => 10_000);
    const { client, setup, requests } = await contentServer({ cuts });
    const { to } = await fileNamed();

    await downloadVideo(client, 'task_1', { to });

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(requests).toHaveLength(21);
  });

  test('starts over if the server ignores ranges', async () => {
    const { client, setup, requests } = await contentServer({ ranges: false, cuts: [200_000] });
    const { to } = await fileNamed();

    await downloadVideo(client, 'task_1', { to });

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(requests).toHaveLength(2);
    expect(requests[1]?.headers.range).toBe('bytes=200000-');
  });

  test('requests no range without a strong validator', async () => {
    for (const headers of [{}, { etag: 'W/"weak"' }]) {
      const { client, setup, requests } = await contentServer({ headers, cuts: [200_000] });
      const { to } = await fileNamed();

      await downloadVideo(client, 'task_1', { to });

      expect((await readFile(to)).equals(setup.content)).toBe(true);
      expect(requests[1]?.headers).not.toHaveProperty('range');
    }
  });

  test('starts over if the content has changed', async () => {
    const { client, setup } = await contentServer({ cuts: [200_000] });
    const { to } = await fileNamed();
    const changed = someBytes(250_000, 7);
    setup.answer = ({ headers }) => {
      if (headers.range === undefined) return false;
      Object.assign(setup, { content: changed, headers: { etag: '"v2"' }, answer: undefined });
      return false;
    };

    await downloadVideo(client, 'task_1', { to });

    expect((await readFile(to)).equals(changed)).toBe(true);
  });

  test('rejects a range of another version or position', async () => {
    for (const wrong of [{ etag: '"v2"' }, { 'content-range': 'bytes 5-299999/300000' }]) {
      const { client, setup } = await contentServer({ cuts: [200_000] });
      const { to } = await fileNamed();
      setup.answer = ({ headers }, response) => {
        if (headers.range === undefined) return false;
        const given = { 'content-range': 'bytes 200000-299999/300000', etag: '"v1"', ...wrong };
        response.writeHead(206, given).end(Buffer.alloc(100_000));
        return true;
      };

      await downloadVideo(client, 'task_1', { to });

      expect((await readFile(to)).equals(setup.content)).toBe(true);
    }
  });

  test('fails after two attempts without progress, and leaves no files', async () => {
    const { client, requests } = await contentServer({ ranges: false, cuts: [9, 9, 9, 9, 9] });
    const { folder, to } = await fileNamed();

    const error = await failureOf(downloadVideo(client, 'task_1', { to }));

    expect(String(error)).toMatch(/9 of 300000 bytes|connection broke/);
    expect(requests).toHaveLength(3);
    expect(await namesIn(folder)).toEqual([]);
  });

  test('maxRetries: 0 does not resume', async () => {
    const { client, requests } = await contentServer({ cuts: [9] });
    const { to } = await fileNamed();

    await failureOf(downloadVideo(client, 'task_1', { to, maxRetries: 0 }));

    expect(requests).toHaveLength(1);
  });

  test('rejects a length that does not fit the range', async () => {
    const { client } = await contentServer({
      answer: (_, response) => {
        response.writeHead(206, { 'content-range': 'bytes 0-9/20' }).end('0123456789');
        return true;
      },
    });
    const { folder, to } = await fileNamed();

    const error = await failureOf(downloadVideo(client, 'task_1', { to }));

    expect(String(error)).toContain('10 of 20 bytes');
    expect(await namesIn(folder)).toEqual([]);
  });

  test.each(['gzip', 'deflate', 'br'])(
    'requests no content coding, and rejects %s, whose truncation goes unnoticed',
    async (coding) => {
      const pack = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }[coding];
      const packed = pack?.(someBytes(10_000)) ?? Buffer.alloc(0);
      const { client, requests } = await contentServer({
        content: packed.subarray(0, 5_000),
        headers: { 'content-encoding': coding },
      });
      const { folder, to } = await fileNamed();

      const options = { maxRetries: 0 };

      const errors = await Promise.all([
        failureOf(downloadVideo(client, 'task_1', { to, ...options })),
        failureOf(client.videos.downloadContent('task_1', options)),
      ]);

      for (const error of errors) {
        expect(UnexpectedResponseError.isInstance(error)).toBe(true);
        expect(String(error)).toContain(`content-encoding ${coding}`);
      }
      expect(await namesIn(folder)).toEqual([]);
      expect(
        requests.map(({ path, headers }) => [path, headers['accept-encoding']]),
      ).toContainEqual(['/v1/videos/task_1/content', 'identity']);
    },
  );

  test('a raw gzip response can be saved, without comparing its length', async () => {
    const text = Buffer.from('a'.repeat(10_000));
    const packed = gzipSync(text);
    const { client } = await contentServer({
      content: packed,
      headers: { 'content-encoding': 'gzip' },
    });
    const { to } = await fileNamed();

    await saveTo(await client.videos.downloadContent('task_1').asResponse(), to);

    expect((await readFile(to)).equals(text)).toBe(true);
  });
});

describe('resume', () => {
  test('resumes an earlier download', async () => {
    const { client, setup, requests } = await contentServer({ cuts: [120_000] });
    const { folder, to } = await fileNamed();
    await failureOf(downloadVideo(client, 'task_1', { to, resume: true, maxRetries: 0 }));
    expect(await namesIn(folder)).toEqual([
      expect.stringMatching(/\.free\..*\.part$/),
      expect.stringMatching(/\.part\.json$/),
    ]);

    await downloadVideo(client, 'task_1', { to, resume: true });

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(requests[1]?.headers).toMatchObject({ range: 'bytes=120000-', 'if-range': '"v1"' });
    expect(await namesIn(folder)).toEqual(['out.mp4']);
  });

  test('a complete partial file is only checked', async () => {
    const { client, setup, requests } = await contentServer({ cuts: [300_000] });
    setup.headers['content-length'] = '300001';
    const { to } = await fileNamed();
    await failureOf(downloadVideo(client, 'task_1', { to, resume: true, maxRetries: 0 }));
    delete setup.headers['content-length'];

    await downloadVideo(client, 'task_1', { to, resume: true });

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(requests).toHaveLength(2);
  });

  test('a partial file that is longer than the content is deleted', async () => {
    const { client, setup } = await contentServer({ cuts: [200_000] });
    const { to } = await fileNamed();
    await failureOf(downloadVideo(client, 'task_1', { to, resume: true, maxRetries: 0 }));
    setup.content = setup.content.subarray(0, 1_000);

    await downloadVideo(client, 'task_1', { to, resume: true });

    expect((await readFile(to)).equals(setup.content)).toBe(true);
  });

  test('never mixes partial files of other tasks and targets', async () => {
    const { client, setup, requests } = await contentServer({ cuts: [100, 100, undefined] });
    const { folder, to } = await fileNamed();
    await failureOf(downloadVideo(client, 'task_1', { to, resume: true, maxRetries: 0 }));
    const other = { to: join(folder, 'other.mp4'), resume: true, maxRetries: 0 };
    await failureOf(downloadVideo(client, 'task_1', other));

    await downloadVideo(client, 'task_2', { to, resume: true });

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(requests[2]?.headers).not.toHaveProperty('range');
    // The rest of the other file is still there.
    expect((await namesIn(folder)).filter((name) => name.endsWith('.part'))).toHaveLength(1);
  });

  test('keeps no partial file without it', async () => {
    const { client } = await contentServer({ cuts: [100] });
    const { folder, to } = await fileNamed();

    await failureOf(downloadVideo(client, 'task_1', { to, maxRetries: 0 }));

    expect(await namesIn(folder)).toEqual([]);
  });

  test('two concurrent downloads of the same file do not interfere', async () => {
    const { client, setup } = await contentServer({ cuts: [100_000, 150_000] });
    const { folder, to } = await fileNamed();

    await Promise.all([1, 2, 3].map(() => downloadVideo(client, 'task_1', { to, resume: true })));

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(await namesIn(folder)).toEqual(['out.mp4']);
  });

  test('deletes the partial file of expired content', async () => {
    const { client, setup } = await contentServer({ cuts: [100] });
    const { folder, to } = await fileNamed();
    await failureOf(downloadVideo(client, 'task_1', { to, resume: true, maxRetries: 0 }));
    setup.answer = (_, response) => {
      response.writeHead(410).end('{"error":{"message":"video result has expired"}}');
      return true;
    };

    const error = await failureOf(downloadVideo(client, 'task_1', { to, resume: true }));

    expect(ContentExpiredError.isInstance(error)).toBe(true);
    expect(await namesIn(folder)).toEqual([]);
  });
});

describe('responses in place of content', () => {
  test('a task that is not completed yet', async () => {
    const { client, requests } = await contentServer({
      answer: (_, response) => {
        const message = 'Task is not completed yet, current status: IN_PROGRESS';
        response.writeHead(400).end(JSON.stringify({ error: { message } }));
        return true;
      },
    });
    const { folder, to } = await fileNamed();

    const error = await failureOf(downloadVideo(client, 'task_1', { to }));

    expect(ContentNotReadyError.isInstance(error)).toBe(true);
    expect(requests).toHaveLength(1);
    expect(await namesIn(folder)).toEqual([]);
  });

  test('a redirect to another host receives the range but not the key', async () => {
    const storage = await contentServer({ cuts: [1_000] });
    const { client, requests } = await contentServer({
      answer: (_, response) => {
        const location = `${storage.url}/signed?token=${Math.random()}`;
        response.writeHead(302, { location, 'cache-control': 'no-store' }).end();
        return true;
      },
    });
    const { to } = await fileNamed();

    await downloadVideo(client, 'task_1', { to });

    expect((await readFile(to)).equals(storage.setup.content)).toBe(true);
    expect(requests.every(({ headers }) => headers.authorization === 'Bearer sk-test')).toBe(true);
    expect(storage.requests.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      undefined,
    ]);
    expect(storage.requests[1]?.headers).toMatchObject({
      range: 'bytes=1000-',
      'if-range': '"v1"',
    });
  });

  const film = someBytes(2_000);
  const dataURL = `data:video/mp4;base64,${film.toString('base64')}`;

  test('a data URL as the content', async () => {
    const { client } = await contentServer({ content: Buffer.from(dataURL) });
    const { to } = await fileNamed();

    expect((await downloadVideo(client, 'task_1', { to })).bytes).toBe(2_000);
    expect((await readFile(to)).equals(film)).toBe(true);
  });

  test('a redirect to a data URL', async () => {
    const { client } = await contentServer({
      answer: (_, response) => {
        response.writeHead(302, { location: dataURL }).end();
        return true;
      },
    });
    const { to } = await fileNamed();

    await downloadVideo(client, 'task_1', { to });

    expect((await readFile(to)).equals(film)).toBe(true);
  });

  test('a data URL that only the task holds', async () => {
    const { client } = await contentServer({
      answer: ({ path }, response) => {
        if (path.endsWith('/content')) response.writeHead(502).end('Failed to fetch');
        else response.end(JSON.stringify({ id: 'task_1', status: 'done', url: dataURL }));
        return true;
      },
    });
    const { to } = await fileNamed();

    await downloadVideo(client, 'task_1', { to, maxRetries: 0 });

    expect((await readFile(to)).equals(film)).toBe(true);
  });

  test('saves the data URL of a completed task without a request', async () => {
    const { client, requests } = await contentServer({
      answer: (_, response) => {
        response.end(JSON.stringify({ id: 'task_1', status: 'done', url: dataURL }));
        return true;
      },
    });
    const { to } = await fileNamed();

    await downloadVideo(client, await client.videos.retrieve('task_1'), { to });

    expect((await readFile(to)).equals(film)).toBe(true);
    expect(requests).toHaveLength(1);
  });

  test.each(['cut', 'short'])('bytes that look like a data URL at first: %s', async (name) => {
    const content = Buffer.from(name === 'cut' ? 'dat' : 'dates and more');
    const { client } = await contentServer({ content });
    const { to } = await fileNamed();

    await downloadVideo(client, 'task_1', { to });

    expect((await readFile(to)).equals(content)).toBe(true);
  });

  test("returns the gateway's error unchanged", async () => {
    const { client, requests } = await contentServer({
      answer: (_, response) => {
        response.writeHead(403).end('{"error":{"message":"request blocked"}}');
        return true;
      },
    });
    const { to } = await fileNamed();

    expect(await failureOf(downloadVideo(client, 'task_1', { to }))).toMatchObject({ status: 403 });
    // The second request reads the task for the URL of its result.
    expect(requests).toHaveLength(2);
  });
});

describe('a content route that fails', () => {
  test('a content route that fails is replaced by the URL in the task, which resumes too', async () => {
    const { client, setup, requests } = await contentServer({ cuts: [200_000] });
    const { content, answer } = setup;
    const path = '/files/boat.mp4';
    setup.answer = (request, response) => {
      if (request.path.startsWith(path)) return answer?.(request, response) ?? false;
      const isContent = request.path.endsWith('/content');
      response.writeHead(isContent ? 403 : 200);
      const url = client.baseURL + path;
      response.end(JSON.stringify(isContent ? {} : { id: 'task_1', status: 'done', url }));
      return true;
    };
    const { to } = await fileNamed();

    await downloadVideo(client, await client.videos.retrieve('task_1'), { to });

    expect((await readFile(to)).equals(content)).toBe(true);
    expect(requests.filter((request) => request.path === path)).toMatchObject([
      { headers: expect.not.objectContaining({ authorization: expect.anything() }) },
      { headers: { range: 'bytes=200000-' } },
    ]);
  });

  test('a content route and a URL that both fail end the download at once, and name the URL', async () => {
    const url = 'https://127.0.0.1/boat.mp4';
    const { client, requests } = await contentServer({
      answer: ({ path }, response) => {
        response.writeHead(path.endsWith('/content') ? 501 : 200);
        response.end(JSON.stringify({ id: 'task_1', status: 'done', url }));
        return true;
      },
    });
    const { to, folder } = await fileNamed();

    const error = await failureOf(downloadVideo(client, 'task_1', { to }));

    expect(error).toMatchObject({ name: 'ContentUnavailableError', status: 501, url });
    expect(requests).toHaveLength(2);
    expect(await namesIn(folder)).toEqual([]);
  });
});

describe('aborting', () => {
  test('ends it immediately, and leaves no files', async () => {
    const { client } = await contentServer({
      answer: (_, response) => {
        response.writeHead(200, { 'content-length': 1_000 }).write('begun');
        return true;
      },
    });
    const { folder, to } = await fileNamed();
    const controller = new AbortController();

    const error = await failureOf(
      downloadVideo(client, 'task_1', {
        to,
        signal: controller.signal,
        onProgress: () => controller.abort(),
      }),
    );

    expect(APIUserAbortError.isInstance(error)).toBe(true);
    expect(await namesIn(folder)).toEqual([]);
  });

  test('an abort before the download begins sends nothing', async () => {
    const { client, requests } = await contentServer();
    const { to } = await fileNamed();

    const error = await failureOf(
      downloadVideo(client, 'task_1', { to, signal: AbortSignal.abort() }),
    );

    expect(APIUserAbortError.isInstance(error)).toBe(true);
    expect(requests).toHaveLength(0);
  });

  test('an abort during the pause before a retry ends the pause', async () => {
    const { client } = await contentServer({ cuts: [100] });
    const { folder, to } = await fileNamed();
    const controller = new AbortController();
    vi.unstubAllGlobals();

    const error = await failureOf(
      downloadVideo(client, 'task_1', {
        to,
        resume: true,
        signal: controller.signal,
        onProgress: () => setTimeout(() => controller.abort(), 100),
      }),
    );

    expect(APIUserAbortError.isInstance(error)).toBe(true);
    expect(await namesIn(folder)).toHaveLength(2);
  });
});

/** Replaces a function of the file system, as a disk that fails. */
function breakDisk(method: 'write' | 'rename', code: string): void {
  const failure = Object.assign(new Error(`${code}: broken`), { code, syscall: method });
  const { open, rename } = fsPromises;
  fsPromises.open = async (...parameters) => {
    const file = await open(...parameters);
    if (method === 'write') file.write = () => Promise.reject(failure);
    return file;
  };
  if (method === 'rename') fsPromises.rename = () => Promise.reject(failure);
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fsPromises, { open, rename });
    syncBuiltinESMExports();
  });
}

describe('files that cannot be written', () => {
  test.each([
    ['ENOSPC', /the disk is full/],
    ['EDQUOT', /quota/],
    ['EIO', /the disk has failed/],
  ])('%s while it is written is reported, and nothing is requested again', async (code, text) => {
    const { client, requests } = await contentServer();
    const { to } = await fileNamed();
    breakDisk('write', code);

    const error = await failureOf(downloadVideo(client, 'task_1', { to }));

    expect(FileError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code, path: to, message: expect.stringMatching(text) });
    expect(requests).toHaveLength(1);
  });

  test('reports a file that cannot be renamed', async () => {
    const { client } = await contentServer();
    const { to } = await fileNamed();
    breakDisk('rename', 'EACCES');

    expect(await failureOf(downloadVideo(client, 'task_1', { to }))).toMatchObject({
      name: 'FileError',
      code: 'EACCES',
    });
  });

  test('rejects a folder, a missing folder and a blocking file before anything is sent', async () => {
    const { client, requests } = await contentServer();
    const { folder, to } = await fileNamed();
    await writeFile(join(folder, 'file'), '');
    await mkdir(to);

    const targets = [to, join(folder, 'none', 'a.mp4'), join(folder, 'file', 'a.mp4')];
    const errors = await Promise.all(
      targets.map((target) => failureOf(downloadVideo(client, 'task_1', { to: target }))),
    );

    expect(errors).toMatchObject([{ code: 'EISDIR' }, { code: 'ENOENT' }, { code: 'ENOTDIR' }]);
    expect(errors.every((error) => FileError.isInstance(error))).toBe(true);
    expect(requests).toHaveLength(0);
  });

  test('reports a folder without write permission', async () => {
    const { client, requests } = await contentServer();
    const { folder, to } = await fileNamed();
    await chmod(folder, 0o555);
    // Nothing is forbidden to root.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);

    const error = await failureOf(downloadVideo(client, 'task_1', { to }));
    if (isRoot) process.seteuid?.(0);
    await chmod(folder, 0o700);

    expect(error).toMatchObject({ name: 'FileError', code: 'EACCES' });
    expect(requests).toHaveLength(0);
  });

  test.each([undefined, {}, { to: '' }, { to: 7 }])('options %j are rejected', async (options) => {
    const { client } = await contentServer();

    const error = await failureOf(
      Promise.resolve(Reflect.apply(downloadVideo, undefined, [client, 'task_1', options])),
    );

    expect(InvalidInputError.isInstance(error)).toBe(true);
  });
});

test('downloads from the emulator, by handle', async () => {
  await using emulator = createEmulator({ videoDuration: 0 });
  const { url } = await emulator.listen();
  const client = new Gateway({ apiKey: emulator.apiKey, baseURL: url });
  const video = await client.videos.create({ ...order, seconds: 1, size: '64x64' });
  const { to } = await fileNamed();

  for (const contentDelivery of ['body', 'redirect'] as const) {
    emulator.quirks.contentDelivery = contentDelivery;
    const { bytes } = await downloadVideo(client, video.ref, { to });
    expect((await stat(to)).size).toBe(bytes);
    expect((await readFile(to)).toString('latin1', 4, 8)).toBe('ftyp');
  }
});
