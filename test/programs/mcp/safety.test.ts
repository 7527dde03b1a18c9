import { lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/testing/index.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { image, McpMachine } from './run.ts';

const edit = { model: 'm-image', prompt: 'Make it snow' };

/** Answers the questions of the server to the user. */
const answering =
  (action: 'accept' | 'decline', asked: string[]) =>
  (client: Client): void =>
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      return action === 'accept' ? { action, content: { confirm: true } } : { action };
    });

const withElicitation = { capabilities: { elicitation: { form: {} } } };

describe('input files', () => {
  test.each([
    { what: 'outside of the workspace', path: '../secret.png', says: 'is outside of the folders' },
    { what: 'behind a link', path: 'link.png', says: 'is outside of the folders' },
    { what: 'that do not exist', path: 'none.png', says: 'does not exist' },
    { what: 'that are no images', path: 'notes.png', says: 'is not an image' },
    { what: 'that are empty', path: 'empty.png', says: 'is empty or not a file' },
    { what: 'that are folders', path: 'folder', says: 'is empty or not a file' },
    {
      what: 'by a URL without TLS',
      path: 'http://example.com/a.png',
      says: 'must begin with https',
    },
    { what: 'by a private URL', path: 'https://10.0.0.7/a.png', says: 'are not allowed' },
    { what: 'by a local URL', path: 'https://localhost/a.png', says: 'are not allowed' },
    { what: 'by a metadata URL', path: 'https://169.254.169.254/a', says: 'are not allowed' },
    {
      what: 'by a URL of NAT64',
      path: 'https://[64:ff9b::a9fe:a9fe]/a',
      says: 'are not allowed',
    },
  ])('$what are rejected before anything is sent', async ({ path, says }) => {
    const machine = await McpMachine.open();
    const png = Buffer.from('89504e470d0a1a0a', 'hex');
    writeFileSync(join(machine.machine.folder, 'secret.png'), png);
    symlinkSync('../secret.png', join(machine.workspace, 'link.png'));
    writeFileSync(join(machine.workspace, 'notes.png'), 'Only text.');
    writeFileSync(join(machine.workspace, 'empty.png'), '');
    mkdirSync(join(machine.workspace, 'folder'));
    const session = await machine.connect();

    const result = await session.call('edit_image', { ...edit, images: [path] });

    expect(result.isError).toBe(true);
    expect(result.text).toContain(says);
    expect(machine.emulator.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  test('input files of a public host are passed to the gateway; --input-host limits the hosts', async () => {
    const machine = await McpMachine.open();
    const [open, limited] = await Promise.all([
      machine.connect(),
      machine.connect(['--input-host', 'images.example.com']),
    ]);

    const made = await open.call('edit_image', { ...edit, images: ['https://example.org/a.png'] });
    const refused = await limited.call('edit_image', {
      ...edit,
      images: ['https://example.org/b.png'],
    });

    expect(made).toMatchObject({ state: 'done' });
    expect(refused.text).toContain('URLs of the host example.org are not allowed');
  });

  test('input files are read from, and results written to, the folders that the client names', async () => {
    const machine = await McpMachine.open();
    const folder = join(machine.machine.folder, 'named');
    mkdirSync(folder);
    const roots = [{ uri: pathToFileURL(folder).href, name: 'named' }];
    const session = await machine.connect([], { capabilities: { roots: {} } }, (client) =>
      client.setRequestHandler('roots/list', () => ({ roots })),
    );
    writeFileSync(join(machine.workspace, 'other.png'), Buffer.from('89504e470d0a1a0a', 'hex'));

    const made = await session.call('create_image', image);
    const [name = ''] = readdirSync(join(folder, 'model-gateway-output'));
    const edited = await session.call('edit_image', {
      ...edit,
      images: [join('model-gateway-output', name)],
    });
    const other = await session.call('edit_image', {
      ...edit,
      images: [join(machine.workspace, 'other.png')],
    });

    expect(made.files?.[0]?.path).toBe(join(folder, 'model-gateway-output', name));
    expect(edited).toMatchObject({ state: 'done' });
    expect(other.text).toContain('is outside of the folders');
  });

  test('input files can be results of other folders, by their paths and links, as they are returned', async () => {
    const machine = await McpMachine.open();
    const root = join(machine.machine.folder, 'assets');
    mkdirSync(root);
    const [maker, editor] = await Promise.all([
      machine.connect(),
      machine.connect(['--root', root]),
    ]);
    const made = await maker.call('create_image', image);
    const path = made.files?.[0]?.path ?? '';
    const uri = pathToFileURL(path).href;

    const byPath = await editor.call('edit_image', { ...edit, images: [path] });
    const byURI = await editor.call('edit_image', { ...edit, images: [uri], again: 'URI' });
    const video = await editor.call('create_video', {
      model: 'm-video',
      prompt: 'It moves',
      image: uri,
    });

    expect(byPath).toMatchObject({ state: 'done' });
    expect(byURI).toMatchObject({ state: 'done' });
    expect(video).toMatchObject({ state: 'submitted' });

    writeFileSync(join(machine.workspace, 'other.png'), Buffer.from('89504e470d0a1a0a', 'hex'));
    rmSync(path);
    symlinkSync(join(machine.workspace, 'other.png'), path);
    const charges = machine.charges;
    const refused = [
      pathToFileURL(join(machine.workspace, 'other.png')).href,
      'file://host/share/a.png',
      'file:///etc/hostname',
      uri,
      path,
    ];
    for (const input of refused) {
      const result = await editor.call('edit_image', { ...edit, images: [input], again: input });
      expect(result.text).toMatch(/is not a result of these tools|is outside of the folders/);
    }
    expect(machine.charges).toBe(charges);
  });

  test('input files may be read from --root, and results go to --dir', async () => {
    const machine = await McpMachine.open();
    const root = join(machine.machine.folder, 'assets');
    mkdirSync(root);
    const session = await machine.connect(['--root', root, '--dir', 'out']);

    const made = await session.call('create_image', image);

    expect(made.files?.[0]?.path).toMatch(new RegExp(`^${join(root, 'out')}`));
  });
});

test('a link that leads nowhere under the name of a result is kept, and the next number used', async () => {
  const call = { ...image, call_id: 'lighthouse', n: 2 };
  const [first, second] = await Promise.all([McpMachine.open(), McpMachine.open()]);
  const session = await first.connect();
  await session.call('create_image', call);
  await session.end();
  const [name = '', other = ''] = first.saved;
  mkdirSync(second.output);
  symlinkSync('/nowhere/at-all', join(second.output, other));

  const result = await (await second.connect()).call('create_image', call);

  expect(result).toMatchObject({ state: 'done', charged: 'yes' });
  const next = other.replace('.png', '-3.png');
  expect(second.saved).toEqual([name, other, next].toSorted());
  expect(lstatSync(join(second.output, other)).isSymbolicLink()).toBe(true);
});

describe('nothing is sent', () => {
  test('nothing is sent to a model whose name is probably misspelled', async () => {
    const machine = await McpMachine.open();
    const [session, any] = await Promise.all([machine.connect(), machine.connect(['--any-model'])]);

    const refused = await session.call('create_image', { ...image, model: 'm-imag' });
    const sent = await any.call('create_image', { ...image, model: 'm-imag' });

    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('The gateway has no model m-imag. Did you mean m-image');
    expect(sent).toMatchObject({ state: 'done' });
    expect(machine.charges).toBe(1);
  });

  test.each([
    { args: { ...image, n: 11 }, field: 'n' },
    { args: { ...image, prompt: ' ' }, field: 'prompt' },
    { args: { ...image, widht: 5 }, field: 'widht' },
    { args: { prompt: 'A cat' }, field: 'model' },
  ])('nothing is sent with invalid arguments: $field', async ({ args, field }) => {
    const machine = await McpMachine.open();
    const session = await machine.connect();

    const result = await session.call('create_image', args);

    expect(result.isError).toBe(true);
    expect(result.text).toContain(field);
    expect(machine.emulator.requests).toEqual([]);
  });

  test('nothing is sent if a file is where the folder for results should be', async () => {
    const machine = await McpMachine.open();
    writeFileSync(machine.output, 'a file');
    const session = await machine.connect();

    const result = await session.call('create_image', image);

    expect(result.text).toMatch(/is not writable.*--dir <folder>\. Nothing was sent/);
    expect(machine.charges).toBe(0);
  });
});

describe('budgets', () => {
  test('budgets stop a server before it spends more', async () => {
    const machine = await McpMachine.open();
    const session = await machine.connect(['--budget', '0.005']);

    const results = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        session.call('create_image', { ...image, prompt: `Picture ${index}` }),
      ),
    );
    // Calls that arrive together may be admitted in any order.
    const done = results.findIndex(({ state }) => state === 'done');
    const repeated = await session.call('create_image', { ...image, prompt: `Picture ${done}` });
    const large = await session.call('create_image', { ...image, prompt: 'Many', n: 9 });

    // Each costs 0.002.
    expect(results.filter(({ state }) => state === 'done')).toHaveLength(2);
    expect(repeated).toMatchObject({ state: 'done', reused: true });
    expect(large.text).toMatch(/expected to cost \$0\.018, and \$0\.001 of the budget/);
    expect(machine.charges).toBe(2);
  });

  test('budgets of a day are shared by all servers', async () => {
    const machine = await McpMachine.open();
    const args = ['--daily-budget', '0.007'];
    const sessions = await Promise.all([machine.start(args), machine.start(args)]);

    const calls = sessions.flatMap((session, server) =>
      [0, 1, 2].map(
        (index) => () =>
          session.call('create_image', { ...image, prompt: `Picture ${server} ${index}` }),
      ),
    );
    const first = await Promise.all(calls.map((call) => call()));
    const repeated = [];
    for (const call of calls) repeated.push(await call());

    const countDone = (results: typeof first): number =>
      results.filter(({ state }) => state === 'done').length;
    // Calls that start at the same moment may be rejected although one of them would fit.
    expect(countDone(first)).toBeLessThanOrEqual(3);
    expect(countDone(repeated)).toBe(3);
    expect(repeated.find(({ isError }) => isError)?.text).toContain('of the budget of today');
    expect(machine.charges).toBe(3);
  });

  test('budgets need a price; --price gives one', async () => {
    const machine = await McpMachine.open();
    const args = ['--budget', '1', '--any-model'];
    const [none, priced] = await Promise.all([
      machine.connect(args),
      machine.connect([...args, '--price', 'secret-model=0.3']),
    ]);
    const call = { ...image, model: 'secret-model', n: 2 };

    const refused = await none.call('create_image', call);
    const made = await priced.call('create_image', call);
    const more = await priced.call('create_image', { ...call, again: 'more' });

    expect(refused.text).toContain('--price secret-model=<USD>');
    expect(made).toMatchObject({ state: 'done', cost_usd: 0.6 });
    expect(more.text).toContain('$0.4 of the budget');
  });

  test('budgets count nothing for calls that were rejected', async () => {
    const machine = await McpMachine.open();
    const fault = { type: 'error', status: 403, code: 'insufficient_user_quota' } as const;
    machine.emulator.fail({ operation: 'images.generate', fault });
    const session = await machine.connect(['--budget', '0.003']);

    const refused = await session.call('create_image', image);
    const made = await session.call('create_image', { ...image, prompt: 'A cat' });

    expect(refused).toMatchObject({ charged: 'no' });
    expect(made).toMatchObject({ state: 'done' });
  });
});

describe.each([
  { era: '2025', options: {} },
  { era: '2026', options: { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const },
])('--confirm, with a client of $era', ({ options }) => {
  const args = ['--confirm', '0.003'];
  const large = { ...image, n: 2 };

  test('asks before an expensive call', async () => {
    const machine = await McpMachine.open();
    const asked: string[] = [];
    const clientOptions = { ...withElicitation, ...options };
    const session = await machine.connect(args, clientOptions, answering('accept', asked));

    const cheap = await session.call('create_image', image);
    const made = await session.call('create_image', large);
    const repeated = await session.call('create_image', large);

    expect(cheap).toMatchObject({ state: 'done' });
    expect(made).toMatchObject({ state: 'done' });
    expect(repeated).toMatchObject({ reused: true });
    expect(asked).toEqual(['create_image with m-image costs about $0.004. Make the call?']);
  });

  test('sends nothing if the user declines, or cannot be asked', async () => {
    const machine = await McpMachine.open();
    const asked: string[] = [];
    const clientOptions = { ...withElicitation, ...options };
    const [session, silent] = await Promise.all([
      machine.connect(args, clientOptions, answering('decline', asked)),
      machine.connect(args, options),
    ]);

    const declined = await session.call('create_image', large);
    const impossible = await silent.call('create_image', large);

    expect(declined.text).toContain('The user declined the call. Nothing was sent.');
    expect(impossible.text).toContain('this client cannot ask');
    expect(machine.charges).toBe(0);
  });
});

describe('errors advise only what an agent or its user can do', () => {
  const denied = { type: 'error', status: 401, code: 'invalid_api_key', message: 'no' } as const;
  const missing = { type: 'error', status: 404, code: 'x', message: 'Not Found' } as const;
  const slow = { type: 'error', status: 504, code: 'x', message: 'Too slow' } as const;
  const noJSON = { type: 'error', status: 400, code: 'x', message: 'Invalid JSON' } as const;
  const moved = { type: 'redirect', status: 302 } as const;
  const video = { model: 'm-video', prompt: 'A boat', seconds: 4 };

  test.each<[string, string, object, Fault, RegExp]>([
    ['a wrong key', 'list_models', {}, denied, /\)\. Check GATEWAY_API_KEY: /],
    ['a missing list', 'list_models', {}, missing, /Check GATEWAY_BASE_URL: .*GATEWAY_PROFILE/],
    ['a redirect', 'create_image', image, moved, /check GATEWAY_BASE_URL\./],
    ['a slow image', 'create_image', image, slow, /504 Too slow/],
    ['a form that is refused', 'create_video', video, noJSON, /400 Invalid JSON/],
    ['a form of an edit that is refused', 'edit_image', edit, noJSON, /Files are sent as a form\./],
  ])('%s: %s', async (_, tool, input, fault, text) => {
    const machine = await McpMachine.open();
    writeFileSync(join(machine.workspace, 'chart.png'), mediaHeads.png);
    const session = await machine.connect();
    machine.emulator.fail({ fault, times: 9 });

    const images = tool === 'edit_image' ? { images: ['chart.png'] } : {};
    const result = await session.call(tool, { ...input, ...images });

    expect(result.isError).toBe(true);
    expect(result.text).toMatch(text);
    const own = result.text.replace(/\(request id: \w+\)/, '');
    expect(own).not.toMatch(/[a-z][A-Z](?!RL)\w|\w\(\)|`|\{|: true/);
    expect(machine.charges).toBe(0);
  });
});

test('only the protocol goes to standard output, and the key nowhere', async () => {
  const machine = await McpMachine.open();
  // Begins once the server has taken standard output, as a library would that is used by a call.
  const noise =
    "const { write } = process.stdout; setInterval(() => process.stdout.write === write || console.log('noise'), 20).unref()";
  machine.machine.env['NODE_OPTIONS'] =
    `--import=data:text/javascript,${encodeURIComponent(noise)}`;
  machine.machine.env['GATEWAY_LOG'] = 'debug';
  machine.emulator.fail({ operation: 'images.generate', fault: { type: 'html', status: 502 } });
  const session = await machine.start();

  await session.call('create_image', image);
  await session.call('create_image', { ...image, prompt: 'A cat' });
  await session.call('check_charge', { request_id: 'unknown' });
  await session.end();

  const lines = session.stdout.trimEnd().split('\n');
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
  expect(session.stderr).toContain('noise');
  const { apiKey } = machine.emulator;
  expect(session.stdout + session.stderr + machine.readEverything()).not.toContain(apiKey);
});
