import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { listCommands } from '../../../docs/tables/flags.ts';
import { createProgram } from '../../../src/programs/cli/program.ts';
import {
  createEmulator,
  type Emulator,
  type EmulatorServer,
  type Fault,
} from '../../../src/testing/index.ts';
import { passTimeFaster } from '../../helpers/fast-time.ts';
import { begin, draw, Machine } from './run.ts';

let emulator: Emulator;
let server: EmulatorServer;
let machine: Machine;

beforeEach(async () => {
  ({ emulator, server, machine } = await begin());
});

const listOpen = async (): Promise<unknown> =>
  JSON.parse((await machine.run(['video', 'list', '--open'])).stdout);

const inFolder = (name: string): string => join(machine.folder, name);

describe('chat', () => {
  test('writes only the text of the response to stdout', async () => {
    const { code, stdout, stderr } = await machine.run(['chat', '-m', 'm-large', 'Say', 'hello']);

    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'You said: "Say hello" This is the answer of m-large.\n',
      stderr: '',
    });
  });

  test('reads standard input for "-" and without a prompt', async () => {
    const both = await machine.run(['chat', '-m', 'm-large', 'Sum up:', '-'], '@all of it\n');
    const piped = await machine.run(['chat', '-m', 'm-large'], 'only this');

    expect(both.stdout).toContain('You said: "Sum up:\n\n@all of it"');
    expect(piped.stdout).toContain('You said: "only this"');
  });

  test('chat does not read the standard input of a shell loop', async () => {
    const loop = 'printf "one\\ntwo\\n" | while read -r line; do "$@" "$line"; done';
    const { stdout } = await machine.shell(loop, ['chat', '-m', 'm-large']);

    expect(stdout).toMatch(/You said: "one"[^]*You said: "two"/);
  });

  test('a pipe that is not read is named before the call', async () => {
    const piped = await machine.shell('echo "the text" | "$@" summarise', [
      'chat',
      '-m',
      'm-large',
    ]);
    const file = await machine.shell('echo text > a.txt; "$@" summarise < a.txt', [
      'image',
      '-m',
      'm-image',
    ]);
    const read = await machine.shell('echo text | "$@" summarise -', ['chat', '-m', 'm-large']);
    const silent = await machine.shell('"$@" summarise < /dev/null', ['chat', '-m', 'm-large']);

    const line = 'Standard input is not read; to append it to the text, add -';
    expect(piped.stderr).toContain(line);
    expect(piped.stdout).toContain('You said: "summarise"');
    expect(file.stderr).toContain(line);
    expect(read.stdout).toContain('You said: "summarise\n\ntext"');
    expect([read.stderr, silent.stderr]).toEqual(['', '']);
  });

  test('writes log lines to standard error', async () => {
    const env = { GATEWAY_LOG: 'debug' };
    const { stdout, stderr } = await machine.run(['models', '--json'], '', env);

    expect(JSON.parse(stdout)).not.toEqual([]);
    expect(stderr).toContain('[model-gateway]');
  });

  test.each([
    ['chat', '-m', 'm-large', 'Sum up:', '-'],
    ['image', '-m', 'm-image', 'Sum up:', '-'],
    ['speak', '-m', 'm-speech', 'Sum up:', '-'],
    ['video', 'create', '--no-wait', '-m', 'm-video', 'Sum up:', '-'],
  ])('%s reads a slow pipe to its end, and reports it', async (...words) => {
    const child = machine.start(words);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await expect.poll(() => stderr, { timeout: 20_000 }).toContain('Reading standard input');
    expect(emulator.requests).toEqual([]);

    child.stdin.write('all of ');
    child.stdin.end('it\n');
    const code = await new Promise((resolve) => child.once('close', resolve));

    expect(code).toBe(0);
    const [request] = emulator.requests;
    expect(JSON.stringify(request?.body)).toMatch(/Sum up:(\\r)?\\n(\\r)?\\nall of it/);
  });

  test('Ctrl-C ends the reading of a pipe', async () => {
    const child = machine.start(['chat', '-m', 'm-large', 'Sum up:', '-']);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await expect.poll(() => stderr, { timeout: 20_000 }).toContain('Reading standard input');

    child.kill('SIGINT');

    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(130);
    expect(emulator.requests).toEqual([]);
  });

  test('--json writes the completion', async () => {
    const { stdout } = await machine.run(['chat', '-m', 'm-large', '--json', 'Hello']);

    expect(JSON.parse(stdout)).toMatchObject({
      object: 'chat.completion',
      usage: { total_tokens: expect.any(Number) },
    });
  });

  test('a truncated stream ends with 3, and keeps the received text', async () => {
    emulator.fail({ fault: { type: 'cut-events', after: 4 } });

    const { code, stdout, stderr } = await machine.run(['chat', '-m', 'm-large', 'Hello there']);

    expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringMatching(/^You said/) });
    expect(stderr).toMatch(/^model-gateway: The stream/);
    // Advice about options of the library helps nobody here.
    expect(stderr).not.toMatch(/onTruncated|partial|\(\)/);
  });

  test('a truncated stream ends with 3 with --json too', async () => {
    emulator.fail({ fault: { type: 'cut-events', after: 4 } });

    const { code, stdout } = await machine.run(['chat', '-m', 'm-large', '--json', 'Hello there']);

    expect(code).toBe(3);
    expect(JSON.parse(stdout).partial.choices[0].message.content).toMatch(/^You said/);
  });

  test('sends images', async () => {
    await machine.run([...draw, 'a cat', '-o', 'cat.png', '-y']);

    const { stdout } = await machine.run(['chat', '-m', 'm-large', '--image', 'cat.png', 'What?']);

    expect(stdout).toContain('You sent a PNG image of');
  });

  test('succeeds when the reader closes the pipe', async () => {
    emulator.quirks.eventDelay = 20;
    const child = machine.start(['chat', '-m', 'm-large', '[long]']);
    child.stdin.end();
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdout.once('data', () => child.stdout.destroy());

    const code = await new Promise((resolve) => child.once('exit', resolve));

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('an unknown model: similar names', async () => {
    const { code, stderr } = await machine.run(['chat', '-m', 'missing-model', 'Hello']);

    expect(code).toBe(1);
    expect(stderr.match(/Did you mean|model-gateway models/g)).toHaveLength(1);
  });
});

