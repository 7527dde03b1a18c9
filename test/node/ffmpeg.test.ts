// FFmpeg's programs are played by scripts that write down what they get.
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { playAudio, recordAudio } from '../../src/node/ffmpeg.ts';
import { APIConnectionError, GatewayError, InvalidInputError } from '../../src/index.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { untyped } from '../helpers/untyped.ts';
import { patient } from '../helpers/patient.ts';

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Puts a program on the PATH. */
async function install(name: string, code: string): Promise<void> {
  const path = join(folder, name);
  await writeFile(path, `#!${process.execPath}\n${code}\n`);
  await chmod(path, 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env['PATH'] ?? ''}`);
}

const heard = (): Promise<string> => readFile(join(folder, 'heard'), 'utf8');
/** Waits until a program has written something down. */
const begun = (): Promise<string> => vi.waitFor(heard, patient);
const keepsAll = "process.stdin.pipe(require('node:fs').createWriteStream(__dirname + '/heard'));";

async function* pieces() {
  yield new TextEncoder().encode('so');
  yield 'und';
}

describe('playAudio()', () => {
  test.each([
    ['a Response', () => new Response('sound')],
    ['a File', () => new File(['sound'], 'a.mp3')],
    ['a stream', pieces],
  ])('plays %s to its end', async (_, input) => {
    await install('ffplay', keepsAll);

    await playAudio(input());

    expect(await heard()).toBe('sound');
  });

  test('throws what the sound breaks off with, and ends the player', async () => {
    await install('ffplay', keepsAll);
    const cut = new APIConnectionError({ message: 'cut' });
    async function* broken() {
      yield* pieces();
      throw cut;
    }

    await expect(playAudio(broken())).rejects.toBe(cut);
  });

  test('tells what the player says', async () => {
    await install('ffplay', "console.error('pipe:0: no sound in it'); process.exit(1);");

    const error = await playAudio(new Response('text')).catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toHaveProperty('message', 'ffplay ended with 1: pipe:0: no sound in it');
  });

  test('a player that ends before all of the sound came has played it', async () => {
    await install('ffplay', 'process.exit(0);');

    await expect(playAudio(new Response('x'.repeat(1_000_000)))).resolves.toBeUndefined();
  });

  test('says that FFmpeg is missing, and leaves the sound alone', async () => {
    vi.stubEnv('PATH', folder);
    const sound = new Response('sound');

    const error = await playAudio(sound).catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error).toHaveProperty('field', 'ffplay');
    expect(error).toHaveProperty('message', expect.stringContaining('install FFmpeg'));
    expect(await sound.text()).toBe('sound');
  });

  test('refuses what holds no sound, and an answer that was read', async () => {
    const read = new Response('sound');
    await read.text();

    for (const input of [new Response(null), read, null, 'song.mp3']) {
      const failure = playAudio(untyped(input));
      await expect(failure).rejects.toMatchObject({ field: 'input' });
    }
  });
});

describe('recordAudio()', () => {
  /** Gives sound until it is stopped. It writes down its arguments when some is there. */
  const records = `
    const { writeFileSync } = require('node:fs');
    process.on('SIGTERM', () => process.stdout.write('d', () => process.exit(255)));
    process.stdout.write('soun', () => {
      writeFileSync(__dirname + '/heard', process.argv.slice(2).join(' '));
    });
    setInterval(() => {}, 1_000);`;

  test('gives what was recorded until the signal', async () => {
    await install('ffmpeg', records);
    const controller = new AbortController();

    const recording = recordAudio({ signal: controller.signal, device: 4 });
    const given = await begun();
    controller.abort();
    const file = await recording;

    expect([file.name, file.type, await file.text()]).toEqual(['audio.wav', 'audio/wav', 'sound']);
    expect(given).toMatch(/^-loglevel error -f \w+ -i \S*4 -ar 24000 -ac 1 -f wav pipe:1$/);
  });

  test('gives what was recorded until its time is over', async () => {
    await install('ffmpeg', records);
    const over = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(over.signal);

    const recording = recordAudio({ timeout: 5_000, device: 'default' });
    const given = await begun();
    over.abort();

    expect(await (await recording).text()).toBe('sound');
    expect(timeout).toHaveBeenCalledWith(5_000);
    expect(given).toContain('default');
  });

  test('a recording that ends by itself is whole', async () => {
    await install('ffmpeg', "process.stdout.write('sound');");

    expect(await (await recordAudio()).text()).toBe('sound');
  });

  test('nothing was recorded before it was stopped', async () => {
    await install('ffmpeg', 'setInterval(() => {}, 1_000);');

    const error = await recordAudio({ signal: AbortSignal.abort() }).catch((e: unknown) => e);

    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toHaveProperty('message', expect.stringContaining('ffmpeg ended with SIGTERM'));
  });

  test('tells what the recorder says', async () => {
    await install('ffmpeg', "console.error('hw:0: No such device'); process.exit(1);");

    await expect(recordAudio()).rejects.toThrow('ffmpeg ended with 1: hw:0: No such device');
  });

  test.each([
    [{ timeout: 0 }, 'timeout'],
    [{ signal: 'now' }, 'signal'],
  ])('refuses %o', async (options, field) => {
    await expect(recordAudio(untyped(options))).rejects.toMatchObject({ field });
  });

  test('says that FFmpeg is missing', async () => {
    vi.stubEnv('PATH', folder);

    await expect(recordAudio()).rejects.toMatchObject({ field: 'ffmpeg' });
  });
});
