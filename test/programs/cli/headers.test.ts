import { describe, expect, onTestFinished, test } from 'vitest';
import { createEmulator } from '../../../src/testing/index.ts';
import { listen } from '../../../src/testing/server/server.ts';
import { Machine } from './run.ts';

const secret = 'a-secret-of-this-gateway-7f31';

/** Starts a gateway that rejects every request without its own header, and repeats that header in errors. */
async function start() {
  const emulator = createEmulator();
  const seen: (string | null)[] = [];
  const server = await listen(
    async (request) => {
      const { pathname } = new URL(request.url);
      seen.push(request.headers.get('x-gateway-provider'));
      if (request.headers.get('x-gateway-key') !== secret) {
        const message = 'x-gateway-key is required';
        return Response.json({ status: 'failure', message }, { status: 400 });
      }
      const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
      const answer = await emulator.fetch(`http://emulator.test${pathname}`, {
        method: request.method,
        headers: request.headers,
        ...(hasBody ? { body: await request.arrayBuffer() } : {}),
      });
      if (answer.status < 400) return answer;
      const text = (await answer.text()).replaceAll('Invalid URL', `Invalid URL for ${secret}`);
      return new Response(text, answer);
    },
    0,
    '127.0.0.1',
  );
  onTestFinished(() => server.close());
  const machine = new Machine({ url: server.url, key: emulator.apiKey });
  return { machine, seen };
}

const header = ['--header', `x-gateway-key: ${secret}`];

describe('headers of every request', () => {
  test('headers of every request come from --header and GATEWAY_HEADERS, and --header takes precedence', async () => {
    const { machine, seen } = await start();
    const lines = { GATEWAY_HEADERS: `x-gateway-key: ${secret}\nx-gateway-provider: one\n` };

    const none = await machine.run(['models']);
    const fromArguments = await machine.run(['models', ...header]);
    const fromLines = await machine.run(['chat', '-m', 'm-large', 'Hello'], '', lines);
    const both = await machine.run(['models', '--header', 'x-gateway-provider: two'], '', lines);

    expect(none.code).toBe(1);
    expect([fromArguments.code, fromLines.code, both.code]).toEqual([0, 0, 0]);
    expect(seen.at(-2)).toBe('one');
    expect(seen.at(-1)).toBe('two');
  });

  test('headers of every request are sent by all probes of doctor, and their secrets are in no report', async () => {
    const { machine } = await start();

    const without = await machine.run(['doctor', '--json']);
    const checks = await machine.run(['doctor', '--json', ...header]);
    const report = await machine.run([
      'doctor',
      '--report',
      '--json',
      '--spend',
      '1',
      '--yes',
      ...header,
    ]);

    expect(without.code).toBe(1);
    expect(checks.code).toBe(0);
    expect(report.code).toBe(0);
    expect(report.stdout).toContain('"call.chat"');
    const { stdout, stderr } = report;
    expect(checks.stdout + checks.stderr + stdout + stderr).not.toContain(secret);
    const rows: { id: string; status: string }[] = JSON.parse(stdout).rows;
    expect(rows.find(({ id }) => id === 'call.chat')?.status).toBe('pass');
  });

  test.each([
    { value: 'no colon', says: "Use 'name: value'" },
    { value: ': value', says: "Use 'name: value'" },
    { value: 'name:', says: "Use 'name: value'" },
    { value: 'x(y): secret-text', says: 'A header (x(y)) is not valid' },
    { value: 'Authorization: Bearer secret-text', says: 'set GATEWAY_API_KEY' },
  ])(
    'headers of every request are rejected without their value: "$value"',
    async ({ value, says }) => {
      const machine = new Machine({ url: 'http://127.0.0.1:9', key: 'a-key' });

      const { code, stderr } = await machine.run(['models', '--header', value]);

      expect(code).toBe(2);
      expect(stderr).toContain(says);
      expect(stderr).not.toContain('secret-text');
    },
  );
});