describe('a lost response', () => {
  test.each([
    ['chat', '-m', 'm-large', 'Hello'],
    ['chat', '-m', 'm-large', '--json', 'Hello'],
    ['embed', '-m', 'm-embed', 'a cat'],
    ['speak', '-m', 'm-speech', 'Hello'],
    [...draw, 'A boat'],
    ['post', '/v1/embeddings', '{"model":"m-embed","input":"a"}'],
  ])('a lost response ends %s with 3: it may have been charged', async (...words) => {
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });

    const { code, stderr } = await machine.run(words);

    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('charged') });
    expect(emulator.charges.length).toBeGreaterThan(0);
  });

  test('a lost response ends translate with 3', async () => {
    await machine.run(['speak', '-m', 'm-speech', 'hello', '-o', 'a.mp3']);
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });

    expect((await machine.run(['translate', '-m', 'm-translate', 'a.mp3'])).code).toBe(3);
  });

  test('a lost response ends chat with 3 after a blocked prompt, which may be charged', async () => {
    emulator.fail({
      fault: { type: 'error', status: 400, code: 'prompt_blocked', message: 'no', charged: true },
    });

    expect((await machine.run(['chat', '-m', 'm-large', 'Hello'])).code).toBe(3);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each([['models'], ['get', '/v1/models']])(
    'a lost response ends %s with 1, because it is free',
    async (...words) => {
      emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });

      expect((await machine.run(words)).code).toBe(1);
    },
  );

  test('a lost response to one of several requests ends embed with 3, and writes the charged vectors', async () => {
    const lines = Array.from({ length: 450 }, (_, index) => `line ${index}`).join('\n');
    emulator.fail({ fault: { type: 'error', status: 400, message: 'no' }, after: 4 });

    const { code, stdout } = await machine.run(['embed', '-m', 'm-embed'], lines);

    const { error, vectors } = JSON.parse(stdout);
    expect(code).toBe(3);
    expect(error).toContain('failed');
    expect(vectors).toHaveLength(450);
    expect(emulator.charges.length).toBeGreaterThan(0);
  });
});

