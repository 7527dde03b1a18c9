import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  Gateway,
  InvalidInputError,
  UnexpectedResponseError,
} from '../../src/index.ts';
import type { GatewayOptions } from '../../src/options/options.ts';
import { failureOf } from '../helpers/clients.ts';
import { mediaHeads } from '../helpers/media.ts';
import { httpAnswer, rawServer, type Answering, type RawServer } from '../helpers/raw-server.ts';
import { apiErrorOf } from '../helpers/transport.ts';

const messages = [{ role: 'user' as const, content: 'h\u00E9llo \u{1F3AC}' }];
const completion = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  choices: [{ finish_reason: 'stop' }],
});
const certificate = Object.assign(new Error('no'), { code: 'CERT_HAS_EXPIRED' });
const models = '{"object":"list","data":[]}';

function createClient(baseURL: string, options: GatewayOptions = {}): Gateway {
  return new Gateway({ apiKey: 'sk-test', baseURL, logLevel: 'off', ...options });
}

const chat = (client: Gateway) => client.chat.completions.create({ model: 'm', messages });
const draw = (client: Gateway) => client.images.generate({ model: 'm', prompt: 'x' });
const list = (client: Gateway) => client.models.list();

/** A port on which nothing listens. */
async function freePort(): Promise<number> {
  const server = await rawServer(() => {});
  await server[Symbol.asyncDispose]();
  return Number(new URL(server.url).port);
}

