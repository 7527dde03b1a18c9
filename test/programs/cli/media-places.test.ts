import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEmulator, type EmulatorOptions } from '../../../src/testing/index.ts';
import {
  imageEncodings,
  imagePlaces,
  pendingBodies,
  speechPlaces,
  transcriptForms,
  videoFailures,
  videoIds,
  videoURLs,
} from '../../helpers/media-places.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { Machine } from './run.ts';

const png = [0x89, 0x50, 0x4e, 0x47];

async function open(quirks: EmulatorOptions['quirks'], videoDuration = 0) {
  const emulator = createEmulator({ quirks, videoDuration });
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  const machine = new Machine({ url: server.url, key: emulator.apiKey });
  const read = (name: string) => readFileSync(join(machine.folder, name));
  return { emulator, machine, read };
}

const draw = ['image', '-m', 'm-image', 'A boat', '--size', '64x64', '-y'];

describe('an image', () => {
  test.each(imagePlaces)('at %s is written to the file of image', async (imagePlace) => {
    const { emulator, machine, read } = await open({ imagePlace });

    const { code, stdout } = await machine.run([...draw, '-o', 'boat.png']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ paths: [join(machine.folder, 'boat.png')] });
    expect([...read('boat.png').subarray(0, 4)]).toEqual(png);
    expect(emulator.charges).toHaveLength(1);
  });

  test('of a stream that was not requested is written', async () => {
    const { machine, read } = await open({ imageStream: 'result-always' });

    const { code } = await machine.run([...draw, '-o', 'boat.png']);

    expect(code).toBe(0);
    expect([...read('boat.png').subarray(0, 4)]).toEqual(png);
  });

  test.each(imageEncodings)('in base64 of the form %s is written', async (encoding) => {
    const { machine, read } = await open({ imageFormat: 'b64_json', imageEncoding: encoding });

    const { code } = await machine.run([...draw, '-o', 'boat.png']);

    expect(code).toBe(0);
    expect([...read('boat.png').subarray(0, 4)]).toEqual(png);
  });

  test.each([
    ['-o boat.png', ['-o', 'boat.png'], 'boat.png.response.json'],
    ['no name', [], /^response-\d{8}-\d{6}\.json$/],
  ])('that is not found leaves the whole response beside it: %s', async (_, out, name) => {
    const { emulator, machine, read } = await open({ imagePlace: 'nowhere' });

    const { code, stdout, stderr } = await machine.run([...draw, ...out]);

    const [saved = ''] = readdirSync(machine.folder).filter((file) => file.endsWith('.json'));
    expect(code).toBe(3);
    expect(stdout).toBe('');
    expect(saved).toMatch(name);
    expect(stderr).toContain(`saved in ${join(machine.folder, saved)}`);
    expect(JSON.parse(read(saved).toString())).toHaveProperty('assets');
    expect(emulator.charges).toHaveLength(1);
  });
});

describe('speech', () => {
  test.each(speechPlaces)('at %s is written to the file of speak', async (speechPlace) => {
    const { emulator, machine, read } = await open({ speechPlace });

    const { code } = await machine.run(['speak', '-m', 'm-speech', 'Hello', '-o', 'a.mp3']);

    expect(code).toBe(0);
    expect(read('a.mp3').subarray(0, 3).toString()).toBe('ID3');
    expect(emulator.charges).toHaveLength(1);
  });

  test('at a URL that cannot be fetched leaves the whole response beside the file', async () => {
    const { emulator, machine, read } = await open({});
    const url = 'https://10.0.0.1/a.mp3?sign=1';
    emulator.respondOnce('audio.speech.create', () =>
      Response.json({ output: { audio: { url } } }),
    );

    const { code, stderr } = await machine.run(['speak', '-m', 'm-speech', 'Hi', '-o', 'a.mp3']);

    expect(code).toBe(3);
    expect(stderr).toContain('a.mp3.response.json');
    expect(read('a.mp3.response.json').toString()).toContain(url);
  });
});

test.each(transcriptForms)('a transcript in the form %s is printed', async (transcriptForm) => {
  const { machine } = await open({ transcriptForm });
  await machine.run(['speak', '-m', 'm-speech', 'hello there', '-o', 'a.mp3']);

  const { code, stdout } = await machine.run(['transcribe', '-m', 'whisper-1', 'a.mp3']);

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ text: 'hello there' });
});

describe('a video', () => {
  const create = ['video', 'create', '-m', 'm-video', 'A boat', '-y', '--no-wait'];

  async function submit({ machine, emulator }: Awaited<ReturnType<typeof open>>) {
    const { code, stdout } = await machine.run(create);
    expect(code).toBe(0);
    const [video] = emulator.videos.list;
    expect(stdout).toContain(video?.id);
    return video?.id ?? '';
  }

  test.each([
    ...videoURLs.map((videoUrl) => ({ videoUrl, contentStatus: 501 }) as const),
    ...videoIds.map((videoId) => ({ videoId })),
  ])('of a gateway with %j is written to its file', async (quirks) => {
    const opened = await open(quirks);
    const id = await submit(opened);

    const { code } = await opened.machine.run(['video', 'wait', id, '-o', 'boat.mp4']);

    expect(code).toBe(0);
    expect(opened.read('boat.mp4').toString('latin1', 4, 8)).toBe('ftyp');
    expect(opened.emulator.charges).toHaveLength(1);
  });

  test.each(pendingBodies)('is awaited after a 202 with the body %s', async (taskPending) => {
    const opened = await open({ taskPending }, 1_000);
    const id = await submit(opened);

    const { code } = await opened.machine.run(['video', 'wait', id, '-o', 'boat.mp4']);

    expect(code).toBe(0);
  });

  test.each(videoFailures)('that failed in the form %s ends with its reason', async (form) => {
    const opened = await open({ videoFailure: form }, 60_000);
    const id = await submit(opened);
    opened.emulator.videos.fail(id, 'No face was found');

    const { code, stderr } = await opened.machine.run(['video', 'wait', id, '-o', 'boat.mp4']);

    expect(code).toBe(3);
    expect(stderr).toMatch(form === 'moderation' ? /moderation/ : /No face was found/);
  });
});

test('an opus recording is sent under a name that strict gateways accept', async () => {
  const { machine } = await open({ strictUploads: true });
  writeFileSync(join(machine.folder, 'note.opus'), mediaHeads.ogg);

  const { code, stderr } = await machine.run(['transcribe', '-m', 'whisper-1', 'note.opus']);

  expect(stderr).toBe('');
  expect(code).toBe(0);
});