describe('usage', () => {
  test.each<{ name: string; words: string[]; message: RegExp }>([
    { name: 'no prompt', words: ['chat', '-m', 'm'], message: /text is missing/ },
    {
      name: 'an unknown option',
      words: ['chat', '-m', 'm', '--modle', 'm'],
      message: /unknown option/,
    },
    {
      name: 'a misspelled option that is required',
      words: ['chat', '--modle', 'm', 'a'],
      message: /^error: unknown option '--modle'\n\(Did you mean --model\?\)\n/,
    },
    {
      name: 'a missing option next to text that looks like another',
      words: ['chat', '--', '--modle'],
      message: /^error: required option '-m, --model <name>' not specified/,
    },
    { name: 'an unknown command', words: ['caht'], message: /Did you mean chat/ },
    {
      name: 'an invalid time',
      words: ['chat', '-m', 'm', '--timeout', 'soon', 'a'],
      message: /30s/,
    },
    {
      name: 'a number out of range',
      words: ['image', '-m', 'm', '-n', '99', 'a'],
      message: /from 1 to 10/,
    },
    {
      name: 'a missing file',
      words: ['edit', '-m', 'm', '--image', 'no.png', 'a'],
      message: /no.png cannot be read/,
    },
    {
      name: 'a file that is not an image',
      words: ['chat', '-m', 'm', '--image', 'a.txt', 'a'],
      message: /a.txt is neither an image/,
    },
    { name: 'a body that is not JSON', words: ['post', '/v1/x', '{'], message: /not valid JSON/ },
    {
      name: 'an unknown fault',
      words: ['emulator', '--fail', 'nothing'],
      message: /Unknown fault/,
    },
    {
      name: 'an unknown gateway',
      words: ['emulator', '--gateway', 'x'],
      message: /new-api, openrouter/,
    },
    {
      name: 'an unknown kind of gateway',
      words: ['models', '--gateway', 'x'],
      message: /auto, new-api, openrouter, lite/,
    },
    {
      name: 'and before the command',
      words: ['--gateway', 'x', 'doctor'],
      message: /auto, new-api, openrouter, litellm/,
    },
  ])('$name ends with 2 before anything is sent', async ({ words, message }) => {
    const { code, stderr } = await machine.run(words);

    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(emulator.requests).toEqual([]);
  });

  test('no base URL and no key: explains how to set them', async () => {
    const noAddress = await new Machine().run(['models']);
    const noKey = await new Machine({ url: server.url }).run(['models']);

    expect(noAddress).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('GATEWAY_BASE_URL'),
    });
    expect(noKey).toMatchObject({ code: 2, stderr: expect.stringContaining('GATEWAY_API_KEY') });
    expect(noKey.stderr).toContain('npx model-gateway emulator');
  });

  test('a key file that others can read is rejected, and a private one is used', async () => {
    const owner = new Machine({ url: server.url });
    const path = join(owner.folder, 'config/model-gateway/key');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, `${emulator.apiKey}\n`);
    chmodSync(path, 0o644);
    const open = await owner.run(['models']);
    chmodSync(path, 0o600);
    const closed = await owner.run(['models']);

    expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod 600') });
    expect(closed.code).toBe(0);
  });

  test('the file that GATEWAY_API_KEY_FILE names takes precedence over GATEWAY_API_KEY', async () => {
    const owner = new Machine({ url: server.url, key: 'sk-wrong' });
    const path = join(owner.folder, 'key.txt');
    writeFileSync(path, emulator.apiKey, { mode: 0o600 });

    const wrong = await owner.run(['models']);
    const read = await owner.run(['models'], '', { GATEWAY_API_KEY_FILE: path });
    const missing = await owner.run(['models'], '', { GATEWAY_API_KEY_FILE: `${path}x` });

    expect([wrong.code, read.code, missing.code]).toEqual([1, 0, 2]);
    expect(missing.stderr).toContain('does not exist');
  });

  test('the folders of its records can be opened only by their user, and have neither key nor prompt', async () => {
    const owner = new Machine({ url: server.url, key: emulator.apiKey });
    await owner.run([...draw, 'A secret fox', '-y', '--call-id', 'fox']);
    await owner.run(['video', 'create', '-m', 'm-video', 'A secret boat', '-y', '--no-wait']);

    const state = join(owner.folder, 'state/model-gateway');
    const entries = readdirSync(state, { recursive: true, withFileTypes: true });
    const folders = entries.filter((entry) => entry.isDirectory());
    const texts = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));

    expect(folders.map(({ name }) => name).toSorted()).toEqual(['calls', 'ledger', 'videos']);
    for (const { parentPath, name } of folders) {
      expect(statSync(join(parentPath, name)).mode & 0o777).toBe(0o700);
    }
    expect(texts).toHaveLength(3);
    for (const text of texts) expect(text).not.toMatch(/secret|sk-emulator/);
  });

  test('--gateway names the kind of gateway, and takes precedence over GATEWAY_PROFILE', async () => {
    const openRouter = createEmulator({ gateway: 'openrouter' });
    const listening = await openRouter.listen();
    const user = new Machine({ url: listening.url, key: openRouter.apiKey });
    const image = ['image', '-m', 'gpt-image-1', 'A fox', '-y', '-o', 'fox.png'];
    const env = { GATEWAY_PROFILE: 'litellm' };
    const after = await user.run([...image, '--gateway', 'openrouter'], '', env);
    const before = await user.run(
      ['--gateway', 'openrouter', 'chat', '-m', 'm-large', 'Hi'],
      '',
      env,
    );
    const doctor = await user.run(['doctor', '--gateway', 'openrouter', '--json'], '', env);
    await listening.close();

    expect([after.code, before.code, doctor.code]).toEqual([0, 0, 0]);
    const paths = openRouter.requests.map(({ path }) => path);
    expect(paths).toContain('/api/v1/images');
    expect(paths.filter((path) => !path.startsWith('/api/v1/'))).toEqual([]);
  });

  test('advice about the kind of gateway names --gateway', async () => {
    const { code, stderr } = await machine.run(['account', 'balance', '--gateway', 'openai']);

    expect(code).toBe(1);
    expect(stderr).toMatch(/If the gateway is of another kind, pass --gateway\.\n/);
    expect(emulator.requests).toEqual([]);
  });

  test('an unknown GATEWAY_PROFILE ends with 2 and lists the known names', async () => {
    for (const command of [['models'], ['doctor']]) {
      const { code, stderr } = await machine.run(command, '', { GATEWAY_PROFILE: 'x' });

      expect(code).toBe(2);
      expect(stderr).toMatch(/"auto", "new-api", "openrouter", "litellm", "openai"/);
    }
    expect(emulator.requests).toEqual([]);
  });

  test('the key is never shown', async () => {
    const { stdout, stderr } = await machine.run(['models'], '', {
      GATEWAY_API_KEY: 'sk-wrong-key',
    });

    expect(stdout + stderr).not.toContain('sk-wrong-key');
  });

  test('the examples of --help can be copied', async () => {
    const { stdout } = await machine.run(['chat', '--help']);

    expect(stdout).toContain('  $ git diff | model-gateway chat');
    expect(stdout).toContain('  $ model-gateway chat -m gpt-4o-mini -i');
  });

  test('the examples of --help have no unquoted pattern, which zsh would refuse', async () => {
    const helps = ['image', 'account', 'get', 'post', 'models', 'emulator', 'doctor', 'video'];
    const examples: string[] = [];
    for (const name of helps) {
      const { stdout } = await machine.run([name, '--help']);
      examples.push(...(stdout.match(/^ {2}\$ .*$/gm) ?? []));
    }
    const unquoted = examples.map((line) => line.replaceAll(/"[^"]*"|'[^']*'/g, ''));

    expect(examples).toContain('  $ model-gateway emulator --fail "images.generate=500*3"');
    expect(unquoted.filter((line) => /[*?[\]{}()<>~^!]/.test(line))).toEqual([]);
  });

  test.each([
    { word: '--helpp', hint: '\n(Did you mean --help?)' },
    { word: '--modle', hint: '\n(Did you mean --model?)' },
    { word: '--xylophone', hint: '' },
    { word: '-q', hint: '' },
  ])('$word is named, and not the option that is missing', async ({ word, hint }) => {
    const { code, stderr } = await machine.run(['image', '--size', '--big', word]);

    expect(code).toBe(2);
    expect(stderr).toBe(`error: unknown option '${word}'${hint}\nSee --help.\n`);
  });

  test.each(listCommands(createProgram()).map(([name]) => name))(
    '"%s --helpp" names the option that does not exist, and one that does',
    async (command) => {
      const { code, stderr } = await machine.run([...command.split(' '), '--helpp=1']);

      expect(code).toBe(2);
      expect(stderr).toBe("error: unknown option '--helpp'\n(Did you mean --help?)\nSee --help.\n");
    },
  );

  test('--version and --help', async () => {
    const version = await machine.runAlone(['--version']);
    const help = await machine.run(['video', 'create', '--help']);

    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('Examples:') });
  });
});

