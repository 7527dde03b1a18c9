import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { image, McpMachine } from '../programs/mcp/run.ts';

const video = { model: 'm-video', prompt: 'A paper boat', seconds: 4 };

const folder = join(import.meta.dirname, 'node_modules/.model-gateway-mcp');

// A copy next to the packages of the databases, where users install it.
beforeAll(() => {
  for (const name of ['dist', 'package.json']) {
    cpSync(join(import.meta.dirname, '../..', name), join(folder, name), { recursive: true });
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns two machines with one gateway and an MCP server each. */
async function openMachines(ledger: string) {
  const machine = await McpMachine.open({}, join(folder, 'dist/cli/main.js'));
  const start = (one: McpMachine) => one.start(['--ledger', ledger]);
  return { machine, sessions: [await start(machine), await start(machine.another())] as const };
}

const databases = [
  { name: 'PostgreSQL', url: inject('postgresURL') },
  { name: 'Redis', url: inject('redisURL') },
].filter(({ url }) => url !== '');

describe.each(databases)('MCP servers of two machines with a ledger on $name', ({ url }) => {
  test('MCP servers of two machines charge a video once, and both save it', async () => {
    const { machine, sessions } = await openMachines(url);

    const results = [];
    for (const session of sessions) {
      const { call_id } = await session.call('create_video', video);
      results.push(await session.call('wait_video', { call_id }));
    }

    expect(results).toMatchObject([
      { state: 'done', files: [{ mime_type: 'video/mp4' }] },
      { state: 'done', files: [{ mime_type: 'video/mp4' }] },
    ]);
    expect(machine.charges).toBe(1);
  });

  test('MCP servers of two machines charge an image once, also if both call at the same time', async () => {
    const { machine, sessions } = await openMachines(url);
    machine.emulator.fail({
      operation: 'images.generate',
      fault: { type: 'slow', milliseconds: 1_500 },
    });

    const results = await Promise.all(
      sessions.map((session) => session.call('create_image', image)),
    );

    const failures = results.filter(({ isError }) => isError);
    expect(failures).toHaveLength(1);
    expect(failures[0]?.text).toMatch(
      /another machine with the same ledger has them.* It was charged/,
    );
    expect(machine.charges).toBe(1);
  });
});
