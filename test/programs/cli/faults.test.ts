import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Emulator, EmulatorServer } from '../../../src/testing/index.ts';
import { begin, draw, type Machine } from './run.ts';

let emulator: Emulator;
let server: EmulatorServer;
let machine: Machine;

beforeEach(async () => {
  ({ emulator, server, machine } = await begin());
});

const create = ['video', 'create', '-m', 'm-video', 'A boat'];
const image = [...draw, 'A boat'];

/** Puts a file where the program would have a folder of its state. */
function block(name: string): void {
  mkdirSync(join(machine.folder, 'state/model-gateway'), { recursive: true });
  writeFileSync(join(machine.folder, 'state/model-gateway', name), '');
}

test.each([
  { words: create, name: 'ledger' },
  { words: [...image, '--call-id', 'poster'], name: 'calls' },
])('nothing is sent without a folder for $name', async ({ words, name }) => {
  block(name);

  const { code, stderr } = await machine.run(words);

  expect(code).toBe(2);
  expect(stderr).toMatch(/is not writable\. Set XDG_STATE_HOME to a writable folder\.\n$/);
  expect(emulator.requests).toEqual([]);
});

test('an image task is awaited, and its handle printed first', async () => {
  Object.assign(emulator.quirks, { imageTasks: 'object', imageTaskTime: 100 });

  const { code, stderr } = await machine.run([...image, '-o', 'boat.png']);

  expect(stderr).toMatch(
    /^Submitted imgtask_\w+\. To continue after an interruption: .*"kind":"image"/m,
  );
  expect(code).toBe(0);
  expect(existsSync(join(machine.folder, 'boat.png'))).toBe(true);
  expect(emulator.charges).toHaveLength(1);
});

test('prints the task of a video that could not be recorded', async () => {
  block('videos');

  const { code, stdout, stderr } = await machine.run([...create, '--no-wait']);

  expect(code).toBe(0);
  expect(stderr).toContain(
    `To continue after an interruption: model-gateway video wait ${JSON.parse(stdout).id}`,
  );
});

test('a concurrent second run does not make the call', async () => {
  emulator.fail({ fault: { type: 'hang', charged: true } });
  const words = [...image, '--call-id', 'poster'];
  const first = machine.start(words);
  first.stdin.end();
  await expect.poll(() => emulator.charges.length).toBe(1);

  const { code, stderr } = await machine.run(words);
  first.kill('SIGKILL');

  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining('Another run is making'),
  });
  expect(emulator.charges).toHaveLength(1);
});

test('prints the command to continue with the options of the first run, quoted for a shell', async () => {
  const out = ['--no-wait', '-o', "it's $5.mp4", '--force'];
  const gateway = ['--base-url', server.url, '--gateway', 'new-api'];

  const { stderr } = await machine.run([...create, ...out, ...gateway]);

  expect(stderr).toMatch(
    / --out 'it'\\''s \$5\.mp4' --force --base-url http:\/\/127\S+ --gateway new-api\n/,
  );
});

test('rejects an output folder that cannot be created in one line, before anything is sent', async () => {
  writeFileSync(join(machine.folder, 'taken'), '');

  const { code, stderr } = await machine.run([...image, '-o', 'taken/']);

  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringMatching(/^model-gateway: The folder \S+ is not writable\..*\n$/),
  });
  expect(emulator.requests).toEqual([]);
});

test('an emulator on an unavailable address is reported in one line', async () => {
  const { code, stderr } = await machine.run(['emulator', '--host', '203.0.113.1']);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^.*--host.*\n$/) });
});

test('a folder in place of the key file', async () => {
  mkdirSync(join(machine.folder, 'keys'), { mode: 0o700 });

  const { code, stderr } = await machine.run(['models', '--key-file', 'keys']);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('is not a file') });
});

test('reports an unknown outcome without advice for programs', async () => {
  emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });
  await machine.runAlone([...create, '--call-id', 'boat']);

  const { code, stderr } = await machine.run([...create, '--call-id', 'boat']);

  expect(code).toBe(3);
  expect(stderr).not.toContain('onUnknown');
});

test('prints the address of an image that cannot be fetched, on the second run too', async () => {
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

  expect(first).toMatchObject({ code: 3, stderr: expect.stringContaining('It was charged') });
  expect(JSON.parse(first.stdout)).toEqual({ paths: [`${base}/gone.png`] });
  expect(second).toMatchObject({ code: 0, stdout: first.stdout });
  expect(posts).toBe(1);
});

