import * as http from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { Gateway, GatewayError, memoryLedger } from '../../src/index.ts';
import type { Fetch, GatewayOptions } from '../../src/options/options.ts';
import { failureOf } from '../helpers/clients.ts';
import { untyped } from '../helpers/untyped.ts';

const params = { model: 'm-image', prompt: 'A fox' };
const baseURL = 'https://gateway.invalid';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A proxy on a real socket that answers every request with a status. */
async function proxy(status: number) {
  let requests = 0;
  const answer = (socket: Socket): void => {
    socket.on('error', () => {});
    socket.once('data', () => {
      requests += 1;
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    });
  };
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('No address.');
  return { place: `127.0.0.1:${address.port}`, count: () => requests };
}

/** Makes Node's fetch use a proxy, as `NODE_USE_ENV_PROXY=1` does. */
function useProxy(place: string): void {
  const variables = ['NODE_USE_ENV_PROXY', 'http_proxy', 'https_proxy'] as const;
  const before = variables.map((name) => [name, process.env[name]] as const);
  const url = `http://user:secret@${place}`;
  Object.assign(process.env, { NODE_USE_ENV_PROXY: '1', http_proxy: url, https_proxy: url });
  const key = Symbol.for('undici.globalDispatcher.1');
  const agent: unknown = Reflect.get(globalThis, key);
  const restore = http.setGlobalProxyFromEnv({ http_proxy: url, https_proxy: url });
  onTestFinished(() => {
    restore();
    Reflect.set(globalThis, key, agent);
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });
}

const clientWith = (options: GatewayOptions = {}): Gateway =>
  new Gateway({ apiKey: 'sk-test', baseURL, logLevel: 'off', maxRetries: 0, ...options });

async function failure(call: PromiseLike<unknown>): Promise<GatewayError> {
  const error = await failureOf(call);
  if (!GatewayError.isInstance(error)) throw error;
  return error;
}

describe.skipIf(typeof http.setGlobalProxyFromEnv !== 'function')('a proxy of Node', () => {
  test.each([403, 407, 502])(
    'nothing is sent if a proxy of Node answers CONNECT with %i',
    async (status) => {
      const { place } = await proxy(status);
      useProxy(place);
      const ledger = memoryLedger();

      const error = await failure(clientWith().images.generate(params, { ledger, callId: 'a' }));

      expect(error).toMatchObject({
        name: 'APIConnectionError',
        outcome: 'not_sent',
        evidence: { phase: 'connect', address: place },
      });
      expect(error.message).toContain(`could not connect: the proxy ${place} answered ${status}`);
      expect(error.message).not.toContain('secret');
      expect(await ledger.entry('a')).toBeUndefined();
    },
  );

  test.each([
    [403, 1],
    [407, 1],
    [503, 3],
  ])('a proxy of Node that answers CONNECT with %i is called %i times', async (status, times) => {
    const { place, count } = await proxy(status);
    useProxy(place);

    await failure(clientWith({ maxRetries: 2 }).images.generate(params));

    expect(count()).toBe(times);
  });

  test.each([
    ['127.0.0.1:1', 'ECONNREFUSED'],
    ['nohost.invalid:8080', 'ENOTFOUND'],
  ])('a proxy of Node that is not there (%s) is named', async (place, code) => {
    useProxy(place);

    const error = await failure(clientWith().images.generate(params));

    expect(error).toMatchObject({
      outcome: 'not_sent',
      advice: 'Nothing was sent. Check the proxy.',
    });
    expect(error.evidence).toMatchObject({ address: place });
    // Node's fetch may give up first on a busy machine: its timers count the time that the process was held up.
    expect([code, 'UND_ERR_CONNECT_TIMEOUT']).toContain(error.evidence.code);
    const { code: found } = error.evidence;
    expect(error.message).toContain(`could not connect to the proxy ${place} (${found}).`);
  });
});

/** An agent as undici's ProxyAgent: it holds its proxy under a symbol. */
const agentOf = (uri: string) => ({ [Symbol('proxy agent options')]: { uri, protocol: 'http:' } });

/** The fetch of undici, whose error has a network error as its cause. */
const fetchThat = (cause: Error): Fetch =>
  untyped<Fetch>(() => Promise.reject(new TypeError('fetch failed', { cause })));

const refusedAt = (address: string, port: number): Error =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
    address,
    port,
  });
const tunnel = new Error('Request was cancelled.', {
  cause: Object.assign(new Error('Proxy response (407) !== 200 when HTTP Tunneling'), {
    name: 'AbortError',
    code: 'UND_ERR_ABORTED',
  }),
});
const unknownHost = Object.assign(new Error('getaddrinfo ENOTFOUND proxy.invalid'), {
  code: 'ENOTFOUND',
  syscall: 'getaddrinfo',
  hostname: 'proxy.invalid',
});

describe("a proxy of undici's fetch", () => {
  test.each([
    { name: 'is down', uri: 'http://127.0.0.1:1/', cause: refusedAt('127.0.0.1', 1) },
    { name: 'is unknown', uri: 'http://proxy.invalid:8080/', cause: unknownHost },
  ])("nothing is sent if a proxy of undici's fetch $name", async ({ uri, cause }) => {
    const fetchOptions = { dispatcher: agentOf(uri) };
    const client = clientWith({ fetch: fetchThat(cause), fetchOptions });

    const error = await failure(client.images.generate(params));

    const { host } = new URL(uri);
    expect(error).toMatchObject({ outcome: 'not_sent', evidence: { address: host } });
    expect(error.message).toContain(`could not connect to the proxy ${host} (`);
  });

  test('a refusal of another host has the outcome unknown, and the error has its code and address', async () => {
    const fetchOptions = { dispatcher: agentOf('http://127.0.0.1:1/') };
    const client = clientWith({ fetch: fetchThat(refusedAt('192.0.2.7', 9200)), fetchOptions });

    const error = await failure(client.images.generate(params));

    expect(error).toMatchObject({
      outcome: 'unknown',
      evidence: { code: 'ECONNREFUSED', address: '192.0.2.7:9200' },
    });
    expect(error.message).toContain('lost its connection (ECONNREFUSED 192.0.2.7:9200).');
  });

  test("a proxy of undici's fetch that refuses a tunnel is named, although a custom fetch may have sent the request", async () => {
    const error = await failure(clientWith({ fetch: fetchThat(tunnel) }).images.generate(params));

    expect(error.outcome).toBe('unknown');
    expect(error.message).toContain('the proxy answered 407 to CONNECT');
  });
});

test.each([undefined, fetchThat(new Error('bad port'))])(
  'a forbidden port is named, and nothing was sent',
  async (fetch) => {
    const client = clientWith({ baseURL: 'http://127.0.0.1:6000', fetch });

    const error = await failure(client.images.generate(params));

    expect(error).toMatchObject({
      name: 'InvalidInputError',
      field: 'baseURL',
      outcome: 'not_sent',
    });
    expect(error.message).toContain('6000');
  },
);
