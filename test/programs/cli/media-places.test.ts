import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createEmulator, type EmulatorOptions, markers } from '../../../src/testing/index.ts';
import { passTimeFaster } from '../../helpers/fast-time.ts';
import {
  imageDeliveries,
  imageFailures,
  reasonFor,
  remark,
  remarkedImage,
  speechDeliveries,
  transcriptForms,
  videoDeliveries,
  videoFailures,
} from '../../helpers/media-places.ts';
import { mediaHeads } from '../../helpers/media.ts';
import { someOf } from '../../helpers/some-cases.ts';
import { Machine } from './run.ts';

passTimeFaster();

const png = [0x89, 0x50, 0x4e, 0x47];

async function open(quirks: EmulatorOptions['quirks'], videoDuration = 0) {
  const emulator = createEmulator({ quirks, videoDuration });
  emulator.clock.speed = 10;
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  const machine = new Machine({ url: server.url, key: emulator.apiKey });
  const read = (name: string) => readFileSync(join(machine.folder, name));
  return { emulator, machine, read };
}

const draw = ['image', '-m', 'm-image', 'A boat', '--size', '64x64', '-y'];

describe('an image', () => {
  test.each(someOf(imageDeliveries))(
    'an image is written to the file of image: $name',
    async ({ quirks }) => {
      const { emulator, machine, read } = await open(quirks);

      const { code, stdout } = await machine.run([...draw, '-o', 'boat.png']);

      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toEqual({ paths: [join(machine.folder, 'boat.png')] });
      expect([...read('boat.png').subarray(0, 4)]).toEqual(png);
      expect(emulator.charges).toHaveLength(1);
      expect(JSON.stringify(emulator.requests)).not.toContain('s3cr3t');
    },
  );

  test('an image beside an error is written, and the error is shown', async () => {
    const { machine, read } = await open(remarkedImage.quirks);

    const { code, stderr } = await machine.run([...draw, '-o', 'boat.png']);

    expect(code).toBe(0);
    expect([...read('boat.png').subarray(0, 4)]).toEqual(png);
    expect(stderr).toContain(`The gateway reports beside the result: ${remark}`);
  });

  test.each(someOf(imageFailures))(
    'an image whose task failed ends with its reason: $name',
    async ({ quirks }) => {
      const { emulator, machine } = await open(quirks);
      const words = draw.map((word) => word.replace('A boat', `A boat ${markers.fail}`));

      const { code, stdout, stderr } = await machine.run(words);

      expect(code).toBe(3);
      expect(stdout).toBe('');
      expect(stderr).toMatch(reasonFor(quirks.videoFailure, /refused by moderation/));
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test.each([
    ['-o boat.png', ['-o', 'boat.png'], 'boat.png.response.json'],
    ['no name', [], /^response-\d{8}-\d{6}\.json$/],
  ])('an image that is not found leaves the whole response beside it: %s', async (_, out, name) => {
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
  test.each(someOf(speechDeliveries))(
    'speech is written to the file of speak: $name',
    async ({ quirks }) => {
      const { emulator, machine, read } = await open(quirks);

      const { code } = await machine.run(['speak', '-m', 'm-speech', 'Hello', '-o', 'a.mp3']);

      expect(code).toBe(0);
      expect(read('a.mp3').subarray(0, 3).toString()).toBe('ID3');
      expect(emulator.charges).toHaveLength(1);
    },
  );

  test('speech at a URL that cannot be fetched leaves the whole response beside the file', async () => {
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

test.each(someOf(transcriptForms))(
  'a transcript in the form %s is printed',
  async (transcriptForm) => {
    const { machine } = await open({ transcriptForm });
    await machine.run(['speak', '-m', 'm-speech', 'hello there', '-o', 'a.mp3']);

    const { code, stdout } = await machine.run(['transcribe', '-m', 'whisper-1', 'a.mp3']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ text: 'hello there' });
  },
);

describe('a video', () => {
  const create = ['video', 'create', '-m', 'm-video', 'A boat', '-y', '--no-wait'];

  async function submit({ machine, emulator }: Awaited<ReturnType<typeof open>>) {
    const { code, stdout } = await machine.run(create);
    expect(code).toBe(0);
    const [video] = emulator.videos.list;
    expect(stdout).toContain(video?.id);
    return video?.id ?? '';
  }

  test.each(someOf(videoDeliveries))(
    'a video is written to its file: $name',
    async ({ quirks }) => {
      const opened = await open(quirks, 1_000);
      const id = await submit(opened);

      const { code } = await opened.machine.run(['video', 'wait', id, '-o', 'boat.mp4']);

      expect(code).toBe(0);
      expect(opened.read('boat.mp4').toString('latin1', 4, 8)).toBe('ftyp');
      expect(opened.emulator.charges).toHaveLength(1);
    },
  );

  test('a video beside an error is written, and the error is shown', async () => {
    const opened = await open({ taskRemark: true });
    const id = await submit(opened);

    const { code, stderr } = await opened.machine.run(['video', 'wait', id, '-o', 'boat.mp4']);

    expect(code).toBe(0);
    expect(opened.read('boat.mp4').toString('latin1', 4, 8)).toBe('ftyp');
    expect(stderr).toContain(`The gateway reports beside the result: ${remark}`);
  });

  test.each(someOf(videoFailures))(
    'a video that failed in the form %s ends with its reason',
    async (form) => {
      const opened = await open({ videoFailure: form }, 60_000);
      const id = await submit(opened);
      opened.emulator.videos.fail(id, 'No face was found');

      const { code, stderr } = await opened.machine.run(['video', 'wait', id, '-o', 'boat.mp4']);

      expect(code).toBe(3);
      expect(stderr).toMatch(reasonFor(form, /No face was found/));
    },
  );
});

test.each(['note.opus', 'note.oga', 'a\u0001b\u007f.mp3'])(
  'a recording is sent under a name that strict gateways accept: %j',
  async (name) => {
    const { machine } = await open({ strictUploads: true });
    writeFileSync(join(machine.folder, name), mediaHeads[name.endsWith('mp3') ? 'mp3' : 'ogg']);

    const { code, stderr } = await machine.run(['transcribe', '-m', 'whisper-1', name]);

    expect(stderr).toBe('');
    expect(code).toBe(0);
  },
);
