import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, relative } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Gateway, InvalidInputError, UnexpectedResponseError } from '../../../src/index.ts';
import {
  FileError,
  fileFromPath,
  saveTo,
  type SaveProgress,
} from '../../../src/adapters/node/index.ts';
import { emulated, failureOf } from '../../helpers/clients.ts';
import { contentServer, someBytes } from '../../helpers/content-server.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { untyped } from '../../helpers/untyped.ts';

const bytes = someBytes(10_000);

describe('saveTo()', () => {
  test('saves speech', async () => {
    const { client } = emulated();
    const path = join(await temporaryFolder(), 'fox.mp3');

    const speech = await client.audio.speech.create({ model: 'tts', voice: 'alloy', input: 'Hi' });
    const saved = await saveTo(speech, path);

    expect(saved).toEqual({ path, bytes: (await readFile(path)).length });
    expect(saved.bytes).toBeGreaterThan(100);
  });

  test.each(['b64_json', 'data-url'] as const)('saves an image received as %s', async (format) => {
    const { client } = emulated({}, { quirks: { imageFormat: format } });
    const path = join(await temporaryFolder(), 'fox.png');

    const { data } = await client.images.generate({ model: 'm-image', prompt: 'A fox' });
    await saveTo(data[0] ?? {}, path);

    expect((await readFile(path)).toString('latin1', 1, 4)).toBe('PNG');
  });

  test('saves an image from its URL, without the key', async () => {
    const { url, requests } = await contentServer({ content: bytes });
    const path = join(await temporaryFolder(), 'fox.png');

    await saveTo({ b64_json: '', url: `${url}/fox.png` }, path);

    expect((await readFile(path)).equals(bytes)).toBe(true);
    expect(requests[0]?.headers).not.toHaveProperty('authorization');
  });

  test('rejects an expired image URL', async () => {
    const { url } = await contentServer({
      answer: (_, response) => {
        response.writeHead(403).end('expired');
        return true;
      },
    });
    const folder = await temporaryFolder();

    const error = await failureOf(saveTo({ url }, join(folder, 'fox.png')));

    expect(String(error)).toContain('status 403');
    expect(await readdir(folder)).toEqual([]);
  });

  test('saves a Blob, bytes, and a response, and reports progress', async () => {
    const folder = await temporaryFolder();
    const sources = [new Blob([bytes]), new Uint8Array(bytes), new Response(bytes)];
    const last: SaveProgress[] = [];

    for (const [index, source] of sources.entries()) {
      const path = join(folder, `${index}`);
      await saveTo(source, path, { onProgress: (progress) => (last[index] = progress) });
      expect((await readFile(path)).equals(bytes)).toBe(true);
    }

    expect(last).toEqual([
      { received: 10_000, total: 10_000 },
      { received: 10_000, total: 10_000 },
      { received: 10_000, total: undefined },
    ]);
    expect(await readdir(folder)).toEqual(['0', '1', '2']);
  });

  test('saves an empty Blob as an empty file', async () => {
    const path = join(await temporaryFolder(), 'empty');

    expect(await saveTo(new Blob([]), path)).toEqual({ path, bytes: 0 });
  });

  test('accepts a relative path', async () => {
    const path = join(await temporaryFolder(), 'a');

    expect((await saveTo(bytes, relative(process.cwd(), path))).path).toBe(path);
  });

  test('a truncated body leaves the old file unchanged', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'a');
    await writeFile(path, 'old');
    let chunks = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        chunks += 1;
        if (chunks > 2) controller.error(new Error('cut'));
        else controller.enqueue(bytes);
      },
    });

    expect(String(await failureOf(saveTo(new Response(body), path)))).toContain('cut');
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['a']);
  });

  test.each<[string, Record<string, string>]>([
    ['shorter than announced', { 'content-length': '10001' }],
    ['longer than announced', { 'content-length': '9999' }],
  ])('does not save a body that is %s', async (_, headers) => {
    const folder = await temporaryFolder();

    const error = await failureOf(saveTo(new Response(bytes, { headers }), join(folder, 'a')));

    expect(UnexpectedResponseError.isInstance(error)).toBe(true);
    expect(String(error)).toContain('was not saved');
    expect(await readdir(folder)).toEqual([]);
  });

  test('an abort ends it immediately, also while the body stalls', async () => {
    const folder = await temporaryFolder();
    const controller = new AbortController();
    const reason = new Error('left');
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(bytes),
      cancel: () => {
        isCancelled = true;
      },
    });
    const { signal } = controller;
    const onProgress = () => setTimeout(() => controller.abort(reason), 5);

    const saving = saveTo(new Response(body), join(folder, 'a'), { signal, onProgress });

    expect(await failureOf(saving)).toBe(reason);
    expect(isCancelled).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });

  test('reports a target that cannot be written, and cancels the body', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'folder'));
    let cancelled = 0;
    const source = () =>
      new Response(
        new ReadableStream<Uint8Array>({
          cancel: () => {
            cancelled += 1;
          },
        }),
      );

    const inNone = await failureOf(saveTo(source(), join(folder, 'none', 'a')));
    const onFolder = await failureOf(saveTo(source(), join(folder, 'folder')));

    expect(FileError.isInstance(inNone)).toBe(true);
    expect(inNone).toMatchObject({ code: 'ENOENT', path: join(folder, 'none', 'a') });
    expect(String(inNone)).toContain('folder that does not exist');
    expect(onFolder).toMatchObject({ code: 'EISDIR' });
    expect(cancelled).toBe(2);
  });

  test.each<{ field: string; source: unknown; name: unknown }>([
    { field: 'path', source: bytes, name: '' },
    { field: 'path', source: bytes, name: undefined },
    { field: 'source', source: {}, name: 'a' },
    { field: 'source', source: undefined, name: 'a' },
    { field: 'url', source: { url: 'ftp://files.example/a' }, name: 'a' },
  ])('rejects an invalid $field', async ({ field, source, name }) => {
    const path =
      typeof name === 'string' && name !== '' ? join(await temporaryFolder(), name) : name;

    const error = await failureOf(
      Promise.resolve(Reflect.apply(saveTo, undefined, [source, path])),
    );

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ field });
  });

  test('rejects a response that was read', async () => {
    const response = new Response('a');
    await response.text();

    const error = await failureOf(saveTo(response, join(await temporaryFolder(), 'a')));

    expect(String(error)).toContain('already read');
  });
});

