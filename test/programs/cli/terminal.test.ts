import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Emulator } from '../../../src/testing/index.ts';
import { startProxy } from './proxy.ts';
import { begin, draw, Machine } from './run.ts';

let emulator: Emulator;
let machine: Machine;

beforeEach(async () => {
  ({ emulator, machine } = await begin());
});

test('chat shows the response, then the tokens and the time to the first one', async () => {
  const run = machine.open(['chat', '-m', 'm-large', 'Hello']);

  expect(await run.end()).toBe(0);
  expect(run.screen).toMatch(/You said: "Hello"[\s\S]*\d+ tokens in, \d+ out, first after \d+ ms/);
  expect(run.screen).toContain('\u001B[2m');
  expect(run.screen.endsWith(' s\r\n\u001B[0m')).toBe(true);
});

test('reasoning is shown dimmed, before the response', async () => {
  const run = machine.open(['chat', '-m', 'm-reasoning', 'Hello']);

  expect(await run.end()).toBe(0);
  expect(run.screen).toContain('\u001B[2mThe');
  expect(run.screen).toMatch(/words[\s\S]*You said/);
});

test('control sequences are removed', async () => {
  const run = machine.open(['chat', '-m', 'm-large', 'a\u001B]0;title\u0007b\u001B[2Jc\u009Bd']);

  expect(await run.end()).toBe(0);
  expect(run.screen).toContain('You said: "a]0;titleb[2Jcd"');
});

test('control characters in JSON are escaped', async () => {
  const text = 'a\u009B31mb\u009D0;title\u009Cc\u007Fd';
  const run = machine.open(['chat', '-m', 'm-large', '--json', text]);

  expect(await run.end()).toBe(0);
  expect(run.screen).not.toMatch(/[\u007F-\u009F]/);
  const answer: unknown = JSON.parse(run.screen);
  expect(answer).toMatchObject({
    choices: [{ message: { content: expect.stringContaining(text) } }],
  });
});

test('a conversation continues until /exit, and an empty line prompts again', async () => {
  const run = machine.open(['chat', '-m', 'm-large', '-i']);
  await run.shows(/> \S{0,4}$/);
  run.type('Hello\r');
  await run.shows(/You said: "Hello"[\s\S]*> \S{0,4}$/);
  run.type('Again\r');
  await run.shows(/You said: "Again"[\s\S]*> \S{0,4}$/);
  run.type('\r');
  await run.shows(/You said: "Again"[\s\S]*> [\s\S]*> \S{0,4}$/);
  run.type('/exit\r');

  expect(await run.end()).toBe(0);
  const last = emulator.requests.at(-1)?.body;
  expect(last).toMatchObject({ kind: 'json', value: { messages: { length: 3 } } });
});

test('a rejected message does not end a conversation, and the arrow key repeats the line', async () => {
  emulator.fail({ fault: { type: 'error', status: 403, message: 'no access' } });
  const run = machine.open(['chat', '-m', 'm-large', '-i']);
  await run.shows(/> \S{0,4}$/);
  run.type('Hello\r');
  await run.shows(/no access[\s\S]*> \S{0,4}$/);
  run.type('\u001B[A\r');
  await run.shows(/You said: "Hello"[\s\S]*> \S{0,4}$/);
  run.type('\u0004');

  expect(await run.end()).toBe(0);
  const last = emulator.requests.at(-1)?.body;
  expect(last).toMatchObject({ kind: 'json', value: { messages: { length: 1 } } });
});

test('Ctrl-C ends a chat with 130', async () => {
  emulator.fail({ fault: { type: 'stall-events', after: 3 } });
  const run = machine.open(['chat', '-m', 'm-large', 'Hello']);
  await run.shows(/You/);
  run.type('\u0003');

  expect(await run.end()).toBe(130);
});

test.each(['n\r', '\r'])('asks before an image is charged, and stops after %j', async (answer) => {
  const run = machine.open([...draw, 'A boat']);
  await run.shows(/will be charged[\s\S]*Continue\? \[y\/N\]/);
  run.type(answer);

  expect(await run.end()).toBe(1);
  // Only the price list was read.
  expect(emulator.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /api/pricing',
  ]);
});

test.each(['\u0003', '\u0004'])('%j ends the prompt without an error', async (keys) => {
  const run = machine.open(['video', 'create', '-m', 'm-video', 'A boat']);
  await run.shows(/Continue\?/);
  run.type(keys);

  expect(await run.end()).toBe(130);
  expect(run.screen).not.toContain('model-gateway:');
  expect(emulator.requests).toEqual([]);
});