describe('images', () => {
  const image = [...draw, 'A boat'];

  test('images are written to unused names, and listed as JSON', async () => {
    const first = await machine.run([...image, '-n', '2']);
    const { paths } = JSON.parse(first.stdout);

    expect(new Set(paths).size).toBe(2);
    expect(readFileSync(paths[0]).subarray(1, 4).toString()).toBe('PNG');
    expect(first.stderr).toContain('will be charged');
  });

  test('an existing file is not replaced, without a charge', async () => {
    writeFileSync(inFolder('boat.png'), 'mine');
    const refused = await machine.run([...image, '-o', 'boat.png']);

    expect(refused.code).toBe(2);
    expect(emulator.requests).toEqual([]);

    const forced = await machine.run([...image, '-o', 'boat.png', '--force']);
    expect(forced.code).toBe(0);
    expect(readFileSync(inFolder('boat.png')).length).toBeGreaterThan(100);
  });

  test('the same call id gives the saved image again, or a copy of it, without a charge', async () => {
    const words = [...image, '--call-id', 'poster', '-o', 'poster.png'];
    const first = await machine.run(words);
    const second = await machine.run(words);
    const copied = await machine.run([...image, '--call-id', 'poster', '-o', 'copy.png']);
    rmSync(inFolder('poster.png'));
    const gone = await machine.run(words);

    expect([first, second, copied, gone].map(({ code }) => code)).toEqual([0, 0, 0, 1]);
    expect(second.stdout).toBe(first.stdout);
    expect(second.stderr).not.toContain('will be charged');
    expect(JSON.parse(copied.stdout).paths).toEqual([expect.stringMatching(/copy\.png$/)]);
    expect(readFileSync(inFolder('copy.png')).length).toBeGreaterThan(100);
    expect(gone.stderr).toContain('is gone');
    expect(emulator.charges).toHaveLength(1);
  });

  test('a second run with the call id lists the same files, without a charge', async () => {
    const first = await machine.run([...image, '--call-id', 'poster']);
    const second = await machine.run([...image, '--call-id', 'poster']);
    const other = await machine.run([...draw, 'A ship', '--call-id', 'poster']);

    expect(second.stdout).toBe(first.stdout);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('another request') });
    expect(emulator.charges).toHaveLength(1);
  });

  test('exits with 3 for an unknown outcome, on the second run too', async () => {
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });
    const first = await machine.runAlone([...image, '--call-id', 'poster']);
    const second = await machine.run([...image, '--call-id', 'poster']);

    expect([first.code, second.code]).toEqual([3, 3]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a rejected call releases its call id', async () => {
    emulator.fail({ fault: { type: 'error', status: 400, message: 'no' } });
    const refused = await machine.run([...image, '--call-id', 'poster']);
    const again = await machine.run([...image, '--call-id', 'poster']);

    expect([refused.code, again.code]).toEqual([1, 0]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a killed run is not charged again', async () => {
    emulator.fail({ fault: { type: 'hang', charged: true } });
    const child = machine.start([...image, '--call-id', 'poster']);
    child.stdin.end();
    await expect.poll(() => emulator.charges.length).toBe(1);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));

    expect((await machine.run([...image, '--call-id', 'poster'])).code).toBe(3);
    expect(emulator.charges).toHaveLength(1);
  });

  test('saves a paid result elsewhere if its folder is gone', async () => {
    mkdirSync(inFolder('out'));
    emulator.fail({ fault: { type: 'slow', milliseconds: 1_000 } });
    const running = machine.run([...image, '-o', 'out/boat.png']);
    await expect.poll(() => emulator.requests.length).toBe(1);
    // The folder disappears while the image is created.
    rmSync(inFolder('out'), { recursive: true });
    const { code, stdout, stderr } = await running;

    expect(code).toBe(0);
    expect(stderr).toContain('The result was charged');
    expect(existsSync(JSON.parse(stdout).paths[0])).toBe(true);
  });

  test('edits accept files', async () => {
    await machine.run([...image, '-o', 'boat.png']);
    const { code, stdout } = await machine.run(
      ['edit', '-m', 'm-image', '--image', 'boat.png', 'snow', '-o', 'snow.png'],
      '',
    );

    expect({ code, paths: JSON.parse(stdout).paths }).toEqual({
      code: 0,
      paths: [expect.stringMatching(/snow\.png$/)],
    });
  });
});