describe('a reader that closes its pipe', () => {
  const submit = [...create, '--no-wait'];

  test.each([
    ['standard error and output, after a line', '"$@" 2>&1 | head -1'],
    ['standard error and output, at once', '"$@" 2>&1 | true'],
    ['standard output, at once', '"$@" | true'],
    ['standard error, at once', '{ "$@" 2>&1 >out.txt; } | true'],
  ])('a reader that closes its pipe changes nothing for a paid video: %s', async (_, script) => {
    const { code } = await machine.shell(script, submit);
    const list = await machine.run(['video', 'list']);

    expect(code).toBe(0);
    expect(emulator.charges).toHaveLength(1);
    const [task] = emulator.videos.list;
    expect(JSON.parse(list.stdout)).toEqual([expect.objectContaining({ id: task?.id })]);
  });

  test('a reader that closes its pipe leaves the path of a paid image on standard error', async () => {
    const { code, stderr } = await machine.shell('"$@" | true', [...image, '-o', 'boat.png']);

    expect(code).toBe(0);
    expect(existsSync(join(machine.folder, 'boat.png'))).toBe(true);
    expect(stderr).toContain('boat.png');
  });

  test('a reader that closes its pipe cuts off the help and a usage error', async () => {
    const help = await machine.shell('"$@" | true', ['--help']);
    const usage = await machine.shell('{ "$@" 2>&1; } | true', ['caht']);

    expect([help.code, usage.code]).toEqual([0, 2]);
  });

  test('a reader that closes its pipe ends a server', async () => {
    const { code } = await machine.shell('"$@" | true', ['emulator', '--port', '0', '--hold']);

    expect(code).toBe(0);
  });
});

describe.skipIf(!existsSync('/dev/full'))('a full disk', () => {
  test('a paid image is named on standard error if the disk under standard output is full', async () => {
    const { code, stderr } = await machine.shell('"$@" > /dev/full', [...image, '-o', 'boat.png']);

    expect(code).toBe(3);
    expect(existsSync(join(machine.folder, 'boat.png'))).toBe(true);
    expect(stderr).toContain('the disk is full');
    expect(stderr).toMatch(/The call was charged\. Its result: .*boat\.png/);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a paid video is named and listed if the disk under standard output is full', async () => {
    const { code, stderr } = await machine.shell('"$@" > /dev/full', [...create, '--no-wait']);
    const list = await machine.run(['video', 'list']);

    const id = emulator.videos.list[0]?.id ?? '';
    expect(code).toBe(3);
    expect(stderr).toContain(`model-gateway video wait ${id}`);
    expect(list.stdout).toContain(id);
  });

  test('chat stops and reports its charge if the disk under standard output is full', async () => {
    const { code, stderr } = await machine.shell('"$@" > /dev/full', [
      'chat',
      '-m',
      'm-large',
      'a',
    ]);

    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('disk is full') });
    expect(emulator.charges).toHaveLength(1);
  });

  test('a free command is refused if the disk under standard output is full', async () => {
    const { code, stderr } = await machine.shell('"$@" > /dev/full', ['models']);

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'model-gateway: Writing to standard output failed: the disk is full.\n',
    });
  });

  test('a full disk under standard error changes nothing', async () => {
    const words = [...image, '-o', 'boat.png'];

    const { code, stdout } = await machine.shell('"$@" 2> /dev/full', words);

    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('boat.png') });
  });

  test('a full disk cannot be chosen as the file', async () => {
    const { code } = await machine.run([...image, '-o', '/dev/full', '--force']);

    expect(code).toBe(2);
    expect(emulator.requests).toEqual([]);
  });

  // For a process that may not write any file, every disk is full.
  const limit = 'ulimit -f 0;';

  test.each([
    { name: 'picture', words: ['image', '-m', 'gpt-image-1', 'A boat'], start: 'PNG' },
    { name: 'speech', words: ['speak', '-m', 'm-speech', 'hello'], start: 'ID3' },
  ])('everywhere: a paid $name is written to standard output', async ({ words, start }) => {
    const { code, stdout, stderr } = await machine.shell('"$@"', words, limit);

    expect(code).toBe(3);
    expect(stderr).toMatch(/was charged/);
    expect(emulator.charges).toHaveLength(1);
    const [, base64 = ''] = /"data:[^"]*;base64,([^"]*)"/.exec(stdout) ?? [];
    expect(Buffer.from(base64, 'base64').toString('latin1', 0, 8)).toContain(start);
  });

  test('everywhere: the URL of a paid image is written', async () => {
    const { code, stdout, stderr } = await machine.shell('"$@"', image, limit);

    expect(code).toBe(3);
    expect(stderr).toMatch(/was charged/);
    expect(JSON.parse(stdout)).toEqual({ paths: [expect.stringContaining(server.url)] });
  });

  test('everywhere: a video is not submitted, because it cannot be recorded', async () => {
    const { code, stdout, stderr } = await machine.shell('"$@"', [...create, '--no-wait'], limit);

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('ledger');
    expect(emulator.charges).toEqual([]);
  });
});

test.each([
  { words: ['chat', '-m', 'm-large', 'Hello'] },
  { words: ['speak', '-m', 'm-speech', 'Hello', '-o', 'hello.mp3', '--force'] },
  { words: ['embed', '-m', 'm-embed', 'Hello'] },
  { words: ['transcribe', '-m', 'm-transcribe', 'a.mp3'] },
  { words: ['translate', '-m', 'm-translate', 'a.mp3'] },
])('$words.0 is sent once after a lost response, unless --resend is set', async ({ words }) => {
  const posts: number[] = [];
  await machine.run(['speak', '-m', 'm-speech', 'Hello', '-o', 'a.mp3']);
  for (const flags of [[], ['--resend']]) {
    emulator.reset();
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 1 });
    await machine.run([...words, ...flags]);
    posts.push(emulator.requests.filter(({ method }) => method === 'POST').length);
  }

  expect(posts).toEqual([1, 2]);
});