test('creates the image after "yes", and prints its path', async () => {
  const run = machine.open([...draw, 'A boat', '-o', 'boat.png']);
  await run.shows(/Continue\?/);
  run.type('y\r');

  expect(await run.end()).toBe(0);
  expect(run.screen).toMatch(/boat\.png\r\n$/);
  expect(existsSync(join(machine.folder, 'boat.png'))).toBe(true);
});

test('shows images on a terminal that supports them', async () => {
  machine.env['TERM'] = 'xterm-kitty';
  const run = machine.open([...draw, 'A boat', '-y']);

  expect(await run.end()).toBe(0);
  expect(run.screen).toContain('\u001B_Ga=T,f=100');
});

test('Ctrl-C while waiting for a video prints the command to continue', async () => {
  emulator.clock.hold();
  const run = machine.open(['video', 'create', '-m', 'm-video', '-y', 'A boat']);
  await run.shows(/Submitted/);
  await run.shows(/submitted, \d+ s, next check in \d s/);
  run.type('\u0003');

  expect(await run.end()).toBe(130);
  expect(run.screen).toMatch(
    /The task continues\. To wait for it again: model-gateway video wait task_/,
  );
  expect(run.screen).not.toContain('videos.wait(');
  expect(emulator.charges).toHaveLength(1);
});

test('NO_COLOR disables colours', async () => {
  machine.env['NO_COLOR'] = '1';
  const run = machine.open(['chat', '-m', 'm-reasoning', 'Hello']);

  expect(await run.end()).toBe(0);
  expect(run.screen).not.toContain('\u001B[2m');
});

test('the doctor prints a line for each check', async () => {
  const run = machine.open(['doctor']);

  expect(await run.end()).toBe(0);
  expect(run.screen).toMatch(/ok .* connection[\s\S]*ok .* key[\s\S]*ok .* models/);
});

describe('a terminal shows text and paths, not JSON', () => {
  test.each<{ name: string; words: string[]; expected: RegExp }>([
    {
      name: 'edit',
      words: ['edit', '-m', 'm-image', '--image', 'a.png', '-y', '-o', 'b.png', 'snow'],
      expected: /b\.png\r\n$/,
    },
    {
      name: 'speak',
      words: ['speak', '-m', 'm-speech', '-o', 'a.mp3', 'hello there'],
      expected: /a\.mp3\r\n$/,
    },
    {
      name: 'translate',
      words: ['translate', '-m', 'm-translate', 'hello.mp3'],
      expected: /^hello there\r\n$/,
    },
    {
      name: 'embed',
      words: ['embed', '-m', 'm-embed', 'a cat'],
      expected: /^\[.*, …\] \d+ numbers: a cat\r\n$/,
    },
    { name: 'models', words: ['models', 'image'], expected: /^m-image /m },
    { name: 'get', words: ['get', '/v1/models'], expected: /"object": "list"/ },
    {
      name: 'post',
      words: ['post', '-y', '/v1/embeddings', '{"model":"m-embed","input":"a"}'],
      expected: /may be charged/,
    },
    {
      name: 'video status',
      words: ['video', 'status', 'TASK'],
      expected: /^task_\S+ completed 100 %\r\n$/,
    },
    {
      name: 'video wait',
      words: ['video', 'wait', 'TASK', '-o', 'w.mp4'],
      expected: /w\.mp4\r\n$/,
    },
    {
      name: 'video download',
      words: ['video', 'download', 'TASK', '-o', 'd.mp4'],
      expected: /d\.mp4\r\n$/,
    },
    {
      name: 'video list',
      words: ['video', 'list'],
      expected: /^task_\S+ .* m-video {2}completed\r\n$/,
    },
  ])('$name', async ({ words, expected }) => {
    if (words.includes('a.png')) {
      await machine.run([...draw, 'A boat', '-o', 'a.png']);
    }
    if (words.includes('hello.mp3')) {
      await machine.run(['speak', '-m', 'm-speech', 'hello there', '-o', 'hello.mp3']);
    }
    let task = '';
    if (words.includes('video')) {
      const made = await machine.run(['video', 'create', '-m', 'm-video', '--no-wait', 'A boat']);
      task = JSON.parse(made.stdout).id;
      emulator.clock.advance(60_000);
    }
    const run = machine.open(words.map((word) => word.replace('TASK', task)));

    expect(await run.end()).toBe(0);
    // Lines of progress are written over.
    expect(run.screen.replaceAll('\r\u001B[K', '')).toMatch(expected);
  });

  test('emulator', async () => {
    const run = machine.open(['emulator', '--port', '0']);
    await run.shows(
      /export GATEWAY_BASE_URL=http:\S+\s+export GATEWAY_API_KEY=sk-emulator[\s\S]*__emulator[\s\S]*Press Ctrl-C to stop\./,
    );
    const url = /GATEWAY_BASE_URL=(\S+)/.exec(run.screen)?.[1] ?? '';
    await new Machine({ url, key: 'sk-emulator' }).run(['models']);
    await run.shows(/200 GET \/v1\/models/);
    run.type('\u0003');

    expect(await run.end()).toBe(0);
  });
});

