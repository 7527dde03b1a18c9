import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  Gateway,
  InvalidInputError,
  type RawRequestOptions,
  toStreamingFile,
} from '../../../src/index.ts';
import { failureOf, json, scripted } from '../../helpers/clients.ts';
import { error } from '../../helpers/transport.ts';
import { parseMultipart } from '../../helpers/parse-multipart.ts';
import { settle } from '../../helpers/fake-time.ts';

const bytes = new TextEncoder().encode('hello');

/** A client whose gateway reads every body before it answers, and what arrived there. */
function reading(answer: () => Response) {
  const seen: (readonly [type: string | null, text: string])[] = [];
  const { client } = scripted([
    async (request) => {
      seen.push([request.headers.get('content-type'), await request.text()]);
      return answer();
    },
  ]);
  return { client, seen };
}

/** The received body: content type and text. */
async function arrived(options: RawRequestOptions): Promise<unknown> {
  const { client, seen } = reading(json({}));
  await client.post('/v1/x', options);
  return seen[0];
}

const webStream = (...chunks: unknown[]) =>
  new ReadableStream({
    start(output) {
      for (const chunk of chunks) output.enqueue(chunk);
      output.close();
    },
  });

async function* pieces() {
  yield 'hel';
  yield await Promise.resolve(new Uint8Array(bytes.subarray(3)));
}

function* generated() {
  yield bytes;
}

const readParts = async (sent: Body & { headers: Headers } = new Response()) =>
  parseMultipart(await sent.bytes(), sent.headers.get('content-type') ?? '');

const octets = 'application/octet-stream';
const made: readonly {
  readonly name: string;
  readonly make: () => unknown;
  readonly type: string;
}[] = [
  { name: 'a Uint8Array', make: () => bytes, type: octets },
  { name: 'an ArrayBuffer', make: () => bytes.buffer, type: octets },
  {
    name: 'a DataView of a part',
    make: () => new DataView(new TextEncoder().encode('-hello').buffer, 1),
    type: octets,
  },
  { name: 'a Buffer', make: () => Buffer.from('hello'), type: octets },
  { name: 'a Blob', make: () => new Blob(['hello'], { type: 'text/csv' }), type: 'text/csv' },
  { name: 'a Blob without a type', make: () => new Blob(['hello']), type: octets },
  {
    name: 'a File',
    make: () => new File(['hello'], 'a.txt', { type: 'text/plain' }),
    type: 'text/plain',
  },
  { name: 'a web stream', make: () => webStream(bytes), type: octets },
  { name: 'a Node stream', make: () => Readable.from([Buffer.from('hello')]), type: octets },
  { name: 'an async iterable of text and bytes', make: pieces, type: octets },
  {
    name: 'a streaming file',
    make: () => toStreamingFile(webStream(bytes), 'a.bin', { type: 'x/y' }),
    type: 'x/y',
  },
];

