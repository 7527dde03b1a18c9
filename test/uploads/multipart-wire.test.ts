import { createReadStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway, toFile, toStreamingFile } from '../../src/index.ts';
import type { FormFields } from '../../src/uploads/multipart.ts';
import { failureOf } from '../helpers/clients.ts';
import { encodeForm, postForm, type EncodedForm } from '../helpers/encode-form.ts';
import { mediaHeads } from '../helpers/media.ts';
import { parseMultipart } from '../helpers/parse-multipart.ts';

const { mp3, jpeg } = mediaHeads;
const mebibyte = 1024 * 1024;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly length: number;
  /** True if the whole request arrived. */
  readonly complete: boolean;
}

let server: Server;
let url = '';
let folder = '';
/** Called when a request has ended, whole or not. */
let onReceived: ((received: Received) => void) | undefined;
/** Called whenever bytes have come. */
let onBytes: (() => void) | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multipart-wire-'));
  await writeFile(join(folder, 'talk.mp3'), mp3);
  server = createServer((request, response) => {
    const kept: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      onBytes?.();
      if (length < mebibyte) kept.push(chunk);
    });
    request.on('close', () => {
      const { headers, complete } = request;
      onReceived?.({ headers, body: Buffer.concat(kept), length, complete });
    });
    // Answers before it has read anything.
    if (request.url === '/early') response.writeHead(413).end('too large');
    else request.on('end', () => response.end('ok'));
    request.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  url = `http://127.0.0.1:${address.port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

const post = (form: EncodedForm, target = url, signal?: AbortSignal): Promise<Response> =>
  postForm(form, target, signal);

function nextRequest(): Promise<Received> {
  return new Promise((resolve) => {
    onReceived = resolve;
  });
}

async function exchange(fields: FormFields): Promise<Received> {
  const form = await encodeForm(fields);
  const received = nextRequest();
  const response = await post(form);
  expect(await response.text()).toBe('ok');
  form.release();
  return received;
}

async function* chunks(...values: Uint8Array[]) {
  for (const value of values) yield await Promise.resolve(value);
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new Uint8Array(100_000));
  throw new Error('disk gone');
}

describe('a form on the wire', () => {
  const audio = { name: 'talk.mp3', type: 'audio/mpeg', data: mp3 };
  const unnamed = { name: 'file.jpg', type: 'image/jpeg', data: jpeg };
  const picture = { name: 'image.jpg', type: 'image/jpeg', data: jpeg };
  test.each([
    { name: 'a Buffer', framing: 'length', expected: unnamed, make: () => Buffer.from(jpeg) },
    {
      name: 'an ArrayBuffer',
      framing: 'length',
      expected: unnamed,
      make: () => jpeg.slice().buffer,
    },
    { name: 'a Blob', framing: 'length', expected: unnamed, make: () => new Blob([jpeg]) },
    {
      name: 'a File',
      framing: 'length',
      expected: picture,
      make: () => new File([jpeg], 'photos/image.png'),
    },
    {
      name: '{ data }',
      framing: 'length',
      expected: picture,
      make: () => ({ data: jpeg, filename: 'image.jpg' }),
    },
    {
      name: 'what toFile made',
      framing: 'length',
      expected: audio,
      make: () => toFile(mp3, 'talk.mp3'),
    },
    {
      name: 'a file behind a Blob',
      framing: 'length',
      expected: audio,
      make: async () => ({
        data: await openAsBlob(join(folder, 'talk.mp3')),
        filename: 'talk.mp3',
      }),
    },
    {
      name: 'a Response',
      framing: 'length',
      expected: audio,
      make: async () => {
        const response = new Response(mp3);
        Object.defineProperty(response, 'url', { value: 'https://example.com/talk.mp3?x=1' });
        return Promise.resolve(response);
      },
    },
    {
      name: 'an fs stream',
      framing: 'length',
      expected: audio,
      make: () => createReadStream(join(folder, 'talk.mp3')),
    },
    {
      name: 'a Node stream',
      framing: 'chunked',
      expected: audio,
      make: () => toStreamingFile(Readable.from([mp3, new Uint8Array()]), 'talk.mp3'),
    },
    {
      name: 'a web stream',
      framing: 'chunked',
      expected: audio,
      make: () => toStreamingFile(new Blob([mp3]).stream(), 'talk.mp3'),
    },
    {
      name: 'a stream with a size',
      framing: 'length',
      expected: audio,
      make: () =>
        toStreamingFile(chunks(mp3.slice(0, 70), mp3.slice(70)), 'talk.mp3', { size: mp3.length }),
    },
  ] as const)('exact bytes and headers of $name', async ({ framing, expected, make }) => {
    const value = await make();

    const { headers, body, length } = await exchange([
      ['model', 'm "1"'],
      ['file', value, 'any'],
      ['temperature', 0],
    ]);

    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=[\w-]{20,70}$/);
    if (framing === 'length') {
      expect(headers['content-length']).toBe(String(length));
      expect(headers['transfer-encoding']).toBeUndefined();
    } else {
      expect(headers['transfer-encoding']).toBe('chunked');
      expect(headers['content-length']).toBeUndefined();
    }
    const boundary = headers['content-type']?.split('boundary=')[1] ?? '';
    const text = [
      `--${boundary}`,
      'Content-Disposition: form-data; name="model"',
      '',
      'm "1"',
      `--${boundary}`,
      `Content-Disposition: form-data; name="file"; filename="${expected.name}"`,
      `Content-Type: ${expected.type}`,
      '',
      Buffer.from(expected.data).toString('latin1'),
      `--${boundary}`,
      'Content-Disposition: form-data; name="temperature"',
      '',
      '0',
      `--${boundary}--`,
      '',
    ].join('\r\n');
    expect(body.toString('latin1').trimEnd()).toBe(text.trimEnd());
    expect(body.toString('latin1')).not.toContain('[object');
  });

  test('several images next to text, in order', async () => {
    const { headers, body } = await exchange([
      ['image[]', [jpeg, createReadStream(join(folder, 'talk.mp3'))], 'any'],
      ['prompt', 'two\nlines'],
    ]);

    const parts = parseMultipart(body, headers['content-type'] ?? '');
    expect(parts.map(({ headers: [first] }) => first)).toEqual([
      'Content-Disposition: form-data; name="image[]"; filename="image.jpg"',
      'Content-Disposition: form-data; name="image[]"; filename="talk.mp3"',
      'Content-Disposition: form-data; name="prompt"',
    ]);
    expect(String(parts[2]?.content)).toBe('two\r\nlines');
  });
});

describe('an upload that fails', () => {
  test('an upload that fails rejects with the error of its source, and the server receives no complete request', async () => {
    const form = await encodeForm([['file', broken()]]);
    const received = nextRequest();

    const error: unknown = await post(form).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ cause: { message: 'disk gone' } });
    expect(form.sourceError()).toMatchObject({ message: 'disk gone' });
    expect((await received).complete).toBe(false);
  });

  test('a file that becomes unreadable is never sent completely', async () => {
    class Gone extends Blob {
      override stream(): ReturnType<Blob['stream']> {
        return new ReadableStream({ pull: () => Promise.reject(new Error('disk gone')) });
      }
    }
    const client = new Gateway({ apiKey: 'sk-test', baseURL: url, logLevel: 'off' });
    const file = { data: new Gone([mp3]), filename: 'talk.mp3' };
    const received = nextRequest();

    const failure = await failureOf(client.audio.translations.create({ model: 'm', file }));

    expect(failure).toMatchObject({ outcome: 'not_sent', cause: { message: 'disk gone' } });
    expect((await received).complete).toBe(false);
  });

  test('an abort destroys the source', async () => {
    const source = new Readable({ read() {} });
    source.push(Buffer.alloc(100_000));
    const controller = new AbortController();
    const { signal } = controller;
    const form = await encodeForm([['file', source]], signal);
    const received = nextRequest();
    onBytes = () => controller.abort();

    const response = post(form, url, signal);

    await expect(response).rejects.toMatchObject({ name: 'AbortError' });
    onBytes = undefined;
    expect(source.destroyed).toBe(true);
    expect((await received).complete).toBe(false);
  });

  test('an early response destroys the source', async () => {
    const source = new Readable({ read() {} });
    source.push(Buffer.alloc(100_000));
    const form = await encodeForm([['file', source]]);

    const response = await post(form, `${url}/early`);
    expect(source.destroyed).toBe(false);
    form.release();

    expect(response.status).toBe(413);
    expect(await response.text()).toBe('too large');
    expect(source.destroyed).toBe(true);
  });

  test('an upload that fails releases a file that was never sent because the server did not respond', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const address = closed.address();
    const port = address === null || typeof address === 'string' ? 0 : address.port;
    await new Promise((resolve) => closed.close(resolve));
    const source = createReadStream(join(folder, 'talk.mp3'), { highWaterMark: 70 });
    const { body, headers, release } = await encodeForm([['file', source]]);
    const init = { method: 'POST', headers, body, duplex: 'half', redirect: 'error' } as const;

    const error: unknown = await fetch(`http://127.0.0.1:${port}`, { ...init }).catch(
      (thrown: unknown) => thrown,
    );
    release();

    expect(error).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    expect(source.destroyed).toBe(true);
  });
});
