import { createServer, type RequestListener, type Server } from 'node:http';
import {
  createServer as createSocketServer,
  type AddressInfo,
  type Server as NetServer,
} from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEmulator, type Emulator, type EmulatorServer } from '../../src/testing/index.ts';
import { Machine } from './run.ts';

interface Finding {
  readonly id: string;
  readonly status: string;
  readonly detail: string;
  readonly fix?: string;
}

let emulator: Emulator;
let gateway: EmulatorServer;
const open: (Server | NetServer)[] = [];

beforeEach(async () => {
  emulator = createEmulator();
  gateway = await emulator.listen();
});

afterEach(async () => {
  for (const server of open.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  }
  await gateway.close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${portOf(server)}`;
}

function portOf(server: Server | NetServer): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  return address.port;
}

/** A server that passes requests on to the emulator, and changes what comes back. */
function proxy(change: (response: Response, path: string) => Response | Promise<Response>) {
  return serve((request, outgoing) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    const answer = async (): Promise<void> => {
      const path = request.url ?? '/';
      const { authorization = '', 'content-type': type = '', origin = '' } = request.headers;
      const response = await emulator.fetch(`${emulator.baseURL}${path}`, {
        method: request.method ?? 'GET',
        headers: { authorization, 'content-type': type, ...(origin === '' ? {} : { origin }) },
        ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      });
      const changed = await change(response, path);
      outgoing.writeHead(changed.status, Object.fromEntries(changed.headers));
      outgoing.end(Buffer.from(await changed.arrayBuffer()));
    };
    request.on('end', () => void answer());
  });
}

/** @param timeout - So long that it is over only where nothing ever comes, however busy the machine is. */
async function examine(
  url: string,
  words: readonly string[] = [],
  { key = emulator.apiKey, timeout = '30s' } = {},
) {
  const machine = new Machine({ url, key });
  const { code, stdout } = await machine.run(['doctor', '--json', '--timeout', timeout, ...words]);
  const findings: Finding[] = JSON.parse(stdout);
  return { code, find: (id: string) => findings.find((finding) => finding.id === id), findings };
}

const models = (ids: readonly string[]): Response =>
  Response.json({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });

const listing = (ids: string[]): Promise<string> =>
  proxy((response, path) => (path === '/v1/models' ? models(ids) : response));

test('a gateway that is well', async () => {
  const { code, findings } = await examine(gateway.url);

  expect(code).toBe(0);
  // How fast it is says nothing of it on a busy machine.
  const doubtful = findings.filter(({ id }) => id !== 'latency');
  expect(doubtful.filter(({ status }) => status !== 'ok' && status !== 'skip')).toEqual([]);
  expect(emulator.charges).toEqual([]);
});

test('with and without /v1', async () => {
  expect((await examine(`${gateway.url}/v1`)).code).toBe(0);
  expect((await examine(`${gateway.url}/v1/`)).code).toBe(0);
});

test('--spend streams one chat', async () => {
  const { code, find } = await examine(gateway.url, ['--spend', '-m', 'm-large']);

  expect(code).toBe(0);
  expect(find('chat')?.status).toBe('ok');
  expect(find('chat-finish')?.detail).toContain('stop');
  expect(emulator.charges).toHaveLength(1);
});

describe('what is wrong is found, and the fix is told', () => {
  test.each<[string, (url: string) => string, string, RegExp]>([
    ['/v1 twice', (url) => `${url}/v1/v1`, 'base-url', /twice/],
    ['a part of the path too many', (url) => `${url}/api/gateway`, 'base-url', /path/],
    ['no address', () => 'gateway.example', 'base-url', /https:\/\//],
    ['TLS on a port without', (url) => url.replace('http:', 'https:'), 'connection', /http:\/\//],
    ['a host that is not there', () => 'http://no-such-host.invalid', 'connection', /DNS/],
  ])('%s', async (_, address, id, fix) => {
    const { code, find } = await examine(address(gateway.url));

    expect(code).toBe(1);
    expect(find(id)).toMatchObject({ status: 'fail', fix: expect.stringMatching(fix) });
  });

  test('a port without a server', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const port = portOf(closed);
    await new Promise((resolve) => closed.close(resolve));

    const { find } = await examine(`http://127.0.0.1:${port}`);

    expect(find('connection')).toMatchObject({
      status: 'fail',
      fix: expect.stringMatching(/host and port/),
    });
  });

  test('a website in place of the API', async () => {
    const url = await serve((_, response) => response.end('<!doctype html><title>Console</title>'));

    expect((await examine(url)).find('base-url')).toMatchObject({
      status: 'fail',
      fix: expect.stringContaining('website'),
    });
  });

  test('a redirect', async () => {
    const url = await serve((_, response) => {
      response.writeHead(301, { location: 'https://elsewhere.example/v1/models' }).end();
    });

    expect((await examine(url)).find('base-url')?.fix).toContain('elsewhere.example');
  });

  test('a key that is wrong, and one that is refused', async () => {
    const forbidden = await proxy(() =>
      Response.json({ error: { message: 'no' } }, { status: 403 }),
    );

    const wrong = await examine(gateway.url, [], { key: 'sk-other' });
    const refused = await examine(forbidden);

    expect(wrong.find('key')).toMatchObject({
      status: 'fail',
      detail: expect.stringMatching(/401/),
    });
    expect(refused.find('key')).toMatchObject({
      status: 'fail',
      fix: expect.stringMatching(/rights/),
    });
    expect(wrong.find('models')?.status).toBe('skip');
  });

  test('an empty list of models, and one with a model twice', async () => {
    const empty = await examine(await listing([]));
    const doubled = await examine(await listing(['a', 'b', 'a']));

    expect(empty.find('models')).toMatchObject({ status: 'fail' });
    expect(doubled.find('models')).toMatchObject({
      status: 'warn',
      detail: expect.stringMatching(/: a$/),
    });
  });

  test('a clock that is an hour off', async () => {
    const url = await proxy((response) => {
      const date = new Date(Date.now() - 3_600_000).toUTCString();
      return new Response(response.status === 204 ? null : response.body, {
        status: response.status,
        headers: { ...Object.fromEntries(response.headers), date },
      });
    });

    expect((await examine(url)).find('clock')).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('60 minutes'),
    });
  });

  test('pages may not call it: a warning', async () => {
    const url = await proxy((response) => {
      const headers = [...response.headers].filter(([name]) => !name.startsWith('access-control'));
      return new Response(response.status === 204 ? null : response.body, {
        status: response.status,
        headers,
      });
    });
    const { code, find } = await examine(url);

    expect(code).toBe(0);
    expect(find('cors')?.status).toBe('warn');
  });

  test('no route for videos: a warning', async () => {
    const url = await proxy((response, path) =>
      path.startsWith('/v1/videos')
        ? Response.json({ error: { message: `Invalid URL (GET ${path})` } }, { status: 404 })
        : response,
    );

    expect((await examine(url)).find('videos')?.status).toBe('warn');
  });

  test('a server that hangs', async () => {
    const silent = createSocketServer(() => {});
    open.push(silent);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));

    const url = `http://127.0.0.1:${portOf(silent)}`;
    const { code, find } = await examine(url, [], { timeout: '1s' });

    expect(code).toBe(1);
    expect(find('connection')?.detail).toContain('within 1 s');
  });

  test('plain HTTP on a port that wants TLS', async () => {
    const alert = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x32]);
    const secure = createSocketServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(alert));
    });
    open.push(secure);
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));

    const { code, find } = await examine(`http://127.0.0.1:${portOf(secure)}`);

    expect(code).toBe(1);
    expect(find('connection')?.fix).toContain('https://');
  });

  test('events that are labelled as text, and a proxy that keeps them back', async () => {
    const url = await proxy(async (response, path) => {
      // The preflight has no body.
      if (path !== '/v1/chat/completions' || response.status === 204) return response;
      const whole = await response.arrayBuffer();
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return new Response(whole, {
        status: response.status,
        headers: { 'content-type': 'text/plain' },
      });
    });
    const { find } = await examine(url, ['--spend', '-m', 'm-large']);

    expect(find('chat-type')).toMatchObject({ status: 'warn' });
    expect(find('chat-buffering')).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('proxy_buffering off'),
    });
  });
});

test('--spend needs a model', async () => {
  const { code, stderr } = await new Machine({ url: gateway.url, key: 'k' }).run([
    'doctor',
    '--spend',
  ]);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('-m') });
});