describe('a body of an unknown route', () => {
  test.each(made)('$name arrives unchanged', async ({ make, type }) => {
    expect(await arrived({ body: make() })).toEqual([type, 'hello']);
  });

  test.each(made)('$name has the content type of the request headers', async ({ make }) => {
    const headers = { 'Content-Type': 'application/pdf' };

    expect(await arrived({ body: make(), headers })).toEqual(['application/pdf', 'hello']);
  });

  test('URLSearchParams are sent as a URL-encoded form', async () => {
    const body = new URLSearchParams([
      ['a', '1 2'],
      ['a', '&'],
    ]);

    expect(await arrived({ body })).toEqual([
      'application/x-www-form-urlencoded;charset=UTF-8',
      'a=1+2&a=%26',
    ]);
  });

  test.each([undefined, { 'content-type': 'multipart/form-data' }])(
    'a form has a boundary with any content type: %o',
    async (headers) => {
      const body = new FormData();
      body.append('a', '1');
      body.append('file', new File(['hello'], 'a.txt', { type: 'text/plain' }));
      const { client, requests } = scripted([json({})]);

      await client.post('/v1/x', { body, headers });

      const form = await requests[0]?.formData();
      expect(form?.get('a')).toBe('1');
      expect(form?.get('file')).toMatchObject({ name: 'a.txt', type: 'text/plain', size: 5 });
    },
  );

  test('a form arrives unchanged, with any names, text and bytes', async () => {
    const text = fc.string({ unit: 'grapheme' });
    const file = fc.record({
      // Nothing is sent without a name; runtimes write an empty one in different ways.
      name: fc.string({ unit: 'grapheme', minLength: 1 }),
      bytes: fc.uint8Array(),
      type: fc.constantFrom('', 'image/png'),
    });
    const entry = fc.tuple(text, fc.oneof(text, file));

    await fc.assert(
      fc.asyncProperty(fc.array(entry), async (entries) => {
        const form = new FormData();
        for (const [name, value] of entries) {
          if (typeof value === 'string') form.append(name, value);
          else form.append(name, new File([value.bytes], value.name, { type: value.type }));
        }
        const { client, requests } = scripted([json({})]);

        await client.post('/v1/x', { body: form });

        // The runtime's own encoding of the same form, taken apart by the same parser.
        expect(await readParts(requests[0])).toEqual(await readParts(new Response(form)));
      }),
      { numRuns: 60 },
    );
  });

  test('a form file without a name, as in Bun, has the default name', async () => {
    class BunForm extends Map<string, Blob> {
      override readonly [Symbol.toStringTag] = 'FormData';
    }
    // The result of `form.append('file', new Blob(['hello']))` in Bun.
    const body = new BunForm([['file', new Blob(['hello'])]]);
    const { client, requests } = scripted([json({})]);

    await client.post('/v1/x', { body });

    const form = await requests[0]?.formData();
    expect(form?.get('file')).toMatchObject({ name: 'blob', size: 5 });
  });

  test('text is JSON, or sent unchanged with another content type', async () => {
    expect(await arrived({ body: 'a' })).toEqual(['application/json', '"a"']);
    expect(
      await arrived({ body: '{"a":1}', headers: { 'content-type': 'application/json' } }),
    ).toEqual(['application/json', '{"a":1}']);
    const headers = new Headers({ 'content-type': 'text/csv' });
    expect(await arrived({ body: 'a,b', headers })).toEqual(['text/csv', 'a,b']);
  });

  test('an object is encoded for its content type', async () => {
    const body = { a: 1, b: ['x', 'y'], c: { d: true }, e: undefined };
    const as = (type: string) => arrived({ body, headers: { 'content-type': type } });

    const patch = 'application/merge-patch+json';
    expect(await as(patch)).toEqual([patch, JSON.stringify(body)]);
    // Gateways read JSON under exactly this name.
    expect(await as('application/json; charset=utf-8')).toEqual([
      'application/json',
      JSON.stringify(body),
    ]);
  });

  test.each([{ data: 'a', filename: 'b' }, [1, 2], { type: 'x', size: 1 }, 0])(
    '%o is sent as JSON',
    async (body) => {
      expect(await arrived({ body })).toEqual(['application/json', JSON.stringify(body)]);
    },
  );

  test('null sends no body', async () => {
    expect(await arrived({ body: null })).toEqual([null, '']);
  });

  test('an empty string is a body', async () => {
    expect(await arrived({ body: new Uint8Array() })).toEqual([octets, '']);
  });

  test('a body of an unknown route is sent with DELETE and PUT too, and not with GET', async () => {
    const { client, requests } = scripted([json({})]);

    await client.request('PUT', '/v1/x', { body: bytes });
    const failure = await failureOf(client.get('/v1/x', { body: bytes }));

    expect(await requests[0]?.text()).toBe('hello');
    expect(failure).toMatchObject({ field: 'body', outcome: 'not_sent' });
    expect(requests).toHaveLength(1);
  });

  test('later changes of the bytes are not sent', async () => {
    const { client, requests } = scripted([json({})]);
    const body = new TextEncoder().encode('hello');

    const call = client.post('/v1/x', { body });
    body.fill(0);
    await call;

    expect(await requests[0]?.text()).toBe('hello');
  });

  test.each([
    ['extraBody', { body: bytes, extraBody: { a: 1 } }],
    ['body', { body: { pipe: () => {}, on: () => {} } }],
    ['body', { body: new Response('no') }],
    ['body', { body: generated() }],
    ['body', { body: { a: 1 }, headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['body', { body: lockedStream() }],
  ])('an invalid %s sends nothing', async (field, options) => {
    const { client, requests } = scripted([json({})]);

    const failure = await failureOf(client.post('/v1/x', options));

    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toMatchObject({ field, outcome: 'not_sent' });
    expect(requests).toHaveLength(0);
  });
});

function lockedStream(): ReadableStream {
  const stream = webStream(bytes);
  stream.getReader();
  return stream;
}

describe('how often a body is sent', () => {
  afterEach(() => void vi.useRealTimers());

  test.each(made)(
    '$name: a stream once, data in memory by the retry rules',
    async ({ name, make }) => {
      vi.useFakeTimers();
      const { client, seen } = reading(error('x', 500));
      const isOnce = /stream|iterable/.test(name);

      await settle(client.request('PUT', '/v1/x', { body: make() }));

      expect(seen.map(([, text]) => text)).toEqual(Array(isOnce ? 1 : 3).fill('hello'));
    },
  );

  test('never charges twice', async () => {
    vi.useFakeTimers();
    for (const { make } of made) {
      const { client, seen } = reading(error('x', 500));
      await settle(client.post('/v1/x', { body: make() }));
      expect(seen).toHaveLength(1);
    }
  });
});

test("the runtime's fetch sends forms, bytes and streams unchanged", async () => {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += String(chunk)));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify([request.headers['content-type'], text]));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Missing port');
  const baseURL = `http://127.0.0.1:${address.port}`;
  const client = new Gateway({ apiKey: 'sk-test', baseURL });
  try {
    for (const { make, type } of made) {
      expect(await client.post('/v1/x', { body: make() })).toEqual([type, 'hello']);
    }
    const form = new FormData();
    form.append('a', 'hello');
    const [type, text] = Object(await client.post('/v1/x', { body: form }));
    expect(type).toMatch(/^multipart\/form-data; ?boundary=/);
    expect(text).toContain('name="a"\r\n\r\nhello\r\n');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

describe('a stream', () => {
  test('a stream that fails is reported, with no complete request sent', async () => {
    const problem = new Error('disk on fire');
    async function* failing() {
      yield bytes;
      await Promise.reject(problem);
    }
    const { client } = scripted([
      async (request) => {
        await request.text();
        return Response.json({});
      },
    ]);

    const failure = await failureOf(client.post('/v1/x', { body: failing() }));

    expect(failure).toMatchObject({ outcome: 'not_sent', cause: problem });
  });

  test('a stream is closed if the response arrives first', async () => {
    let isClosed = false;
    async function* endless() {
      try {
        for (;;) yield await Promise.resolve(bytes);
      } finally {
        isClosed = true;
      }
    }
    const body = Readable.from(endless());
    const client = new Gateway({
      apiKey: 'sk-test',
      baseURL: 'https://gateway.test',
      fetch: async () => Promise.resolve(Response.json({ ok: true })),
    });

    expect(await client.post('/v1/x', { body })).toEqual({ ok: true });

    expect(body.destroyed).toBe(true);
    body.on('error', () => {});
    await expect.poll(() => [isClosed, body.closed]).toContain(true);
  });

  test('a stream of a missing file names the body', async () => {
    const { client } = scripted([
      async (request) => {
        await request.text();
        return Response.json({});
      },
    ]);

    const body = createReadStream('/nowhere/at/all');
    const failure = await failureOf(client.post('/v1/x', { body }));

    expect(failure).toMatchObject({ outcome: 'not_sent', cause: { code: 'ENOENT' } });
  });

  test("a stream is stopped by the call's signal", async () => {
    const controller = new AbortController();
    const body = new ReadableStream({ pull: () => new Promise(() => {}) });
    const { client } = scripted([
      async (request) => {
        controller.abort();
        await request.text();
        return Response.json({});
      },
    ]);

    const failure = await failureOf(client.post('/v1/x', { body, signal: controller.signal }));

    expect(failure).toHaveProperty('name', 'APIUserAbortError');
  });
});
