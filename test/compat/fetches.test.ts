// Other implementations of `fetch`: they type-check as the option `fetch`, and calls over a real socket work.
import { createServer, request, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import crossFetch from 'cross-fetch';
import nodeFetch from 'node-fetch';
import { Agent as Agent7, fetch as fetch7, ProxyAgent as ProxyAgent7 } from 'undici7';
import { Agent as Agent8, fetch as fetch8, ProxyAgent as ProxyAgent8 } from 'undici8';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway, type GatewayOptions } from '../../dist/index.js';
import { createEmulator, type EmulatorServer } from '../../dist/testing/index.js';
import { untyped } from '../helpers/untyped.ts';
import { ask } from './emulator.ts';

// Packages without types. whatwg-fetch, which React Native has built in, uses the global XMLHttpRequest.
const load = createRequire(import.meta.url);
Object.assign(globalThis, { XMLHttpRequest: untyped<unknown>(load('xhr2')) });
const { fetch: whatwgFetch } = untyped<{ fetch: typeof fetch }>(load('whatwg-fetch'));

const emulator = createEmulator();
let server: EmulatorServer;
beforeAll(async () => {
  server = await emulator.listen();
});
afterAll(() => server.close());

const clientWith = (options: GatewayOptions): Gateway =>
  new Gateway({ ...options, apiKey: emulator.apiKey, baseURL: server.url, logLevel: 'off' });

const implementations: readonly {
  readonly name: string;
  readonly options: GatewayOptions;
  /** True if it can send a `Blob`, as forms require. */
  readonly sendsForms: boolean;
}[] = [
  {
    name: 'undici 7 with an agent',
    options: { fetch: fetch7, fetchOptions: { dispatcher: new Agent7() } },
    sendsForms: true,
  },
  {
    name: 'undici 8 with an agent',
    options: { fetch: fetch8, fetchOptions: { dispatcher: new Agent8() } },
    sendsForms: true,
  },
  { name: 'node-fetch 3', options: { fetch: nodeFetch }, sendsForms: true },
  { name: 'cross-fetch', options: { fetch: crossFetch }, sendsForms: false },
  { name: 'whatwg-fetch', options: { fetch: whatwgFetch }, sendsForms: false },
  {
    name: 'a function literal',
    options: { fetch: (...input) => fetch(...input) },
    sendsForms: true,
  },
];

describe.each(implementations)('$name', ({ options, sendsForms }) => {
  test('receives a whole response', async () => {
    const { choices } = await clientWith(options).chat.completions.create(ask);

    expect(choices[0]?.message.content).toContain('Lisbon');
  });

  test('asks once, also with a wrong key', async () => {
    const before = emulator.requests.length;
    const client = clientWith(options);
    const embedded = await client.embeddings.create({ model: 'm', input: 'Hi' });
    const drawn = await client.images.generate({ model: 'm-image', prompt: 'A boat' });
    const wrong = client.withOptions({ apiKey: 'sk-wrong' }).chat.completions.create(ask);

    await expect(wrong).rejects.toMatchObject({ status: 401, outcome: 'rejected' });
    expect(embedded.data).toHaveLength(1);
    expect(drawn.data).toHaveLength(1);
    expect(emulator.requests.length - before).toBe(3);
  });

  test('receives a stream', async () => {
    const stream = await clientWith(options).chat.completions.create({ ...ask, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';

    expect(text).toContain('Lisbon');
    expect(stream.verdict).toBe('complete');
  });

  test('receives a file', async () => {
    const speech = { model: 'm-speech', voice: 'alloy', input: 'Hello' };
    const file = await clientWith(options).audio.speech.create(speech);

    expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
  });

  test.runIf(sendsForms)('sends a form', async () => {
    const { id } = await clientWith(options).videos.create({ model: 'm-video', prompt: 'A boat' });

    expect(id).toMatch(/^task_/);
  });
});

/** A proxy for plain requests and for tunnels, as undici 8 and undici 7 use it. */
function createProxy(onUse: () => void): Server {
  const proxy = createServer((received, response) => {
    onUse();
    const { url = '', method, headers } = received;
    received.pipe(
      request(url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  return proxy.on('connect', ({ url }, socket) => {
    onUse();
    const { hostname, port } = new URL(`http://${url}`);
    const target = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    socket.on('error', () => target.destroy());
    target.on('error', () => socket.destroy());
  });
}

test.each([
  { name: 'undici 7', fetch: fetch7, Agent: ProxyAgent7 },
  { name: 'undici 8', fetch: fetch8, Agent: ProxyAgent8 },
])('$name sends calls through a proxy', async ({ fetch, Agent }) => {
  let uses = 0;
  const proxy = createProxy(() => {
    uses += 1;
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const dispatcher = new Agent(`http://127.0.0.1:${port}`);

  const client = clientWith({ fetch, fetchOptions: { dispatcher } });
  const { choices } = await client.chat.completions.create(ask);

  expect(choices[0]?.message.content).toContain('Lisbon');
  expect(uses).toBe(1);
  await dispatcher.close();
  proxy.close();
});