test.each([
  {
    name: 'a chat',
    words: ['chat', '-m', 'm-large', 'Hello'],
    line: /\d tokens in, \d+ out, \$0\.\d+, first after/,
  },
  {
    name: 'a picture',
    words: ['image', '-y', '-m', 'm-image', 'A boat'],
    line: /\$0\.002, as reported by the gateway/,
  },
  {
    name: 'a video',
    words: ['video', 'create', '-y', '-m', 'm-video', '--seconds', '4', 'A boat'],
    line: /\$0\.008, as reported by the gateway/,
  },
])('$name ends with the cost reported by the gateway', async ({ words, line }) => {
  emulator.quirks.reportedCost = 'usage';
  const run = machine.open(words);

  expect(await run.end()).toBe(0);
  expect(run.screen).toMatch(line);
  expect(run.screen.match(/\$0/g)).toHaveLength(1);
});

test.each([
  { rate: { quota_per_unit: 1_000_000 }, used: 'used       $0.001 (1,000 quota)' },
  { rate: {}, used: 'used       1,000 quota' },
  { rate: 'not served', used: 'used       1,000 quota' },
  { rate: undefined, used: 'used       $0.002 (1,000 quota)' },
])('the balance is in dollars if the gateway shows its rate: $rate', async ({ rate, used }) => {
  await machine.run([...draw, 'A boat']);
  if (rate === 'not served') emulator.quirks.accountRoutes = ['usage'];
  const url = await startProxy(emulator, (response, { path }) =>
    path === '/api/status' && typeof rate === 'object'
      ? Response.json({ success: true, data: rate })
      : response,
  );
  const run = machine.open(['account', 'balance', '--base-url', url]);

  expect(await run.end()).toBe(0);
  expect(run.screen).toContain(`${used}\r\n`);
});

test('the question before a charge has the price, and No says that nothing was sent', async () => {
  const run = machine.open([...draw, '--count', '2', 'A boat']);
  await run.shows(/m-image creates 2 images, about \$0\.004, which will be charged\./);
  await run.shows(/Continue\? \[y\/N\] /);
  run.type('\r');

  expect(await run.end()).toBe(1);
  expect(run.screen).toMatch(/Nothing was sent\.\r\n$/);
  expect(emulator.charges).toHaveLength(0);
});

test('the question before an edit says that an image is edited', async () => {
  const edit = ['edit', '-m', 'm-image', '--image', 'https://example.com/cat.png', 'Make it snow'];
  const run = machine.open(edit);
  await run.shows(/m-image edits an image, about \$0\.002, which will be charged\./);
  run.type('\r');

  expect(await run.end()).toBe(1);
  expect(emulator.charges).toHaveLength(0);
});

test('the question before a video has the price of its seconds', async () => {
  const run = machine.open(['video', 'create', '-m', 'm-video', '--seconds', '4', 'A boat']);
  await run.shows(/m-video creates a video, about \$0\.008, which will be charged\./);
  run.type('\r');

  expect(await run.end()).toBe(1);
  expect(run.screen).toMatch(/Nothing was sent\.\r\n$/);
  expect(emulator.charges).toHaveLength(0);
});

test('the question of the doctor has aligned prices, and No does not deny its free requests', async () => {
  const only = ['--only', 'chat', 'image-edit-form'];
  const run = machine.open(['doctor', '--spend', '0.5', '-m', 'm-large', ...only]);
  await run.shows(
    / {2}chat {21}m-large {2}up to \$\S+\r\n {2}image-edit-form {10}m-image {2}up to \$/,
  );
  await run.shows(/Continue\? \[y\/N\] /);
  run.type('\r');

  expect(await run.end()).toBe(1);
  expect(run.screen).toMatch(/No paid call was sent\.\r\n$/);
  expect(emulator.charges).toHaveLength(0);
});

test('the question has no price if the gateway publishes none', async () => {
  emulator.quirks.accountRoutes = [];
  const run = machine.open([...draw, 'A boat']);
  await run.shows(/m-image creates an image, which will be charged\.[^]*\[y\/N\] /);
  run.type('\u0004');

  expect(await run.end()).toBe(130);
});

