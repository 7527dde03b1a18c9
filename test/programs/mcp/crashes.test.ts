import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { isObject } from '../../../src/answers/objects.ts';
import { image, McpMachine } from './run.ts';

const speech = { model: 'm-speech', text: 'Hello' };

const lostResponse = { type: 'reset', when: 'after-charge' } as const;

const stateFolder = ({ machine }: McpMachine): string =>
  join(machine.folder, 'state', 'model-gateway', 'mcp');

/** Returns the path of the only record. */
function findRecord(machine: McpMachine): string {
  const folder = join(stateFolder(machine), 'jobs');
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return join(folder, name);
}

/** Changes the only record to that of a process that was killed after it had saved its files. */
function forgetFiles(machine: McpMachine): void {
  const path = findRecord(machine);
  const record: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const owner = { ...(isObject(record) && isObject(record['owner']) ? record['owner'] : {}) };
  const killed = { state: 'running', files: [], owner: { ...owner, start: '1' } };
  writeFileSync(path, JSON.stringify({ ...Object(record), ...killed, charged: undefined }));
}

test.each([
  { tool: 'create_image', args: image },
  { tool: 'create_image', args: { ...image, n: 2 } },
  { tool: 'create_speech', args: speech },
])('$tool: files that were saved before their process was killed are found', async (call) => {
  const machine = await McpMachine.open();
  const session = await machine.connect();

  const made = await session.call(call.tool, call.args);
  forgetFiles(machine);
  const waited = await session.call('wait_video', { call_id: made.call_id });
  forgetFiles(machine);
  const repeated = await session.call(call.tool, call.args);

  for (const result of [waited, repeated]) {
    expect(result).toMatchObject({ state: 'done', charged: 'yes', files: made.files });
  }
  expect(machine.charges).toBe(1);
});

test('a file that its process was about to name is found', async () => {
  const machine = await McpMachine.open();
  const session = await machine.connect();

  const made = await session.call('create_image', image);
  const path = made.files?.[0]?.path ?? '';
  const temporary = `.${basename(path, '.png')}.0123456789ab.part`;
  renameSync(path, join(machine.output, temporary));
  forgetFiles(machine);
  const repeated = await session.call('create_image', image);

  expect(repeated).toMatchObject({ state: 'done', files: made.files });
  expect(machine.saved).toHaveLength(1);
});

test('images that were not saved before their process was killed are reported', async () => {
  const machine = await McpMachine.open();
  const session = await machine.connect();

  const made = await session.call('create_image', { ...image, n: 2 });
  const [, second] = made.files ?? [];
  renameSync(second?.path ?? '', join(machine.workspace, 'elsewhere.png'));
  forgetFiles(machine);
  const waited = await session.call('wait_video', { call_id: made.call_id });

  expect(waited).toMatchObject({ state: 'done', files: [made.files?.[0]] });
  expect(waited.text).toContain('1 of 2 images were saved');
});

test.each(['', '{"v":1,"call', 'null'])('a damaged record is replaced: %j', async (text) => {
  const machine = await McpMachine.open();
  const session = await machine.connect();

  const made = await session.call('create_image', image);
  writeFileSync(findRecord(machine), text);
  const repeated = await session.call('create_image', image);

  expect(repeated).toMatchObject({ state: 'done', files: made.files });
  expect(machine.charges).toBe(1);
});

test('a damaged entry of the ledger may be that of a charged call', async () => {
  const machine = await McpMachine.open();
  machine.emulator.fail({ operation: 'audio.speech.create', fault: lostResponse });
  const session = await machine.connect();

  await session.call('create_speech', speech);
  const ledger = join(stateFolder(machine), 'ledger');
  for (const name of readdirSync(ledger)) writeFileSync(join(ledger, name), 'damaged');
  const repeated = await session.call('create_speech', speech);

  expect(repeated).toMatchObject({ state: 'unknown', charged: 'unknown' });
  expect(machine.charges).toBe(1);
});

test.each([
  { tool: 'create_image', operation: 'images.generate', args: image },
  { tool: 'create_speech', operation: 'audio.speech.create', args: speech },
] as const)(
  '$tool: a repeat that fails before it is sent says nothing about the first request',
  async ({ tool, operation, args }) => {
    const machine = await McpMachine.open();
    machine.emulator.fail({ operation, fault: lostResponse });
    const session = await machine.connect();

    await session.call(tool, args);
    const ledger = join(stateFolder(machine), 'ledger');
    renameSync(ledger, `${ledger}.moved`);
    writeFileSync(ledger, 'a file');
    const repeated = await session.call(tool, args);

    expect(repeated).toMatchObject({ state: 'unknown', charged: 'unknown', isError: true });
    expect(repeated.text).not.toContain('Nothing was charged');
  },
);

test('the process of a call that was given up sends nothing', async () => {
  const machine = await McpMachine.open();
  const refusal = { type: 'error', status: 403, code: 'insufficient_user_quota' } as const;
  machine.emulator.fail({ operation: 'images.generate', fault: refusal });
  const session = await machine.connect();
  const { call_id: callId, charged } = await session.call('create_image', image);
  const { requests } = machine.emulator;
  const before = requests.length;

  const program = join(import.meta.dirname, '../../../dist/cli/main.js');
  const worker = spawn(process.execPath, [program, 'mcp-worker'], { env: machine.machine.env });
  const job = { callId, tool: 'create_image', model: image.model, params: image, inputs: {} };
  const ledger = join(stateFolder(machine), 'ledger');
  worker.stdin.end(JSON.stringify({ job, baseUrl: machine.url, ledger }));
  const [code] = await once(worker, 'exit');

  expect(charged).toBe('no');
  expect(code).toBe(75);
  expect(requests.slice(before)).toEqual([]);
});

test('a rejected call is sent again at once, while its first process exits', async () => {
  const machine = await McpMachine.open();
  const refusal = { type: 'error', status: 403, code: 'insufficient_user_quota' } as const;
  machine.emulator.fail({ operation: 'images.generate', fault: refusal, times: 8 });
  const session = await machine.start();

  const texts = new Set<string>();
  for (let attempt = 0; attempt < 8; attempt += 1) {
    texts.add((await session.call('create_image', image)).text.replace(/^(403).*/, '$1'));
  }
  const made = await session.call('create_image', image);

  expect([...texts]).toEqual(['403']);
  expect(made).toMatchObject({ state: 'done' });
});

test('check_charge reports a request without an id to a gateway that finds charges by id', async () => {
  const machine = await McpMachine.open({ gateway: 'openrouter' });
  machine.emulator.fail({ operation: 'images.generate', fault: lostResponse });
  const session = await machine.connect(['--gateway', 'openrouter']);

  const lost = await session.call('create_image', image);
  const check = await session.call('check_charge', { call_id: lost.call_id });

  expect(lost.text).not.toContain('before sending it again');
  expect(check.text).toBe(
    'The request has no id, because its response was lost. This gateway finds charges by that id only.',
  );
});
