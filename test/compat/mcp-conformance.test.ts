import { execFile, spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const program = join(import.meta.dirname, '../../dist/cli/main.js');
const suite = join(
  import.meta.dirname,
  'node_modules/@modelcontextprotocol/conformance/dist/index.js',
);
const token = 'a-token';

const child = spawn(process.execPath, [program, 'mcp', '--http', '0'], {
  env: {
    ...process.env,
    GATEWAY_BASE_URL: 'http://127.0.0.1:9',
    GATEWAY_API_KEY: 'sk-unused',
    MODEL_GATEWAY_MCP_TOKEN: token,
    XDG_STATE_HOME: tmpdir(),
  },
  stdio: ['ignore', 'pipe', 'ignore'],
});
let port = '';

// The suite cannot send a token. Host and Origin are those of its requests, with the port of the server.
const proxy = createServer((incoming, response) => {
  const { host = '', origin } = incoming.headers;
  const withPort = (address: string): string => address.replace(/:\d+$/, `:${port}`);
  const headers = {
    ...incoming.headers,
    host: withPort(host),
    ...(origin === undefined ? {} : { origin: withPort(origin) }),
    authorization: `Bearer ${token}`,
  };
  const { url = '/', method } = incoming;
  const forwarded = request({ port, host: '127.0.0.1', path: url, method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  incoming.pipe(forwarded);
});

beforeAll(async () => {
  port = await new Promise<string>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      const [, found] = /:(\d+)\//.exec(chunk.toString()) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
});

afterAll(() => {
  child.kill();
  proxy.close();
});

// The other scenarios call tools that only the suite's own example server has.
test.each([
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'dns-rebinding-protection',
])('the MCP server passes the conformance scenario %s', async (scenario) => {
  const address = proxy.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`;

  const output = await new Promise<string>((resolve) => {
    const args = [suite, 'server', '--url', url, '--scenario', scenario];
    execFile(process.execPath, args, (_, stdout, stderr) => resolve(stdout + stderr));
  });

  expect(output).toMatch(/Passed: (\d)\/\1, 0 failed, 0 warnings/);
});