describe('speech, text and vectors', () => {
  test('transcribe, with options before the command', async () => {
    await machine.run(['speak', '-m', 'm-speech', 'hello there', '-o', 'a.mp3']);

    const words = ['--json', '--timeout', '1m', 'transcribe', '-m', 'm-transcribe', 'a.mp3'];
    const { code, stdout } = await machine.run(words);

    expect({ code, text: JSON.parse(stdout).text }).toEqual({ code: 0, text: 'hello there' });
  });

  test('speak writes a file, which translate reads', async () => {
    const spoken = await machine.run(['speak', '-m', 'm-speech', 'hello there', '-o', 'a.mp3']);
    const text = await machine.run(['translate', '-m', 'm-translate', 'a.mp3']);

    expect(JSON.parse(spoken.stdout).path).toMatch(/a\.mp3$/);
    expect(JSON.parse(text.stdout).text).toBe('hello there');
  });

  test('speak requests the format of the file name', async () => {
    const { code } = await machine.run(['speak', '-m', 'm-speech', 'hello', '-o', 'a.wav']);
    const unknown = await machine.run(['speak', '-m', 'm-speech', 'hello', '-o', 'a.txt']);

    expect(code).toBe(0);
    expect(readFileSync(join(machine.folder, 'a.wav')).subarray(0, 4).toString()).toBe('RIFF');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('mp3, opus') });
    expect(emulator.charges).toHaveLength(1);
  });

  test('image requests the format of the file name', async () => {
    const { stderr } = await machine.run([...draw, 'a cat', '-o', 'a.jpg']);
    const unknown = await machine.run([...draw, 'a cat', '-o', 'a.tiff']);

    const [request] = emulator.requests;
    expect(request?.body).toMatchObject({ value: { output_format: 'jpeg' } });
    // Like many gateways, the emulator always returns PNG.
    expect(stderr).toContain('a.jpg contains PNG, although JPG was requested.');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('png, jpg or webp') });
    expect(emulator.charges).toHaveLength(1);
  });

  test('embed accepts arguments or lines', async () => {
    const given = await machine.run(['embed', '-m', 'm-embed', 'a cat', 'a dog']);
    const piped = await machine.run(['embed', '-m', 'm-embed'], 'a cat\na dog\n');

    expect(JSON.parse(given.stdout).vectors).toHaveLength(2);
    expect(JSON.parse(piped.stdout).vectors).toEqual(JSON.parse(given.stdout).vectors);
  });

  test('models, get and post', async () => {
    const models = await machine.run(['models', 'IMAGE', '--json']);
    const lines = await machine.run(['models', 'IMAGE']);
    const none = await machine.run(['models', 'nothing']);
    const got = await machine.run(['get', '/v1/models']);
    const posted = await machine.run(
      ['post', '/v1/embeddings'],
      '{"model":"m-embed","input":"@not a file"}',
    );

    expect(JSON.parse(models.stdout).map(({ id }: { id: string }) => id)).toContain('m-image');
    expect(lines.stdout).toMatch(/^m-image\b/m);
    expect(none.stderr).toMatch(/^None of the \d+ models has "nothing" in its name\.$/m);
    expect(JSON.parse(got.stdout).data.length).toBeGreaterThan(3);
    expect(JSON.parse(posted.stdout).data).toHaveLength(1);
  });

  test('post writes the bytes of a file', async () => {
    const order = '{"model":"m-speech","input":"Hello"}';
    const { code, stdout } = await machine.run(['post', '/v1/audio/speech', order]);

    expect({ code, start: stdout.slice(0, 3) }).toEqual({ code: 0, start: 'ID3' });
  });
});

const create = ['video', 'create', '-m', 'm-video', 'A boat'];

describe('the time limit of videos', () => {
  test('videos end with 4 at the time limit, and explain how to continue', async () => {
    emulator.clock.hold();
    const { stdout } = await machine.run([...create, '--no-wait']);
    const { id } = JSON.parse(stdout);
    const { code, stderr } = await machine.run(['video', 'wait', id, '--timeout', '500ms']);

    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringContaining(`model-gateway video wait ${id}`),
    });
  });

  test('a short time limit does not shorten the polling interval', async () => {
    emulator.clock.hold();

    const { code } = await machine.run([...create, '--timeout', '1500ms']);

    const polls = emulator.requests.filter(({ method }) => method === 'GET');
    expect(code).toBe(4);
    // Its time may be over before the first one is on its way.
    expect(polls.length).toBeLessThanOrEqual(1);
  });
});

