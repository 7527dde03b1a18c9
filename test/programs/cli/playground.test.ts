import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { Machine } from './run.ts';

/** Starting a program takes its time on a busy machine. */
const patient = { timeout: 20_000 };

async function firstLine(words: readonly string[], env: Record<string, string> = {}) {
  const child = new Machine().start(['playground', '--port', '0', ...words], env);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, line: String(line) };
}

test('runs on the emulator, prints one URL, and ends with Ctrl-C', patient, async () => {
  const { child, line } = await firstLine([]);

  expect(line).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}$/);
  const page = await fetch(line);
  expect(await page.text()).toContain('<div id="app">');
  const token = line.slice(line.indexOf('=') + 1);
  const hello = await fetch(new URL('/api/hello', line), {
    headers: { 'x-playground-token': token },
  });
  expect(await hello.json()).toMatchObject({ isEmulator: true, keeps: false });
  child.kill('SIGINT');
  expect((await once(child, 'exit'))[0]).toBe(0);
});

test('uses a gateway in the environment, and prints it', patient, async () => {
  const env = { GATEWAY_BASE_URL: 'http://127.0.0.1:9', GATEWAY_API_KEY: 'sk-secret' };

  const { line } = await firstLine(['--json'], {
    ...env,
    GATEWAY_BASE_URL: 'http://localhost:4321/v1',
  });
  const emulated = await firstLine(['--json', '--emulator'], env);

  expect(JSON.parse(line)).toMatchObject({ isEmulator: false, baseURL: 'http://localhost:4321' });
  expect(line).not.toContain('sk-secret');
  expect(JSON.parse(emulated.line)).toMatchObject({ isEmulator: true });
});

test('a port in use is reported with a fix', patient, async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;

  const { code, stderr } = await new Machine().runAlone(['playground', '--port', String(port)]);

  expect(code).toBe(2);
  expect(stderr).toBe(`model-gateway: Port ${port} is not available. Use a free one: --port 0\n`);
});

test('a gateway without a key is rejected before anything is served', patient, async () => {
  const machine = new Machine({ url: 'https://gateway.example.com' });

  const { code, stdout, stderr } = await machine.run(['playground', '--port', '0']);

  expect(code).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toContain('The key is missing. Set GATEWAY_API_KEY');
});