test('a dumb terminal gets lines without escape sequences, one for each new state', async () => {
  const words = ['video', 'create', '-m', 'm-video', '--seconds', '4', '-y', 'A boat'];
  const run = machine.open(words, { TERM: 'dumb' });

  expect(await run.end()).toBe(0);
  expect(run.screen).not.toContain('\u001B');
  expect(run.screen.replaceAll('\r\n', '\n')).not.toContain('\r');
  expect(run.screen.match(/Submitting…/g)).toHaveLength(1);
});

test('account settle has dollars if the gateway shows its rate', async () => {
  await machine.run([...draw, 'A boat']);
  const id = emulator.charges[0]?.requestId ?? '';
  const run = machine.open(['account', 'settle', id]);

  expect(await run.end()).toBe(0);
  expect(run.screen).toMatch(/^charged {2}\$0\.002 \(1,000 quota\)\r\n/);
});

test('a progress line is cut at the width of the terminal, where it can be replaced', async () => {
  emulator.clock.hold();
  const words = ['video', 'create', '-m', 'm-video', '-y', 'A boat'];
  const run = machine.open(words, {}, 25);
  await run.shows(/submitted, \d+ s, next/);
  run.type('\u0003');

  expect(await run.end()).toBe(130);
  expect(run.screen).not.toContain('next check in');
});

test('lists of the account have headings and aligned columns', async () => {
  await machine.run([...draw, 'A boat']);
  const charges = machine.open(['account', 'charges']);
  const prices = machine.open(['account', 'prices', 'm-']);

  expect(await charges.end()).toBe(0);
  expect(charges.screen).toMatch(/^TIME +TYPE +AMOUNT +MODEL +REQUEST OR TASK\r\n\d{4}-/);
  expect(await prices.end()).toBe(0);
  const [heading = '', ...rows] = prices.screen.trim().split('\r\n');
  const start = heading.indexOf('PRICE');
  expect(rows.length).toBeGreaterThan(3);
  for (const row of rows) expect(row.slice(start - 2, start + 1)).toMatch(/^ {2}\$$/);
  const none = machine.open(['account', 'prices', 'nothing']);
  expect(await none.end()).toBe(0);
  expect(none.screen).toMatch(/^None of the \d+ models with a price has "nothing" in its name\./);
});

test('a conversation in a dumb terminal has no escape sequences', async () => {
  const run = machine.open(['chat', '-m', 'm-large', '-i'], { TERM: 'dumb' });
  await run.shows(/> $/);
  run.type('Hello\r');
  await run.shows(/You said: "Hello"[^]*> $/);
  run.type('/exit\r');

  expect(await run.end()).toBe(0);
  expect(run.screen).not.toContain('\u001B');
  expect(run.screen.replaceAll('\r\n', '\n')).not.toContain('\r');
});

test('the main help has each command in a group', async () => {
  const run = machine.open(['--help'], {}, 80);

  expect(await run.end()).toBe(0);
  const headings = run.screen.split('\r\n').filter((line) => /^\S.*:$/.test(line));
  expect(headings).toEqual([
    'Options:',
    'Create:',
    'Look at the gateway:',
    'Run a server:',
    'Other commands:',
  ]);
  expect(run.screen).toMatch(/^ {2}help \[command\] /m);
});

test.each([40, 80, 200])('help fits into %d columns, except for examples', async (columns) => {
  for (const words of [[], ['doctor'], ['mcp'], ['video', 'create']]) {
    const run = machine.open([...words, '--help'], {}, columns);

    expect(await run.end()).toBe(0);
    const lines = run.screen.split('\r\n').filter((line) => !/^(Usage:| {2}\$ )/.test(line));
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
  }
});

test('video close asks first, and Enter changes nothing', async () => {
  emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });
  const words = ['video', 'create', '-m', 'm-video', '--call-id', 'boat', 'A boat'];
  await machine.runAlone(words);
  const list = machine.open(['video', 'list', '--open']);
  expect(await list.end()).toBe(0);
  const run = machine.open(['video', 'close', 'boat']);
  await run.shows(/Close it\? \[y\/N\] /);
  run.type('\r');

  expect(await run.end()).toBe(1);
  expect(list.screen).toMatch(/^boat {2}\S+ \S+ {2}unknown\r\n.*video close <call-id>\.\r\n$/);
  expect(run.screen).toMatch(/may have been charged[^]*Nothing was changed\.\r\n$/);
  const open = await machine.run(['video', 'list', '--open']);
  expect(JSON.parse(open.stdout)).toMatchObject([{ call_id: 'boat', status: 'unknown' }]);
});