describe('videos', () => {
  passTimeFaster();

  test('videos are submitted, waited for and written', async () => {
    const { code, stdout, stderr } = await machine.run([...create, '-o', 'boat.mp4']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ path: inFolder('boat.mp4') });
    expect(stderr).toMatch(
      /Submitted \S+\. To continue after an interruption: model-gateway video wait \S+/,
    );
  });

  test('videos are written from the URL in the task if the content route fails', async () => {
    emulator.quirks.contentStatus = 403;

    const { code, stdout } = await machine.run([...create, '-o', 'boat.mp4']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ path: inFolder('boat.mp4') });
  });

  test('videos that no URL returns are printed as their URL', async () => {
    emulator.quirks.contentStatus = 501;
    // Not an https URL, so it is not fetched.
    emulator.quirks.fileOrigin = 'other';

    const { code, stdout, stderr } = await machine.run([...create, '-o', 'boat.mp4']);

    expect(code).not.toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ url: expect.stringMatching(/^http:.*\.mp4$/) });
    expect(stderr).toContain('The video is paid for, but could not be downloaded. Its URL:');
    expect(stderr).not.toContain('To download it again');
  });

  test.each([403, 405, 410, 501] as const)(
    'videos without a URL, whose content route answers %d, are printed as their task',
    async (contentStatus) => {
      Object.assign(emulator.quirks, { contentStatus, videoUrl: 'missing' });

      const { code, stdout, stderr } = await machine.run([...create, '-o', 'boat.mp4']);

      const [task] = emulator.videos.list;
      expect(code).not.toBe(0);
      expect(JSON.parse(stdout)).toEqual({ id: task?.id });
      expect(stderr).toContain('The video is paid for, but could not be downloaded.');
      expect(stderr).not.toContain('To download it again');
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('the printed command continues a killed one, without a charge', async () => {
    emulator.clock.hold();
    const child = machine.start([...create, '-o', 'boat.mp4']);
    child.stdin.end();
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
    await expect.poll(() => told).toContain('To continue after');
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    emulator.clock.release();
    const words = /interruption: model-gateway (.*)/.exec(told)?.[1] ?? '';

    const { code } = await machine.run(words.replaceAll('"', '').split(' '));

    expect(code).toBe(0);
    expect(existsSync(inFolder('boat.mp4'))).toBe(true);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each<[string, Fault, RegExp, number]>([
    ['is answered', { type: 'slow', milliseconds: 800 }, /Submitted (\S+)\. To continue/, 1],
    [
      'is lost',
      { type: 'hang', charged: true },
      /may be charged: check the account before .* account settle boat\n$/,
      1,
    ],
    ['is refused', { type: 'slow', milliseconds: 800 }, /refused it, so nothing is charged/, 0],
  ])('Ctrl-C waits for a submission that %s', async (how, fault, note, charges) => {
    emulator.fail({ operation: 'videos.create', fault });
    const words = [...create, '--call-id', 'boat'];
    const running = machine.run(how === 'is refused' ? [...words, '[sensitive]'] : words);
    await expect.poll(() => emulator.requests.length, { timeout: 20_000 }).toBe(1);

    process.emit('SIGINT');
    const { code, stdout, stderr } = await running;
    const open = await machine.run(['video', 'list', '--open', '--json']);

    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).toContain('waiting up to 35 s for the response');
    expect(stderr).toMatch(note);
    expect(emulator.charges).toHaveLength(charges);
    expect(JSON.parse(open.stdout)).toHaveLength(charges);
  });

  test('the same call id gives the same task', async () => {
    const first = await machine.run([...create, '--no-wait', '--call-id', 'boat']);
    const second = await machine.run([...create, '--no-wait', '--call-id', 'boat']);

    expect(JSON.parse(second.stdout).id).toBe(JSON.parse(first.stdout).id);
    expect(emulator.charges).toHaveLength(1);
  });

  test('the same call id gives the saved file again, a copy of it, or downloads it', async () => {
    const words = [...create, '--call-id', 'boat', '-o', 'boat.mp4'];
    const first = await machine.run(words);
    const downloads = () =>
      emulator.requests.filter(({ operation }) => operation === 'videos.downloadContent').length;
    const second = await machine.run(words);
    const copied = await machine.run([...create, '--call-id', 'boat', '-o', 'copy.mp4']);
    expect(downloads()).toBe(1);
    const bytes = readFileSync(inFolder('boat.mp4'));
    rmSync(inFolder('boat.mp4'));
    const again = await machine.run(words);

    expect([first, second, copied, again].map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(JSON.parse(second.stdout).path).toBe(JSON.parse(first.stdout).path);
    expect(second.stderr).toContain('is not charged again');
    expect(second.stderr).not.toContain('will be charged');
    expect(readFileSync(inFolder('copy.mp4'))).toEqual(bytes);
    expect(readFileSync(inFolder('boat.mp4'))).toEqual(bytes);
    expect(downloads()).toBe(2);
    expect(emulator.charges).toHaveLength(1);
  });

  test('a call id of another request is rejected', async () => {
    await machine.run([...create, '--no-wait', '--call-id', 'boat']);
    const words = ['video', 'create', '-m', 'm-video', 'A ship', '--no-wait', '--call-id', 'boat'];

    const { code, stderr } = await machine.run(words);

    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('call') });
    expect(emulator.charges).toHaveLength(1);
  });

  test('exits with 3 for a submission without a response, on the second run too', async () => {
    emulator.fail({ fault: { type: 'reset', when: 'after-charge' }, times: 9 });
    const first = await machine.runAlone([...create, '--call-id', 'boat']);
    const second = await machine.run([...create, '--call-id', 'boat']);

    expect([first.code, second.code]).toEqual([3, 3]);
    expect(first.stderr).toContain('will be charged');
    expect(second.stderr).not.toContain('will be charged');
    expect(emulator.charges).toHaveLength(1);
  });

  test('an unknown task ends a wait with 5 after two polls', async () => {
    const { code, stderr } = await machine.run(['video', 'wait', 'task_none']);

    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: expect.stringContaining('has no task task_none'),
    });
    expect(emulator.requests).toHaveLength(2);
  });

  test.each([
    ['status', 'invalid-id'],
    ['download', 'invalid-id'],
    ['status', '404'],
    ['download', '404'],
  ])('%s of an unknown task ends with 5, as wait does (%s)', async (verb, form) => {
    if (form === '404') {
      const body = { error: { message: 'Not Found', type: 'invalid_request_error' } };
      const respond = () => Response.json(body, { status: 404 });
      for (const operation of ['videos.retrieve', 'videos.downloadContent'] as const) {
        for (let count = 0; count < 4; count += 1) emulator.respondOnce(operation, respond);
      }
    }
    const { code, stderr } = await machine.run(
      ['video', verb, 'task_none', '-o', 'a.mp4'].slice(0, verb === 'status' ? 3 : 5),
    );

    expect({ code, stderr }).toEqual({
      code: 5,
      stderr:
        'model-gateway: The gateway has no task task_none. Check the id and the base URL, or run: model-gateway video list\n',
    });
  });

  test('download of a task that is not completed keeps its own error', async () => {
    emulator.clock.hold();
    const { id } = JSON.parse((await machine.run([...create, '--no-wait'])).stdout);

    const { code, stderr } = await machine.run(['video', 'download', id]);

    expect(code).toBe(1);
    expect(stderr).toContain('not completed');
  });

  test('status, list and download; a handle works in place of an id', async () => {
    const { stdout: handle } = await machine.run([...create, '--no-wait']);
    const { id } = JSON.parse(handle);
    emulator.clock.advance(60_000);
    const status = await machine.run(['video', 'status', handle.trim()]);
    const list = await machine.run(['video', 'list']);
    const file = await machine.run(['video', 'download', id, '-o', 'boat.mp4']);

    expect(JSON.parse(status.stdout)).toMatchObject({ id, status: 'completed' });
    expect(JSON.parse(list.stdout)).toEqual([
      expect.objectContaining({ id, model: 'm-video', status: 'completed' }),
    ]);
    expect(JSON.parse(file.stdout).bytes).toBeGreaterThan(100);
    expect(readdirSync(machine.folder)).toContain('boat.mp4');
  });

  test('status, wait and download find a video by its call id', async () => {
    const words = [...create, '--no-wait', '--call-id', 'boat'];
    const { id } = JSON.parse((await machine.run(words)).stdout);
    // Only the ledger has it, as after a run that was killed before it recorded the task.
    rmSync(inFolder('state/model-gateway/videos'), { recursive: true });
    const found: unknown[] = [];
    for (const verb of ['status', 'wait', 'download']) {
      const { stdout } = await machine.run(['video', verb, 'boat']);
      found.push(JSON.parse(stdout).id);
    }

    expect(found).toEqual([id, id, id]);
    expect(emulator.charges).toHaveLength(1);
  });

  test('list --open has the calls that are not over, until they are waited for', async () => {
    const words = [...create, '--no-wait', '--call-id', 'boat-1'];
    const { id } = JSON.parse((await machine.run(words)).stdout);
    const before = await machine.run(['video', 'list', '--open']);
    emulator.clock.advance(60_000);
    await machine.run(['video', 'wait', id]);
    const after = await machine.run(['video', 'list', '--open']);

    expect(JSON.parse(before.stdout)).toEqual([
      { call_id: 'boat-1', status: 'accepted', since: expect.any(String), tasks: [id] },
    ]);
    expect(JSON.parse(after.stdout)).toEqual([]);
  });

  describe('close', () => {
    const close = ['video', 'close', 'boat'];
    const words = [...create, '--no-wait', '--call-id', 'boat'];

    /** Creates a video whose response is lost. */
    async function lose(): Promise<void> {
      emulator.fail({ operation: 'videos.create', fault: { type: 'reset', when: 'after-charge' } });
      expect((await machine.runAlone(words)).code).toBe(3);
    }

    test('an unknown call is closed without a request, and its id is free only then', async () => {
      await lose();
      const before = await machine.run(words);
      const { length } = emulator.requests;
      const closed = await machine.run([...close, '-y']);

      expect(before).toMatchObject({ code: 3, stdout: '' });
      expect(before.stderr).toContain('"model-gateway video close boat"');
      expect(closed).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('boat may have been charged'),
      });
      expect(JSON.parse(closed.stdout)).toEqual({ call_id: 'boat', status: 'closed' });
      expect(await listOpen()).toEqual([]);
      expect(emulator.requests).toHaveLength(length);
      expect(emulator.charges).toHaveLength(1);
      expect((await machine.run(words)).code).toBe(0);
      expect(emulator.charges).toHaveLength(2);
    });

    test('without a terminal and -y, a call is not closed', async () => {
      await lose();
      const { code, stderr } = await machine.run(close);

      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('pass -y') });
      expect(await listOpen()).toMatchObject([{ call_id: 'boat', status: 'unknown' }]);
    });

    test('a call whose run is still submitting is not closed, and one whose run was killed is', async () => {
      emulator.fail({ operation: 'videos.create', fault: { type: 'hang', charged: true } });
      const child = machine.start(words);
      child.stdin.end();
      await expect.poll(() => emulator.charges.length).toBe(1);
      const running = await machine.run([...close, '-y']);
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
      const killed = await machine.run([...close, '-y']);

      expect(running).toMatchObject({ code: 1, stdout: '' });
      expect(running.stderr).toBe(
        'Another run is submitting boat now. Run this again when it has finished.\n',
      );
      expect(killed.code).toBe(0);
      expect(killed.stderr).toContain('has ended without a response');
      expect(await listOpen()).toEqual([]);
      expect(emulator.charges).toHaveLength(1);
    });

    test('closing a call of another machine warns that its run may still be submitting', async () => {
      await lose();
      const folder = join(machine.folder, 'state/model-gateway/ledger');
      const path = join(folder, readdirSync(folder)[0] ?? '');
      const { end: _, ...claim } = JSON.parse(readFileSync(path, 'utf8'));
      const owner = { ...claim.owner, host: 'elsewhere' };
      writeFileSync(path, JSON.stringify({ ...claim, owner }));
      const { code, stderr } = await machine.run([...close, '-y']);

      expect(code).toBe(0);
      expect(stderr).toContain('The run that submits it may still be waiting for the response.');
      expect(await listOpen()).toEqual([]);
    });

    test('a call with a task that is gone is closed, and its id still has the task', async () => {
      const { id } = JSON.parse((await machine.run(words)).stdout);
      const { length } = emulator.requests;
      const closed = await machine.run([...close, '-y']);

      expect(closed.stderr).toContain(`model-gateway video wait ${id}`);
      expect(await listOpen()).toEqual([]);
      expect(emulator.requests).toHaveLength(length);
      expect(JSON.parse((await machine.run(words)).stdout)).toMatchObject({ id });
      expect(emulator.charges).toHaveLength(1);
    });

    test('a call that is over ends with 0, and an id that was never used with 5', async () => {
      const none = await machine.run([...close, '-y']);
      await machine.run(words);
      await machine.run([...close, '-y']);
      const over = await machine.run([...close, '-y']);

      expect(none).toMatchObject({ code: 5, stderr: expect.stringContaining('list --open') });
      expect(over).toMatchObject({ code: 0, stderr: 'boat is already over.\n' });
    });

    test('a call whose file is damaged is not reported as closed', async () => {
      await lose();
      const folder = join(machine.folder, 'state/model-gateway/ledger');
      const [name = ''] = readdirSync(folder);
      writeFileSync(join(folder, name), '{');
      const { code, stderr } = await machine.run(['video', 'close', name.slice(0, 32), '-y']);

      expect(code).toBe(1);
      expect(stderr).toContain(`was not closed: another run uses it, or its file in ${folder}`);
    });
  });

  test('a failed task ends with 3, because only the usage log shows a refund', async () => {
    const words = ['video', 'create', '-m', 'm-video', '--no-wait', '[fail] boat'];
    const { id } = JSON.parse((await machine.run(words)).stdout);

    const { code, stderr } = await machine.run(['video', 'wait', id]);

    expect(code).toBe(3);
    expect(stderr).toContain('"model-gateway account settle <id>"');
  });
});

