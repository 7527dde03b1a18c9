import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { request } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { image, McpMachine, toJobResult } from './run.ts';

/** Starts a server on a free port. */
async function serve(machine: McpMachine, token?: string) {
  const env = token === undefined ? {} : { MODEL_GATEWAY_MCP_TOKEN: token };
  const child = machine.spawn(['--http', '0'], env);
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await expect.poll(() => output).toMatch(/Bearer \S+/);
  const [, url = ''] = /(http:\S+)/.exec(output) ?? [];
  const [, printed = ''] = /Bearer (\S+)/.exec(output) ?? [];
  const ended = new Promise((resolve) => {
    child.once('close', resolve);
  });
  return { child, url, token: printed, ended };
}

async function connect(url: string, token: string, signal?: AbortSignal): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: (input, init) => fetch(input, signal === undefined ? init : { ...init, signal }),
    }),
  );
  return client;
}

describe('over HTTP', () => {
  test('the same call is charged once, also after its connection was cut', async () => {
    const machine = await McpMachine.open();
    const fault = { type: 'slow', milliseconds: 1_500 } as const;
    machine.emulator.fail({ operation: 'images.generate', fault });
    const { url, token } = await serve(machine);
    const cut = new AbortController();
    const first = await connect(url, token, cut.signal);

    // This client waits for a response that will not come.
    void first.callTool({ name: 'create_image', arguments: image }).catch(() => {});
    await machine.requestArrives();
    cut.abort();
    const second = await connect(url, token);
    const result = toJobResult(await second.callTool({ name: 'create_image', arguments: image }));

    expect(result).toMatchObject({ state: 'done', reused: true });
    expect(machine.charges).toBe(1);
  });

  test('SIGTERM finishes the running call', async () => {
    const machine = await McpMachine.open();
    const fault = { type: 'slow', milliseconds: 1_000 } as const;
    machine.emulator.fail({ operation: 'images.generate', fault });
    const { child, url, token, ended } = await serve(machine);
    const client = await connect(url, token);

    const making = client.callTool({ name: 'create_image', arguments: image }).catch(() => {});
    await machine.requestArrives();
    child.kill('SIGTERM');
    const code = await ended;
    await making;

    expect(code).toBe(0);
    expect(machine.saved).toHaveLength(1);
  });

  test('a request needs the token, the host of the server and its path', async () => {
    const machine = await McpMachine.open();
    const { url, token } = await serve(machine, 'a-token-of-the-user');
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const send = (headers: Record<string, string>, address = url): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const accept = 'application/json, text/event-stream';
        const type = { 'content-type': 'application/json', accept };
        const all = { ...type, authorization: `Bearer ${token}`, ...headers };
        request(address, { method: 'POST', headers: all }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end(body);
      });

    expect(token).toBe('a-token-of-the-user');
    expect(await send({})).toBe(200);
    expect(await send({ authorization: 'Bearer other' })).toBe(401);
    expect(await send({ authorization: '' })).toBe(401);
    expect(await send({ origin: 'https://example.com' })).toBe(403);
    expect(await send({ host: 'example.com' })).toBe(421);
    expect(await send({}, url.replace('/mcp', '/'))).toBe(404);
    expect(machine.emulator.requests).toEqual([]);
  });
});
