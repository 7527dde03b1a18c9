import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { image, McpMachine } from './run.ts';

describe('--print', () => {
  test.each(['claude', 'claude-desktop', 'cursor', 'opencode', 'vscode'])(
    '%s prints a configuration without the key',
    async (host) => {
      const { machine, url, emulator } = await McpMachine.open();

      const { code, stdout, stderr } = await machine.run(['mcp', '--print', host]);

      expect(code).toBe(0);
      expect(stderr).toContain('Put this into');
      expect(JSON.stringify(JSON.parse(stdout))).toMatch(/"npx".*"mcp"/);
      expect(stdout).toContain(url);
      expect(stdout + stderr).not.toContain(emulator.apiKey);
    },
  );
});

test('doctor reports how the calls of agents ended', async () => {
  const machine = await McpMachine.open();
  const session = await machine.connect();
  await session.call('create_image', image);
  const fault = { type: 'reset', when: 'after-charge' } as const;
  machine.emulator.fail({ operation: 'images.generate', fault });
  await session.call('create_image', { ...image, prompt: 'A cat' });
  await session.end();

  const { stdout } = await machine.machine.run(['doctor', '--json']);

  const findings: unknown[] = JSON.parse(stdout);
  const detail = expect.stringContaining('2 are, of which 1 may have been charged');
  expect(findings.at(-1)).toMatchObject({ id: 'mcp', status: 'warn', detail });
});

test('--print repeats the other options', async () => {
  const { machine } = await McpMachine.open();
  const args = [
    '--model',
    'image=m-image',
    '--print',
    'cursor',
    '--base-url=https://gw.test',
    '--budget=5',
  ];

  const { stdout } = await machine.run(['mcp', ...args]);

  expect(JSON.parse(stdout)).toEqual({
    mcpServers: {
      'model-gateway': {
        command: 'npx',
        args: ['-y', 'model-gateway', 'mcp', '--model', 'image=m-image', '--budget=5'],
        env: { GATEWAY_BASE_URL: 'https://gw.test', GATEWAY_API_KEY: '${env:GATEWAY_API_KEY}' },
      },
    },
  });
});

test('--print codex prints TOML with absolute paths, and the name of the variable with the key', async () => {
  const { machine } = await McpMachine.open();
  const args = ['--print', 'codex', '--base-url', 'https://gw.test', '--gateway=openrouter'];
  const paths = ['--dir', 'out', '--key-file=key', '--ledger', 'postgres://db', '--budget', '5'];

  const { stdout } = await machine.run(['mcp', ...args, ...paths]);

  const [out, key] = ['out', 'key'].map((name) => join(machine.folder, name));
  expect(stdout.trimEnd().split('\n')).toEqual([
    '[mcp_servers.model-gateway]',
    'command = "npx"',
    `args = ["-y","model-gateway","mcp","--dir","${out}","--key-file=${key}","--ledger","postgres://db","--budget","5"]`,
    'env_vars = ["GATEWAY_API_KEY"]',
    'startup_timeout_sec = 60',
    '',
    '[mcp_servers.model-gateway.env]',
    'GATEWAY_BASE_URL = "https://gw.test"',
    'GATEWAY_PROFILE = "openrouter"',
  ]);
});

test('--print claude-desktop names a folder that can be written, and where the key goes', async () => {
  const { machine, url } = await McpMachine.open();

  const { stdout, stderr } = await machine.run(['mcp', '--print', 'claude-desktop']);
  const other = await machine.run(['mcp', '--print', 'claude-desktop', '--root', 'docs']);

  const folder = join(machine.folder, 'model-gateway-output');
  expect(JSON.parse(stdout)).toEqual({
    mcpServers: {
      'model-gateway': {
        command: 'npx',
        args: ['-y', 'model-gateway', 'mcp', '--dir', folder],
        env: { GATEWAY_BASE_URL: url },
      },
    },
  });
  expect(stderr).toContain(join(machine.folder, 'config', 'model-gateway', 'key'));
  expect(other.stdout).toContain(join(machine.folder, 'docs'));
  expect(other.stdout).not.toContain('--dir');
});

describe('wrong settings', () => {
  test.each([
    { what: 'no key', env: { GATEWAY_API_KEY: '' }, args: [], says: 'The key is missing' },
    { what: 'no address', env: { GATEWAY_BASE_URL: '' }, args: [], says: 'base URL is missing' },
    { what: 'a kind', env: {}, args: ['--allow', 'image,music'], says: '--allow takes image' },
    { what: 'a model', env: {}, args: ['--model', 'm-image'], says: '--model takes' },
    {
      what: 'a price',
      env: {},
      args: ['--price', 'm-image=x'],
      says: '--price of m-image: x is not a number',
    },
    { what: 'a budget', env: {}, args: ['--budget', '-1'], says: "'--budget <USD>' argument '-1'" },
    { what: 'a time', env: {}, args: ['--wait', 'soon'], says: "'--wait <time>' argument 'soon'" },
    {
      what: 'a ledger',
      env: {},
      args: ['--ledger', 'mysql://db'],
      says: 'postgres:// or redis://',
    },
    {
      what: 'a host',
      env: {},
      args: ['--print', 'notepad'],
      says: 'claude, claude-desktop, codex, cursor',
    },
  ])('$what', async ({ env, args, says }) => {
    const { machine } = await McpMachine.open();

    const { code, stdout, stderr } = await machine.run(['mcp', ...args], '', { ...env });

    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(says);
  });
});