describe('emulator', () => {
  test('prints its URL, its key, and each request with its charge', async () => {
    const child = machine.start([
      'emulator',
      '--port',
      '0',
      '--json',
      '--fail',
      'images.generate=500',
    ]);
    let told = '';
    child.stdout.on('data', (chunk: Buffer) => (told += chunk.toString()));
    await expect.poll(() => told).toContain('\n');
    const { baseURL, apiKey } = JSON.parse(told.split('\n')[0] ?? '');
    const user = new Machine({ url: baseURL, key: apiKey });

    const refused = await user.run(['image', '-m', 'm-image', 'a', '--timeout', '5s']);
    await user.run(['embed', '-m', 'm-embed', 'a cat']);
    await expect.poll(() => told).toContain('/v1/embeddings');
    child.kill('SIGINT');
    const code = await new Promise((resolve) => child.once('close', resolve));

    expect(code).toBe(0);
    expect(refused.code).not.toBe(0);
    const lines = told
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line));
    expect(lines.at(-1)).toMatchObject({ path: '/v1/embeddings', status: 200, charged: 2 });
  });

  test('a port in use ends with 2', async () => {
    const { code, stderr } = await machine.run(['emulator', '--port', String(server.port)]);

    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--port 0') });
  });
});

describe('account', () => {
  test('balance, prices and charges, for a person and for a program', async () => {
    await machine.run([...draw, '-o', 'a.png', 'A boat']);
    const balance = await machine.run(['account', 'balance']);
    const prices = await machine.run(['account', 'prices', 'M-IMAGE']);
    const charges = await machine.run(['account', 'charges', '--since', '24h']);
    const none = await machine.run(['account', 'charges', '--model', 'm-video']);

    expect(JSON.parse(balance.stdout)).toMatchObject({ used: { value: 1_000, unit: 'quota' } });
    expect(JSON.parse(prices.stdout).models).toMatchObject([{ model: 'm-image' }]);
    expect(JSON.parse(charges.stdout).data).toMatchObject([{ type: 'consume', model: 'm-image' }]);
    expect(JSON.parse(none.stdout).data).toEqual([]);
  });

  test('settle reports the charge, and exits with 3 if it is unknown', async () => {
    const words = ['video', 'create', '-m', 'm-video', '--seconds', '4', 'A boat'];
    const made = await machine.run([...words, '--no-wait']);
    const [task] = emulator.videos.list;
    emulator.videos.fail(task?.id ?? '');
    const refunded = await machine.run(['account', 'settle', task?.id ?? '']);
    const unknown = await machine.run(['account', 'settle', '202611220116521625292858']);

    expect(made.code).toBe(0);
    expect(refunded.code).toBe(0);
    expect(JSON.parse(refunded.stdout)).toMatchObject({ verdict: 'refunded' });
    expect(unknown.code).toBe(3);
    expect(JSON.parse(unknown.stdout)).toMatchObject({ verdict: 'unknowable' });
  });

  test('settle finds a call by its call id', async () => {
    const words = ['video', 'create', '-m', 'm-video', '--no-wait', 'A boat', '--call-id'];
    await machine.run([...words, 'accepted']);
    const answered: Fault = { type: 'error', status: 502, charged: true };
    emulator.fail({ operation: 'videos.create', fault: answered });
    await machine.run([...words, 'answered']);
    emulator.fail({ operation: 'videos.create', fault: { type: 'reset', when: 'after-charge' } });
    await machine.run([...words, 'lost']);
    const verdicts: unknown[] = [];
    for (const id of ['accepted', 'answered', 'lost']) {
      const { code, stdout } = await machine.run(['account', 'settle', id]);
      verdicts.push([code, JSON.parse(stdout).verdict]);
    }

    expect(verdicts).toEqual([
      [0, 'charged'],
      [0, 'charged'],
      [3, 'unknowable'],
    ]);
    expect(emulator.charges).toHaveLength(3);
  });

  test('charges of a gateway that needs a request id name the option', async () => {
    const litellm = createEmulator({ gateway: 'litellm' });
    const other = await litellm.listen();
    onTestFinished(() => other.close());
    const at = ['--gateway', 'litellm', '--base-url', other.url];
    const { code, stderr } = await machine.run(['account', 'charges', ...at]);

    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'model-gateway: --request is missing; this gateway finds charges only by request id.\n',
    });
  });

  test('a gateway without a usage log is reported', async () => {
    emulator.quirks.accountRoutes = [];
    const { code, stderr } = await machine.run(['account', 'charges']);
    expect(code).toBe(1);
    expect(stderr).toContain('does not report what it has charged');
  });
});

