import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createEmulator, type Emulator, type EmulatorServer } from '../../src/testing/index.ts';
import { plainClient, type PlainClient } from '../helpers/emulator-client.ts';

const embedding = { model: 'm-embedding', input: 'tea' };

let emulator: Emulator;
let server: EmulatorServer;
let client: PlainClient;

beforeEach(async () => {
  emulator = createEmulator();
  server = await emulator.listen();
  client = plainClient(emulator, server.url);
});

afterEach(async () => {
  await emulator[Symbol.asyncDispose]();
});

/** Sends a request over a bare socket, and returns the answer and how it ended. */
function exchange(request: string): Promise<{ received: string; error: string | undefined }> {
  return new Promise((resolve) => {
    let received = '';
    let error: string | undefined;
    const socket = connect(server.port, '127.0.0.1', () => socket.write(request));
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    socket.on('error', (reason) => {
      error = 'code' in reason ? String(reason.code) : reason.message;
    });
    socket.on('close', () => resolve({ received, error }));
  });
}

function rawPost(path: string, body: object): string {
  const json = JSON.stringify(body);
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: gateway.test',
    'Authorization: Bearer sk-emulator',
    'Content-Type: application/json',
    `Content-Length: ${json.length}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${json}`;
}

describe('a listening emulator', () => {
  test('serves the same gateway on a free port', async () => {
    const response = await client.post('/v1/embeddings', embedding);
    const direct = await plainClient(emulator).post('/v1/embeddings', embedding);

    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    expect(await response.json()).toEqual(await direct.json());
    expect(emulator.charges).toHaveLength(2);
  });

  test('uses a given port, and reports if it is in use', async () => {
    await server.close();
    const again = await emulator.listen(server.port);

    expect(again.port).toBe(server.port);
    await expect(createEmulator().listen(server.port)).rejects.toThrow('EADDRINUSE');
  });

  test('accepts large forms', async () => {
    const form = new FormData();
    form.set('model', 'm-translation');
    form.set('file', new File([new Uint8Array(5_000_000)], 'a.wav'));

    const response = await client.post('/v1/audio/translations', form);

    expect(response.status).toBe(200);
    expect(emulator.requests[0]?.body).toMatchObject({ files: [{ size: 5_000_000 }] });
  });

  test('builds URLs from the requested host', async () => {
    emulator.quirks.fileOrigin = 'other';
    const order = { model: 'm-image', prompt: 'x', size: '16x16' };

    const { data } = await (await client.post('/v1/images/generations', order)).json();
    const file = await fetch(data[0].url);

    expect(new URL(data[0].url).origin).toBe(server.filesURL);
    expect(file.headers.get('content-type')).toBe('image/png');
    expect(file.headers.get('access-control-allow-origin')).toBe('*');
  });

  test('redirects to another origin, which serves only files', async () => {
    emulator.quirks.contentDelivery = 'redirect';
    const { id } = await (await client.post('/v1/videos', { model: 'm', prompt: 'x' })).json();
    emulator.videos.complete(id);

    const response = await client.get(`/v1/videos/${id}/content`);
    const elsewhere = await fetch(`${server.filesURL}/v1/models`);

    expect(new URL(response.url).origin).toBe(server.filesURL);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(emulator.requests.at(-2)).toMatchObject({ origin: server.filesURL, hasKey: false });
    expect(elsewhere.status).toBe(404);
  });

  test('responds to HEAD and unknown paths like the gateway', async () => {
    const head = await fetch(`${server.url}/v1/videos/x/content`, { method: 'HEAD' });

    expect(head.status).toBe(404);
  });

  test('closes open connections when it is closed', async () => {
    emulator.fail({ fault: { type: 'hang' } });
    const pending = client.post('/v1/embeddings', embedding);
    const failure = expect(pending).rejects.toThrow('fetch failed');
    await expect.poll(() => emulator.requests).toHaveLength(1);

    await server.close();

    await failure;
  });
});

describe('the connection', () => {
  test.each([
    ['before-body', 0],
    ['before-charge', 0],
    ['after-charge', 1],
  ] as const)('the connection is reset %s', async (when, charges) => {
    emulator.fail({ fault: { type: 'reset', when } });

    const { received, error } = await exchange(rawPost('/v1/embeddings', embedding));

    expect(received).toBe('');
    expect(error).toBe('ECONNRESET');
    expect(emulator.charges).toHaveLength(charges);
  });

  test('the connection is reset after exactly the bytes of a cut', async () => {
    emulator.fail({ fault: { type: 'cut', bytes: 20 } });

    const { received, error } = await exchange(rawPost('/v1/embeddings', embedding));

    const [head = '', body = ''] = received.split('\r\n\r\n');
    expect(head).toContain('200 OK');
    expect(body).toBe('14\r\n{"object":"list","da\r\n');
    expect(error).toBe('ECONNRESET');
  });

  test('the connection ends early with a content length', async () => {
    const { id } = await (await client.post('/v1/videos', { model: 'm', prompt: 'x' })).json();
    emulator.videos.complete(id);
    emulator.fail({ fault: { type: 'cut', bytes: 100, how: 'end' } });

    const response = await client.get(`/v1/videos/${id}/content`);

    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
    await expect(response.arrayBuffer()).rejects.toThrow('terminated');
  });

  test('the connection ends normally without a content length', async () => {
    emulator.fail({ fault: { type: 'cut', bytes: 10, how: 'end' } });

    const response = await client.post('/v1/embeddings', embedding);

    expect(await response.text()).toBe('{"object":');
  });

  test('the connection is cut in the middle of a stream', async () => {
    emulator.fail({ fault: { type: 'cut-events', after: 2 } });

    const response = await client.chat('Hi', { stream: true });

    await expect(response.text()).rejects.toThrow('terminated');
  });

  test('stalls, and the emulator detects a disconnect', async () => {
    emulator.fail({ fault: { type: 'stall-events', after: 1 } });
    const leave = new AbortController();
    const messages = [{ role: 'user', content: 'Hi' }];

    const response = await client.post(
      '/v1/chat/completions',
      { model: 'm-large', messages, stream: true },
      { signal: leave.signal },
    );
    await response.body?.getReader().read();
    expect(emulator.requests[0]).toMatchObject({ status: 200, disconnected: false });
    leave.abort();

    await expect.poll(() => emulator.requests[0]?.disconnected).toBe(true);
    expect(emulator.charges).toHaveLength(1);
  });

  test('the connection is not reported as lost if the whole response was read', async () => {
    const response = await client.chat('Hi', { stream: true });
    await response.text();
    await server.close();

    expect(emulator.requests[0]?.disconnected).toBe(false);
  });

  test('the connection applies backpressure to the emulator', async () => {
    let made = 0;
    let isCancelled = false;
    const body = (): ReadableStream<Uint8Array> =>
      new ReadableStream({
        pull(controller) {
          made += 1;
          controller.enqueue(new Uint8Array(65_536));
        },
        cancel() {
          isCancelled = true;
        },
      });
    emulator.respondOnce('audio.speech.create', () => new Response(body()));

    const response = await client.post('/v1/audio/speech', { model: 'm', input: 'x' });
    let before = -1;
    await vi.waitUntil(
      () => {
        const isStill = made === before;
        before = made;
        return isStill;
      },
      { interval: 100, timeout: 20_000 },
    );
    expect(made).toBeLessThan(500);
    await response.body?.cancel();

    await expect.poll(() => isCancelled).toBe(true);
  });
});
