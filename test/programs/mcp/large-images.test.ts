import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import jpeg from 'jpeg-js';
import { expect, onTestFinished, test } from 'vitest';
import { toPNG } from './png.ts';
import { image, McpMachine } from './run.ts';

/** Starts a gateway that returns one image for every call. */
async function startGateway(file: Buffer): Promise<{ url: string; calls: () => number }> {
  let calls = 0;
  const server = createServer((request, response) => {
    const isImage = request.url?.endsWith('/images/generations') === true;
    calls += isImage ? 1 : 0;
    response.statusCode = isImage ? 200 : 404;
    response.setHeader('content-type', 'application/json');
    const body = isImage ? { created: 1, data: [{ b64_json: file.toString('base64') }] } : {};
    request.resume().once('end', () => response.end(JSON.stringify(body)));
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return { url: `http://127.0.0.1:${port}`, calls: () => calls };
}

test.each([
  { what: '16 bits and one channel', channels: 1 },
  { what: '16 bits and three channels', channels: 3 },
])(
  'a picture of 33 megapixels with $what is saved, and the server goes on',
  async ({ channels }) => {
    const side = 5_760;
    const pixels = deflateSync(Buffer.alloc(side * (side * 2 * channels + 1)));
    const file = toPNG(side, side, [['IDAT', pixels]], 16, channels === 1 ? 0 : 2);
    const gateway = await startGateway(file);
    const machine = await McpMachine.open();
    machine.machine.env['GATEWAY_BASE_URL'] = gateway.url;
    const session = await machine.start();

    const made = await session.call('create_image', image);
    const again = await session.call('create_image', image);

    expect(made).toMatchObject({ state: 'done', charged: 'yes' });
    expect(again).toMatchObject({ state: 'done', reused: true });
    expect(gateway.calls()).toBe(1);
  },
);

/** Makes a thumbnail in a process with a module that is loaded first. */
async function makeThumbnail(module: string) {
  const machine = await McpMachine.open();
  const path = join(machine.workspace, 'photo.jpg');
  const data = Buffer.alloc(400 * 400 * 4, 200);
  writeFileSync(path, jpeg.encode({ width: 400, height: 400, data }, 80).data);
  const env = {
    ...machine.machine.env,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}`,
  };
  return new Promise<{ signal: string | null; stdout: string }>((resolve) => {
    execFile(process.execPath, [machine.program, 'mcp-thumbnail', path], { env }, (error, stdout) =>
      resolve({ signal: error?.signal ?? null, stdout }),
    );
  });
}

test('the process of a thumbnail ends once it uses too much memory', async () => {
  const small = await makeThumbnail('');
  const large = await makeThumbnail('globalThis.kept = Buffer.alloc(600_000_000, 1)');

  expect(small).toEqual({ signal: null, stdout: expect.stringMatching(/^[A-Za-z\d+/]+=*$/) });
  expect(large).toEqual({ signal: 'SIGKILL', stdout: '' });
});