describe('fileFromPath()', () => {
  test('returns a file with its name, whose bytes are read from the disk', async () => {
    const path = join(await temporaryFolder(), 'talk.mp3');
    await writeFile(path, bytes);

    const file = await fileFromPath(path, { type: 'audio/mpeg' });

    expect(file).toMatchObject({ name: 'talk.mp3', type: 'audio/mpeg', size: 10_000 });
    expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test('detects its type from its name, or its bytes', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'talk.mp3'), bytes);
    await writeFile(join(folder, 'talk'), 'RIFF____WAVEfmt ');

    expect((await fileFromPath(join(folder, 'talk.mp3'))).type).toBe('audio/mpeg');
    expect((await fileFromPath(join(folder, 'talk'))).type).toMatch(/wav/);
  });

  test('a file of fileFromPath() is read in small blocks, any number of times, and as part of a form', async () => {
    const path = join(await temporaryFolder(), 'talk.mp3');
    await writeFile(path, bytes);
    const file = await fileFromPath(path);
    const form = new FormData();
    form.append('file', file);

    const sizes: number[] = [];
    for await (const block of file.stream()) sizes.push(block.length);

    expect(sizes).toEqual([10_000]);
    expect(Buffer.from(await new Response(file).arrayBuffer()).equals(bytes)).toBe(true);
    const sent = Buffer.from(await new Response(form).arrayBuffer());
    expect(sent.includes(bytes)).toBe(true);
  });

  test('a file of fileFromPath() is uploaded whole over a socket, with its length', async () => {
    const path = join(await temporaryFolder(), 'talk.mp3');
    const content = someBytes(300_001);
    await writeFile(path, content);
    const received: { length: string | undefined; body: Buffer }[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        received.push({ length: request.headers['content-length'], body: Buffer.concat(chunks) });
        response.setHeader('content-type', 'application/json').end('{"text":"Hi"}');
      });
    });
    const address = await new Promise<unknown>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve(server.address()));
    });
    onTestFinished(() => void server.close());
    const { port } = untyped<{ port: number }>(address);
    const baseURL = `http://127.0.0.1:${port}`;
    const { audio } = new Gateway({ apiKey: 'sk-test', baseURL, logLevel: 'off' });

    await audio.translations.create({ model: 'whisper', file: await fileFromPath(path) });

    expect(received).toHaveLength(1);
    expect(received[0]?.body.includes(content)).toBe(true);
    expect(received[0]?.length).toBe(String(received[0]?.body.length));
  });

  test('fails if it was changed after it was opened, and sends no complete request', async () => {
    const { client, emulator } = emulated();
    const path = join(await temporaryFolder(), 'talk.mp3');
    await writeFile(path, bytes);
    const file = await fileFromPath(path);
    await writeFile(path, bytes.subarray(5_000));

    const direct = await failureOf(new Response(file.stream()).arrayBuffer());
    const sent = await failureOf(client.audio.translations.create({ model: 'whisper', file }));

    expect(String(direct)).toContain('has changed');
    expect(InvalidInputError.isInstance(sent)).toBe(true);
    expect(emulator.requests).toEqual([]);
  });

  test.skipIf(process.platform !== 'linux')('closes the file once reading stops', async () => {
    const path = join(await temporaryFolder(), 'talk.mp3');
    await writeFile(path, someBytes(100_000));
    const file = await fileFromPath(path);
    const openFiles = async (): Promise<number> => {
      const names = await readdir('/proc/self/fd');
      const paths = names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
      return (await Promise.all(paths)).filter((target) => target === path).length;
    };

    const reader = file.stream().getReader();
    expect(await openFiles()).toBe(0);
    await reader.read();
    expect(await openFiles()).toBe(1);
    await reader.cancel();

    expect(await openFiles()).toBe(0);
    for await (const _ of file.stream());
    expect(await openFiles()).toBe(0);
  });

  test.each([
    ['', 'is empty'],
    ['/no/such/file', 'does not exist'],
    ['/', 'is not a file'],
    [7, 'must be text'],
  ])('rejects the path %j', async (path, problem) => {
    const error = await failureOf(fileFromPath(untyped(path)));

    expect(InvalidInputError.isInstance(error)).toBe(true);
    expect(String(error)).toContain(problem);
  });

  test('rejects a type that is not a string', async () => {
    const error = await failureOf(fileFromPath('/tmp', untyped({ type: 7 })));

    expect(String(error)).toContain('type: must be a MIME type');
  });
});
