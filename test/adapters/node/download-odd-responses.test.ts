import {
  link,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { InvalidInputError, UnexpectedResponseError } from '../../../src/index.ts';
import { thisProcess } from '../../../src/adapters/node/durable.ts';
import {
  downloadVideo,
  FileError,
  fileFromPath,
  saveTo,
} from '../../../src/adapters/node/index.ts';
import { makeRef } from '../../../src/tasks/ref.ts';
import { contentServer, someBytes } from '../../helpers/content-server.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { failureOf } from '../../helpers/clients.ts';

const pauses: number[] = [];

beforeEach(() => {
  pauses.length = 0;
  const { setTimeout: original } = globalThis;
  // Pauses before a download is gone on with are as short as can be.
  vi.stubGlobal('setTimeout', (run: () => void, milliseconds = 0, ...rest: []) => {
    const isPause = milliseconds >= 1_000 && milliseconds % 1_000 === 0 && milliseconds <= 60_000;
    if (isPause) pauses.push(milliseconds);
    return original(run, isPause ? 1 : milliseconds, ...rest);
  });
});

async function fileNamed(name = 'out.mp4') {
  const folder = await temporaryFolder();
  return { folder, to: join(folder, name) };
}

/** A download that leaves a part, and the one that goes on with it. */
async function resumed(change: Parameters<typeof contentServer>[0] = {}) {
  const server = await contentServer({ cuts: [200_000], ...change });
  const { folder, to } = await fileNamed();
  const options = { to, resume: true, maxRetries: 0 };
  await failureOf(downloadVideo(server.client, 'task_1', options));
  const again = () => downloadVideo(server.client, 'task_1', { to, resume: true });
  return { ...server, folder, to, again };
}

describe('a 206 without a range request', () => {
  const part = Buffer.from('0123456789');
  const ranges = ['bytes 0-9/20', 'bytes 0-9/*', 'bytes 10-19/20', 'bytes 10-19/*', 'nonsense', ''];

  test.each(ranges)(
    'a 206 without a range request is not a whole file: Content-Range %j',
    async (range) => {
      const { client } = await contentServer({
        answer: (_, response) => {
          const headers = range === '' ? {} : { 'content-range': range };
          response.writeHead(206, { 'content-length': part.length, ...headers }).end(part);
          return true;
        },
      });
      const { folder, to } = await fileNamed();

      const error = await failureOf(downloadVideo(client, 'task_1', { to }));

      expect(UnexpectedResponseError.isInstance(error)).toBe(true);
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test('a 206 without a range request is a whole file if Content-Range covers it', async () => {
    const { client } = await contentServer({
      answer: (_, response) => {
        response.writeHead(206, { 'content-range': 'bytes 0-9/10' }).end(part);
        return true;
      },
    });
    const { to } = await fileNamed();

    expect((await downloadVideo(client, 'task_1', { to })).bytes).toBe(10);
  });
});

describe('a resumed partial file', () => {
  test('starts over if the rest belongs to a file of another size', async () => {
    const { setup, to, again } = await resumed();
    setup.answer = ({ headers }, response) => {
      if (headers.range === undefined) return false;
      const given = { 'content-range': 'bytes 200000-399999/400000', etag: '"v1"' };
      response.writeHead(206, given).end(Buffer.alloc(200_000));
      return true;
    };

    await again();

    expect((await readFile(to)).equals(setup.content)).toBe(true);
  });

  test('starts over if the rest is encoded', async () => {
    const { setup, to, again } = await resumed();
    setup.answer = ({ headers }, response) => {
      if (headers.range === undefined) return false;
      const given = { 'content-range': 'bytes 200000-299999/300000', 'content-encoding': 'gzip' };
      response.writeHead(206, given).end(gzipSync(Buffer.alloc(100_000)));
      return true;
    };

    await again();

    expect((await readFile(to)).equals(setup.content)).toBe(true);
  });

  test('starts over if the rest has another version', async () => {
    const { setup, to, again } = await resumed({
      cuts: [300_000],
      headers: { etag: '"v1"', 'content-length': '300001' },
    });
    const changed = someBytes(300_000, 9);
    setup.answer = ({ headers }, response) => {
      if (headers.range === undefined) return false;
      response.writeHead(416, { 'content-range': 'bytes */300000', etag: '"v2"' }).end();
      return true;
    };
    setup.content = changed;
    setup.headers = { etag: '"v2"' };

    await again();

    expect((await readFile(to)).equals(changed)).toBe(true);
  });

  test('accepts the rest in any number of chunks', async () => {
    const { setup, to, requests, again } = await resumed();
    setup.answer = ({ headers }, response) => {
      const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? Number.NaN);
      if (Number.isNaN(start)) return false;
      const end = Math.min(start + 10_000, 300_000);
      const range = `bytes ${start}-${end - 1}/300000`;
      response
        .writeHead(206, { 'content-range': range, etag: '"v1"' })
        .end(setup.content.subarray(start, end));
      return true;
    };

    await again();

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(requests).toHaveLength(11);
    expect(requests.slice(1).every(({ headers }) => headers.range !== undefined)).toBe(true);
  });

  const sameSecond = new Date().toUTCString();

  test.each<{ name: string; headers: Record<string, string>; isNamed: boolean }>([
    {
      name: 'an old date',
      headers: { 'last-modified': 'Fri, 01 Jan 2021 00:00:00 GMT' },
      isNamed: true,
    },
    {
      name: 'a date of the same second',
      headers: { 'last-modified': sameSecond, date: sameSecond },
      isNamed: false,
    },
    {
      name: 'an old date beside a weak tag',
      headers: { etag: 'W/"1"', 'last-modified': 'Fri, 01 Jan 2021 00:00:00 GMT' },
      isNamed: false,
    },
    { name: 'no date at all', headers: { 'last-modified': 'yesterday' }, isNamed: false },
  ])('uses Last-Modified only if it is strong: $name', async ({ headers, isNamed }) => {
    const { requests, again } = await resumed({ headers });

    await again();

    expect('range' in (requests[1]?.headers ?? {})).toBe(isNamed);
    if (isNamed) expect(requests[1]?.headers['if-range']).toBe(headers['last-modified']);
  });
});

test('a body that does not end fails once it is longer than the file', async () => {
  let sent = 0;
  const { client } = await contentServer({
    answer: (_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 0-99/100' });
      const more = (): void => {
        sent += 65_536;
        if (response.destroyed) return;
        response.write(Buffer.alloc(65_536), () => setImmediate(more));
      };
      more();
      return true;
    },
  });
  const { folder, to } = await fileNamed();

  const error = await failureOf(downloadVideo(client, 'task_1', { to, maxRetries: 0 }));

  expect(String(error)).toMatch(/more than 100 bytes|of 100 bytes/);
  expect(sent).toBeLessThan(64 * 1_048_576);
  expect(await readdir(folder)).toEqual([]);
});

test('a file that is longer than its size is not resumed', async () => {
  const { client, setup, requests } = await contentServer({
    answer: (_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 0-9/10', etag: '"v1"' });
      response.end(Buffer.alloc(20));
      return true;
    },
  });
  const { folder, to } = await fileNamed();
  const options = { to, resume: true, maxRetries: 0 };
  await failureOf(downloadVideo(client, 'task_1', options));
  expect(await readdir(folder)).toEqual([]);
  setup.answer = undefined;

  await downloadVideo(client, 'task_1', options);

  expect(requests[1]?.headers).not.toHaveProperty('range');
  expect((await readFile(to)).equals(setup.content)).toBe(true);
});

test('onProgress is awaited, and one that rejects ends the download with its error', async () => {
  const { client, setup } = await contentServer();
  const { folder, to } = await fileNamed();
  const problem = new Error('the page is gone');
  let underWay = 0;
  const onProgress = async (): Promise<void> => {
    underWay += 1;
    expect(underWay).toBe(1);
    await Promise.resolve();
    underWay -= 1;
  };

  const error = await failureOf(
    downloadVideo(client, 'task_1', { to, onProgress: () => Promise.reject(problem) }),
  );
  expect(error).toBe(problem);
  expect(await readdir(folder)).toEqual([]);
  await downloadVideo(client, 'task_1', { to, onProgress });
  expect((await readFile(to)).equals(setup.content)).toBe(true);
});

test('pauses between retries grow to 30 seconds', async () => {
  const { client, requests } = await contentServer({ ranges: false, cuts: Array(9).fill(9) });
  const { to } = await fileNamed();

  await failureOf(downloadVideo(client, 'task_1', { to, maxRetries: 8 }));

  expect(requests).toHaveLength(9);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

describe('targets that cannot be replaced', () => {
  test.skipIf(process.platform === 'win32')('only regular files are replaced', async () => {
    const { client, requests } = await contentServer();
    const { to } = await fileNamed('socket');
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(to, resolve);
    });
    onTestFinished(() => void server.close());

    for (const save of [
      () => downloadVideo(client, 'task_1', { to }),
      () => saveTo(new Blob(['a']), to),
    ]) {
      const error = await failureOf(save());
      expect(FileError.isInstance(error)).toBe(true);
      expect(String(error)).toContain('is not a regular file');
    }
    expect((await stat(to)).isSocket()).toBe(true);
    expect(requests).toHaveLength(0);
  });

  test('rejects a link to a folder', async () => {
    const { client, requests } = await contentServer();
    const { folder, to } = await fileNamed();
    await symlink(folder, to);

    expect(await failureOf(downloadVideo(client, 'task_1', { to }))).toMatchObject({
      name: 'FileError',
      code: 'EISDIR',
    });
    expect(requests).toHaveLength(0);
  });
});

describe('links in a shared folder', () => {
  test.each([
    ['symbolic', symlink],
    ['hard', link],
  ])('%s: a partial file that is one is not resumed', async (_, place) => {
    const { folder, setup, to, again } = await resumed();
    const mine = join(await temporaryFolder(), 'mine');
    await writeFile(mine, 'mine');
    const [part = ''] = (await readdir(folder)).filter((name) => name.endsWith('.part'));
    await rm(join(folder, part));
    await place(mine, join(folder, part));

    await again();

    expect(await readFile(mine, 'utf8')).toBe('mine');
    expect((await readFile(to)).equals(setup.content)).toBe(true);
  });

  test("notes don't follow a link", async () => {
    const { folder, to } = await fileNamed();
    const mine = join(await temporaryFolder(), 'mine');
    const { client, setup } = await contentServer();
    await writeFile(mine, 'mine');
    setup.answer = (_, response) => {
      const finish = async (): Promise<void> => {
        const [part = ''] = await readdir(folder);
        await symlink(mine, join(folder, `${part}.json`));
        response.writeHead(200, { etag: '"v1"' }).end(setup.content);
      };
      void finish();
      return true;
    };

    await downloadVideo(client, 'task_1', { to, resume: true });

    expect(await readFile(mine, 'utf8')).toBe('mine');
    expect(await readdir(folder)).toEqual(['out.mp4']);
  });
});

const { host } = thisProcess();
const unusedPid = 4_194_303;
const minute = 60_000;

describe('a partial file of another process', () => {
  test.each([
    {
      name: 'is resumed once its process has ended',
      machine: host,
      pid: unusedPid,
      minutesOld: 0,
      isResumed: true,
    },
    {
      name: 'is left alone while its process runs',
      machine: host,
      pid: process.ppid,
      minutesOld: 0,
      isResumed: false,
    },
    {
      name: 'is left alone while its process runs and wrote recently',
      machine: host,
      pid: process.ppid,
      minutesOld: 59,
      isResumed: false,
    },
    {
      name: 'is resumed after an hour, as process ids are used again',
      machine: host,
      pid: process.ppid,
      minutesOld: 61,
      isResumed: true,
    },
    {
      name: 'is left alone if it is from another machine',
      machine: '0123abcd',
      pid: unusedPid,
      minutesOld: 59,
      isResumed: false,
    },
    {
      name: 'is resumed after an hour if it is from another machine',
      machine: '0123abcd',
      pid: unusedPid,
      minutesOld: 61,
      isResumed: true,
    },
  ])('$name', async ({ machine, pid, minutesOld, isResumed }) => {
    const { folder, requests, setup, to, again } = await resumed();
    const modified = new Date(Date.now() - minutesOld * minute);
    for (const name of await readdir(folder)) {
      const path = join(folder, name.replace('.free.', `.${machine}-${pid}.`));
      await rename(join(folder, name), path);
      await utimes(path, modified, modified);
    }

    await again();

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(requests[1]?.headers.range).toBe(isResumed ? 'bytes=200000-' : undefined);
    expect(await readdir(folder)).toHaveLength(isResumed ? 1 : 3);
  });
});

test('notes without their partial file are removed', async () => {
  const { folder, to, again } = await resumed();
  const [part = ''] = (await readdir(folder)).filter((name) => name.endsWith('.part'));
  const lost = part.replace(/[\da-f]{12}\.part$/, '0123456789ab.part.json');
  await writeFile(join(folder, lost), '{}');
  const past = new Date(Date.now() - 2 * 3_600_000);
  await utimes(join(folder, lost), past, past);
  await writeFile(join(folder, 'other.part.json'), '{}');
  // Its part may be on the way.
  const fresh = lost.replace('0123456789ab', 'ba9876543210');
  await writeFile(join(folder, fresh), '{}');

  await again();

  expect((await readdir(folder)).toSorted()).toEqual([fresh, 'other.part.json', 'out.mp4']);
  expect((await stat(to)).size).toBe(300_000);
});

test('unreadable notes restart the download', async () => {
  for (const text of ['', '{', 'null', '{"validator":7}', '[]']) {
    const { folder, requests, setup, to, again } = await resumed();
    const name = (await readdir(folder)).find((found) => found.endsWith('.json')) ?? '';
    await writeFile(join(folder, name), text);

    await again();

    expect((await readFile(to)).equals(setup.content)).toBe(true);
    expect(requests[1]?.headers).not.toHaveProperty('range');
  }
});

describe('invalid input is rejected before anything is sent or written', () => {
  const ref = makeRef({ id: 'task_1', baseURL: 'https://other.test', createdAt: 5 });
  const cases: [string, (given: { client: unknown; to: string }) => unknown[]][] = [
    ['client', ({ to }) => [undefined, 'task_1', { to }]],
    ['client', ({ to }) => [{}, 'task_1', { to }]],
    ['id', ({ client, to }) => [client, '..', { to }]],
    ['id', ({ client, to }) => [client, undefined, { to }]],
    ['ref.baseURL', ({ client, to }) => [client, ref, { to }]],
    ['to', ({ client }) => [client, 'task_1', null]],
    ['to', ({ client }) => [client, 'task_1', { to: new URL('file:///a.mp4') }]],
    ['onProgress', ({ client, to }) => [client, 'task_1', { to, onProgress: 'log' }]],
    ['resume', ({ client, to }) => [client, 'task_1', { to, resume: 'no' }]],
    ['signal', ({ client, to }) => [client, 'task_1', { to, signal: 7 }]],
    ['maxRetries', ({ client, to }) => [client, 'task_1', { to, maxRetries: Number.NaN }]],
    ['idleTimeout', ({ client, to }) => [client, 'task_1', { to, idleTimeout: -1 }]],
    ['headers', ({ client, to }) => [client, 'task_1', { to, headers: 'a' }]],
    ['variant', ({ client, to }) => [client, 'task_1', { to, variant: {} }]],
  ];

  test.each(cases)('downloadVideo(): %s, %s', async (field, make) => {
    const { client, requests } = await contentServer();
    const { folder, to } = await fileNamed();

    const error = await failureOf(
      (async () => Reflect.apply(downloadVideo, undefined, make({ client, to })))(),
    );

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ field });
    expect(requests).toHaveLength(0);
    expect(await readdir(folder)).toEqual([]);
  });

  const used = new Response('used');
  const reader = new Response('held');
  const saves: { field: string; source: unknown; options: unknown }[] = [
    { field: 'onProgress', source: new Blob(['a']), options: { onProgress: 7 } },
    { field: 'signal', source: new Blob(['a']), options: { signal: {} } },
    { field: 'options', source: new Blob(['a']), options: 7 },
    { field: 'response', source: reader, options: {} },
    { field: 'response', source: new Response('{"error":"No."}', { status: 404 }), options: {} },
    { field: 'response', source: used, options: {} },
    { field: 'source', source: { headers: {}, data: 'axios' }, options: {} },
    { field: 'source', source: 'text', options: {} },
    { field: 'source', source: undefined, options: {} },
    { field: 'source', source: { b64_json: '' }, options: {} },
  ];

  test.each(saves)(
    'saveTo(): $field of $source with $options',
    async ({ field, source, options }) => {
      const { folder, to } = await fileNamed();
      if (!used.bodyUsed) await used.text();
      if (!reader.bodyUsed && reader.body?.locked === false) reader.body.getReader();

      const error = await failureOf(
        (async () => Reflect.apply(saveTo, undefined, [source, to, options]))(),
      );

      expect(InvalidInputError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ field });
      expect(await readdir(folder)).toEqual([]);
    },
  );

  test('saveTo() accepts null for no options', async () => {
    const { to } = await fileNamed();

    await Reflect.apply(saveTo, undefined, [new Blob(['abc']), to, null]);

    expect((await stat(to)).size).toBe(3);
  });

  test.each([
    ['path', 7],
    ['path', new URL('file:///a')],
    ['path', null],
    ['path', '\0'],
  ])('fileFromPath(): %s %s', async (field, path) => {
    const error = await failureOf((async () => Reflect.apply(fileFromPath, undefined, [path]))());

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ field });
  });
});
