import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Emulator, EmulatorServer } from '../../src/testing/index.ts';
import { begin, type Machine } from './run.ts';

let emulator: Emulator;
let server: EmulatorServer;
let machine: Machine;

beforeEach(async () => {
  ({ emulator, server, machine } = await begin());
});

const create = ['video', 'create', '-m', 'm-video', 'A boat'];
const image = ['image', '-m', 'm-image', 'A boat'];

/** Puts a file where the program would have a folder of its state. */
function block(name: string): void {
  mkdirSync(join(machine.folder, 'state/model-gateway'), { recursive: true });
  writeFileSync(join(machine.folder, 'state/model-gateway', name), '');
}

test.each([
  { words: create, name: 'ledger' },
  { words: [...image, '--call-id', 'poster'], name: 'calls' },
])('without a folder for $name nothing is sent', async ({ words, name }) => {
  block(name);

  const { code, stderr } = await machine.run(words);

  expect(code).toBe(2);
  expect(stderr).toMatch(/cannot be written\. Set XDG_STATE_HOME to a folder that can\.\n$/);
  expect(emulator.requests).toEqual([]);
});

test('a video that cannot be written down is told of all the same', async () => {
  block('videos');

  const { code, stdout, stderr } = await machine.run([...create, '--no-wait']);

  expect(code).toBe(0);
  expect(stderr).toContain(`If this ends: model-gateway video wait ${JSON.parse(stdout).id}`);
});

test('a second run beside the first is told that the call is being made', async () => {
  emulator.fail({ fault: { type: 'hang', charged: true } });
  const words = [...image, '--call-id', 'poster'];
  const first = machine.start(words);
  first.stdin.end();
  await expect.poll(() => emulator.charges.length).toBe(1);

  const { code, stderr } = await machine.run(words);
  first.kill('SIGKILL');

  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('being made now') });
  expect(emulator.charges).toHaveLength(1);
});

test('the line that goes on has the options of the first run, as a shell takes them', async () => {
  const words = [...create, '--no-wait', '-o', "it's $5.mp4", '--force', '--base-url', server.url];

  const { stderr } = await machine.run(words);

  expect(stderr).toMatch(/ --out 'it'\\''s \$5\.mp4' --force --base-url http:\/\/127\S+\n/);
});

test('a folder of results that cannot be: says so in one line, and nothing is sent', async () => {
  writeFileSync(join(machine.folder, 'taken'), '');

  const { code, stderr } = await machine.run([...image, '-o', 'taken/']);

  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^model-gateway: The folder \S+ cannot be written\..*\n$/),
  });
  expect(emulator.requests).toEqual([]);
});

test('an emulator on an address that is not here says so in one line', async () => {
  const { code, stderr } = await machine.run(['emulator', '--host', '203.0.113.1']);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^.*--host.*\n$/) });
});

test('a folder in place of the key file', async () => {
  mkdirSync(join(machine.folder, 'keys'), { mode: 0o700 });

  const { code, stderr } = await machine.run(['models', '--key-file', 'keys']);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is no file') });
});

test('an outcome that nobody knows is told without advice for programs', async () => {
  emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });
  await machine.run([...create, '--call-id', 'boat']);

  const { code, stderr } = await machine.run([...create, '--call-id', 'boat']);

  expect(code).toBe(3);
  expect(stderr).not.toContain('onUnknown');
});

test('a picture that cannot be fetched is told by its address, at the second run too', async () => {
  let base = '';
  let posts = 0;
  const gateway = createServer((request, response) => {
    if (request.method === 'POST') posts += 1;
    else response.statusCode = 403;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ created: 1, data: [{ url: `${base}/gone.png` }] }));
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const address = gateway.address();
  base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const words = [...image, '--base-url', base, '--call-id', 'poster'];

  const first = await machine.run(words);
  const second = await machine.run(words);
  gateway.close();

  expect(first).toMatchObject({ code: 1, stderr: expect.stringContaining('It is paid for') });
  expect(JSON.parse(first.stdout)).toEqual({ paths: [`${base}/gone.png`] });
  expect(second).toMatchObject({ code: 0, stdout: first.stdout });
  expect(posts).toBe(1);
});