/** Answers reads well from the second time on, so that a retry is seen to recover. */
function failingOnce(fail: Answering): Answering {
  let count = 0;
  return (socket, request) => {
    count += 1;
    if (count > 1 && request.head.startsWith('GET')) socket.end(httpAnswer(models));
    else fail(socket, request);
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

const headerLines = (head: string): string[] => head.split('\r\n').slice(1);

describe('a request on the wire', () => {
  test('a request on the wire contains the required headers and those of the runtime', async () => {
    await using server = await rawServer((socket) => socket.end(httpAnswer(completion)));

    await chat(createClient(`${server.url}/v1/`));

    const [request] = server.requests;
    const body = JSON.stringify({ model: 'm', messages });
    expect(request?.head.split('\r\n')[0]).toBe('POST /v1/chat/completions HTTP/1.1');
    expect(headerLines(request?.head ?? '').toSorted()).toEqual([
      'accept-encoding: gzip, deflate',
      'accept-language: *',
      'accept: application/json',
      'authorization: Bearer sk-test',
      'connection: keep-alive',
      `content-length: ${Buffer.byteLength(body)}`,
      'content-type: application/json',
      `host: ${new URL(server.url).host}`,
      'sec-fetch-mode: cors',
      'user-agent: node',
    ]);
    expect(Buffer.from(request?.body ?? '', 'latin1').toString()).toBe(body);
  });

  test("a request with a form has the runtime's content type, even if the caller passes another", async () => {
    await using server = await rawServer((socket) => socket.end(httpAnswer('{"data":[]}')));
    const image = new File([mediaHeads.png], 'a.png', { type: 'image/png' });

    await createClient(server.url, {
      defaultHeaders: { 'content-type': 'application/json' },
    }).images.edit({ model: 'm', prompt: 'x', image });

    const { head = '', body = '' } = server.requests[0] ?? {};
    const boundary = /^content-type: multipart\/form-data; boundary=(\S+)\r?$/im.exec(head)?.[1];
    expect(boundary).toBeDefined();
    expect(body).toContain(`--${boundary}--`);
    expect(head.match(/content-type/gi)).toHaveLength(1);
  });

  test('a request that reads has no body and no content type', async () => {
    await using server = await rawServer((socket) => socket.end(httpAnswer(models)));

    await list(createClient(server.url));

    expect(server.requests[0]?.head).toMatch(/^GET \/v1\/models HTTP\/1\.1\r\n/);
    expect(server.requests[0]?.head).not.toMatch(/content-(type|length)/i);
  });

  test('a request on the wire keeps its connection for the next one', async () => {
    await using server = await rawServer((socket) => socket.write(httpAnswer(models)));
    const client = createClient(server.url);

    for (let call = 0; call < 4; call += 1) {
      await list(client);
      await new Promise((resolve) => setImmediate(resolve));
    }

    expect(server.requests).toHaveLength(4);
    expect(server.connections()).toBeLessThan(4);
  });
});

describe("the caller's fetch", () => {
  test.each([
    ['another port', async () => fetch(`http://127.0.0.1:${await freePort()}/log`)],
    ['another name', () => fetch('http://log.invalid')],
    ['another certificate', () => Promise.reject(new TypeError('no', { cause: certificate }))],
    ['a forbidden port', () => fetch('http://127.0.0.1:6667/')],
  ])(
    'a fetch that sends and then fails on %s proves nothing, and is called once',
    async (_, log) => {
      await using server = await rawServer((socket) => socket.end(httpAnswer('{"data":[{}]}')));
      const client = createClient(server.url, {
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          await log();
          return response;
        },
      });

      const failure = await apiErrorOf(draw(client));

      expect(failure.outcome).toBe('unknown');
      expect(server.requests).toHaveLength(1);
    },
  );
});

describe("a request that the runtime's fetch rejects", () => {
  test.each<[string, GatewayOptions]>([
    ['with a header of its own', { defaultHeaders: { expect: '100-continue' } }],
    ['with an option that it does not take', { fetchOptions: { mode: 'fast' } }],
  ])('%s has outcome not_sent, and is not retried', async (_, options) => {
    await using server = await rawServer((socket) => socket.end(httpAnswer('{"data":[{}]}')));

    const failure = await failureOf(draw(createClient(server.url, options)));

    expect(failure).toBeInstanceOf(InvalidInputError);
    expect(failure).toMatchObject({ outcome: 'not_sent', field: 'request' });
    expect(String(failure)).toContain('check the port of baseURL, the headers, fetchOptions');
    expect(server.requests).toHaveLength(0);
  });
});

describe('a connection that cannot be established', () => {
  test('refused: proves that nothing was sent, so that a paid call is retried', async () => {
    const port = await freePort();
    let attempts = 0;
    const client = createClient(`http://127.0.0.1:${port}`, {
      fetch: (...parameters) => {
        attempts += 1;
        return fetch(...parameters);
      },
      maxRetries: 1,
    });

    const failure = await apiErrorOf(draw(client));

    expect(attempts).toBe(2);
    expect(failure).toBeInstanceOf(APIConnectionError);
    expect(failure).toMatchObject({ outcome: 'not_sent', evidence: { code: 'ECONNREFUSED' } });
    expect(failure.message).toContain('Nothing was sent');
  });

  test('refused, then accepted: a paid call is sent once', async () => {
    await using server = await rawServer((socket) =>
      socket.end(httpAnswer('{"data":[{"url":"x"}]}')),
    );
    let attempts = 0;
    const client = createClient(server.url, {
      fetch: (input, init) => {
        attempts += 1;
        if (attempts > 1) return fetch(input, init);
        const { hostname: address, port } = new URL(server.url);
        const fields = { code: 'ECONNREFUSED', syscall: 'connect', address, port: Number(port) };
        throw Object.assign(new Error('refused'), fields);
      },
    });

    await draw(client);

    expect(attempts).toBe(2);
    expect(server.requests).toHaveLength(1);
  });

  test('a name that does not resolve: nothing was sent', async () => {
    const client = createClient('http://gateway.invalid', { maxRetries: 0 });

    const failure = await apiErrorOf(draw(client));

    expect(failure.outcome).toBe('not_sent');
    expect(['ENOTFOUND', 'EAI_AGAIN']).toContain(failure.evidence.code);
  });

  test('https to a port that speaks http: nothing was sent, and the scheme is named', async () => {
    await using server = await rawServer(
      () => {},
      (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    const client = createClient(server.url.replace('http:', 'https:'));

    const failure = await apiErrorOf(draw(client));

    expect(server.connections()).toBe(1);
    expect(failure.message).toContain('scheme');
    expect(failure.outcome).toBe('not_sent');
  });
});

describe('a connection that breaks', () => {
  const faults: readonly {
    readonly failure: string;
    readonly respond: Answering;
    readonly onConnect?: (socket: Socket) => void;
  }[] = [
    {
      failure: 'is reset when it is accepted',
      respond: () => {},
      onConnect: (socket) => socket.resetAndDestroy(),
    },
    { failure: 'is reset after the request', respond: (socket) => socket.resetAndDestroy() },
    { failure: 'is closed after the request', respond: (socket) => socket.end() },
    {
      failure: 'is closed within the headers',
      respond: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
    },
    { failure: 'talks no HTTP', respond: (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n') },
    {
      failure: 'breaks off within a body of known length',
      respond: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"data":'),
    },
    {
      failure: 'is reset within a body of known length',
      respond: (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"data":', () =>
          socket.resetAndDestroy(),
        );
      },
    },
    {
      failure: 'breaks off within a chunked body',
      respond: (socket) =>
        socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{"data":\r\n'),
    },
  ];

  test.each(faults)(
    '$failure: a paid call is sent once, with outcome unknown',
    async ({ respond, onConnect }) => {
      await using server = await rawServer(respond, onConnect);

      const failure = await apiErrorOf(draw(createClient(server.url)));

      expect(server.connections()).toBe(1);
      expect(failure.outcome).toBe('unknown');
      expect(failure.evidence.attempts).toHaveLength(1);
    },
  );

  test.each(faults.slice(1))('$failure: a read is retried', async ({ respond }) => {
    await using server = await rawServer(failingOnce(respond));

    const page = await list(createClient(server.url));

    expect(page.data).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  test.each(faults.slice(5))(
    '$failure: a metered call is not sent again after the first byte',
    async ({ respond }) => {
      await using server = await rawServer(respond);

      const failure = await apiErrorOf(chat(createClient(server.url)));

      expect(server.requests).toHaveLength(1);
      expect(failure).toBeInstanceOf(UnexpectedResponseError);
      expect(failure).toMatchObject({ outcome: 'unknown', status: 200 });
    },
  );

  test('the second call is sent once, on a new connection, if the first one breaks while idle', async () => {
    await using server = await rawServer((socket) => {
      socket.write(httpAnswer('{"data":[{"url":"x"}]}'), () => setImmediate(() => socket.end()));
    });
    const client = createClient(server.url);

    await draw(client);
    await until(() => server.open() === 0);
    await draw(client);

    expect(server.requests).toHaveLength(2);
  });

  test('a paid call on a reused connection that closes is sent once', async () => {
    let count = 0;
    await using server = await rawServer((socket) => {
      count += 1;
      if (count === 1) socket.write(httpAnswer('{"data":[{"url":"x"}]}'));
      else socket.resetAndDestroy();
    });
    const client = createClient(server.url);

    await draw(client);
    const failure = await apiErrorOf(draw(client));

    expect(server.requests).toHaveLength(2);
    expect(failure.outcome).toBe('unknown');
  });
});

describe('a response that does not arrive', () => {
  test('timeout closes the connection, and a paid call is sent once', async () => {
    await using server = await rawServer(() => {});

    const failure = await apiErrorOf(draw(createClient(server.url, { timeout: 2_000 })));

    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(failure.outcome).toBe('unknown');
    expect(server.requests).toHaveLength(1);
    await until(() => server.open() === 0);
  });

  test('timeout within the body closes the connection', async () => {
    await using server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"data":');
    });

    const failure = await apiErrorOf(draw(createClient(server.url, { timeout: 2_000 })));

    expect(failure).toBeInstanceOf(APIConnectionTimeoutError);
    expect(server.requests).toHaveLength(1);
    await until(() => server.open() === 0);
  });

  test('an abort closes the connection', async () => {
    const controller = new AbortController();
    await using server = await rawServer(() => controller.abort());
    const client = createClient(server.url);

    const failure = await apiErrorOf(
      client.images.generate({ model: 'm', prompt: 'x' }, { signal: controller.signal }),
    );

    expect(failure).toMatchObject({ name: 'APIUserAbortError', outcome: 'unknown' });
    await until(() => server.open() === 0);
  });
});

describe('bodies', () => {
  test('gzip is decoded, and its length is not compared', async () => {
    const packed = gzipSync(completion.padEnd(5_000));
    await using server = await rawServer((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.byteLength}\r\n\r\n`,
      );
      socket.end(packed);
    });
    const client = createClient(server.url);

    expect(await chat(client)).toMatchObject({ id: 'c' });
    expect(await (await chat(client).asResponse()).json()).toMatchObject({ id: 'c' });
    const download = await client.videos.downloadContent('t', {}, { maxRetries: 0 }).catch(String);
    expect(download).toContain('JSON instead of a file');
  });

  test('cancelling a raw response closes its connection', async () => {
    await using server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n');
    });

    const response = await chat(createClient(server.url)).asResponse();
    const reader = response.body?.getReader();
    await reader?.read();
    expect(server.open()).toBe(1);
    await reader?.cancel();

    await until(() => server.open() === 0);
  });

  test('a file is streamed with backpressure', async () => {
    const size = 24 * 1_024 * 1_024;
    const chunk = Buffer.alloc(65_536, 1);
    let written = 0;
    let isBlocked = false;
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      const write = (): void => {
        while (written < size) {
          written += chunk.byteLength;
          if (!response.write(chunk)) {
            isBlocked = true;
            response.once('drain', write);
            return;
          }
        }
        response.end();
      };
      write();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;

    const response = await createClient(`http://127.0.0.1:${port}`).audio.speech.create({
      model: 'm',
      input: 'x',
      voice: 'v',
    });
    await until(() => isBlocked);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));

    expect(written).toBeLessThan(size / 2);
    let received = 0;
    for await (const part of response.body ?? []) received += part.byteLength;
    expect(received).toBe(size);
    server.closeAllConnections();
    server.close();
  });

  test('a truncated file fails its stream', async () => {
    await using server = await rawServer((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ncontent-length: 99\r\n\r\nID3');
    });

    const response = await createClient(server.url).audio.speech.create({
      model: 'm',
      input: 'x',
      voice: 'v',
    });
    const failure = await apiErrorOf(response.arrayBuffer());

    expect(failure).toBeInstanceOf(UnexpectedResponseError);
    expect(failure.outcome).toBe('unknown');
    expect(failure.evidence).toMatchObject({ phase: 'body', status: 200 });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a redirect to another origin', () => {
  test('a redirect to another origin is followed by a read without the key', async () => {
    await using storage = await rawServer((socket) => socket.end(httpAnswer(models)));
    await using server: RawServer = await rawServer((socket) => {
      socket.end(
        `HTTP/1.1 302 Found\r\nlocation: ${storage.url}/f?sig=1\r\ncontent-length: 0\r\n\r\n`,
      );
    });

    await list(createClient(server.url, { defaultHeaders: { 'x-tenant': 'a' } }));

    expect(storage.requests[0]?.head).toMatch(/^GET \/f\?sig=1 /);
    expect(storage.requests[0]?.head).not.toMatch(/authorization|x-tenant/i);
  });
});

test('a raw server counts as instructed', async () => {
  await using server = await rawServer((socket) => socket.end());
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\nhi');
  await new Promise((resolve) => socket.on('close', resolve).resume());

  expect(server.requests).toEqual([{ head: 'POST / HTTP/1.1\r\ncontent-length: 2', body: 'hi' }]);
});