test('each command ends by itself, with its exit code, in a process of its own', async () => {
  await machine.run(['speak', '-m', 'm-speech', 'hello there', '-o', 'a.mp3']);
  await machine.run([...draw, 'A boat', '-o', 'boat.png']);
  const submitted = await machine.run(['video', 'create', '-m', 'm-video', '--no-wait', 'A boat']);
  const { id } = JSON.parse(submitted.stdout);
  emulator.clock.advance(60_000);
  const commands: [code: number, ...words: string[]][] = [
    [0, 'chat', '-m', 'm-large', 'Hello'],
    [0, ...draw, 'A ship', '-o', 'ship.png'],
    [0, 'edit', '-m', 'm-image', '--image', 'boat.png', 'snow', '-o', 'snow.png'],
    [0, 'speak', '-m', 'm-speech', 'hello', '-o', 'b.mp3'],
    [0, 'transcribe', '-m', 'm-transcribe', 'a.mp3'],
    [0, 'translate', '-m', 'm-translate', 'a.mp3'],
    [0, 'embed', '-m', 'm-embed', 'a cat'],
    [0, 'video', 'wait', id, '-o', 'boat.mp4'],
    [0, 'models'],
    [0, 'account', 'balance'],
    [0, 'get', '/v1/models'],
    [0, 'post', '/v1/embeddings', '{"model":"m-embed","input":"a"}'],
    [0, 'doctor'],
    [0, 'completion', 'bash'],
    [1, 'chat', '-m', 'missing-model', 'Hello'],
    [2, 'caht'],
  ];

  const ended: unknown[] = [];
  for (const [, ...words] of commands) {
    const { code } = await machine.runAlone(words);
    ended.push([code, ...words]);
  }

  expect(ended).toEqual(commands);
});
