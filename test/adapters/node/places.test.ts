import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { downloadVideo, saveTo } from '../../../src/adapters/node/index.ts';
import { ImageFailedError } from '../../../src/index.ts';
import { type EmulatorOptions, markers } from '../../../src/testing/index.ts';
import { emulated, json, scripted } from '../../helpers/clients.ts';
import { fakeWaitingTime, rejected, resolved } from '../../helpers/fake-time.ts';
import {
  imageDeliveries,
  imageEncodings,
  imageFailures,
  reasonFor,
  remark,
  remarkedImage,
  speechDeliveries,
  videoDeliveries,
  videoFailures,
} from '../../helpers/media-places.ts';

const order = { model: 'm-image', prompt: 'A boat', size: '64x64' };
const png = [0x89, 0x50, 0x4e, 0x47];

function createFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'places-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'boat.png');
}

describe('saveTo', () => {
  fakeWaitingTime();

  test.each(imageDeliveries)('saves an image: $name', async ({ quirks }) => {
    const { client, emulator } = emulated({}, { quirks });
    vi.stubGlobal('fetch', emulator.fetch);
    const file = createFile();

    const { data } = await resolved(client.images.generate(order));
    await saveTo(data[0] ?? {}, file);

    expect([...readFileSync(file).subarray(0, 4)]).toEqual(png);
    expect(emulator.charges).toHaveLength(1);
    expect(JSON.stringify(emulator.requests)).not.toContain('s3cr3t');
  });

  test('saves an image beside an error, which the response has', async () => {
    const { client, emulator } = emulated({}, remarkedImage);
    vi.stubGlobal('fetch', emulator.fetch);
    const file = createFile();

    const { data, error } = await resolved(client.images.generate(order));
    await saveTo(data[0] ?? {}, file);

    expect([...readFileSync(file).subarray(0, 4)]).toEqual(png);
    expect(error).toEqual({ message: remark, code: 'upscaling' });
  });

  test.each(imageFailures)('a failed image does not reach saveTo: $name', async ({ quirks }) => {
    const { client } = emulated({}, { quirks });
    const prompt = `A boat ${markers.fail}`;

    const error = await rejected(client.images.generate({ ...order, prompt }));

    expect(ImageFailedError.isInstance(error)).toBe(true);
    expect(String(error)).toMatch(reasonFor(quirks.videoFailure, /refused by moderation/));
  });

  test.each(speechDeliveries)('saves speech: $name', async ({ quirks }) => {
    const { client, emulator } = emulated({}, { quirks });
    const plain = emulated();
    const params = { model: 'm-speech', voice: 'alloy', input: 'Hello' };
    const [file, usual] = [createFile(), createFile()];

    await saveTo(await client.audio.speech.create(params), file);
    await saveTo(await plain.client.audio.speech.create(params), usual);

    expect(readFileSync(file).equals(readFileSync(usual))).toBe(true);
    expect(emulator.charges).toHaveLength(1);
  });

  test.each(imageEncodings)('saves an image in base64 of the form %s', async (imageEncoding) => {
    const quirks = { imageFormat: 'b64_json', imageEncoding } as const;
    const { client } = emulated({}, { quirks });
    const plain = emulated({}, { quirks: { imageFormat: 'b64_json' } });
    const [file, usual] = [createFile(), createFile()];

    await saveTo((await client.images.generate(order)).data[0] ?? {}, file);
    await saveTo((await plain.client.images.generate(order)).data[0] ?? {}, usual);

    const expected = readFileSync(usual);
    expect(readFileSync(file).subarray(0, expected.length).equals(expected)).toBe(true);
  });

  // An application may pass images of another source, which no client has read.
  test.each([
    ['a data URL', 'data:image/png;base64,iVBORw+/'],
    ['URL-safe', 'iVBORw-_'],
    ['with line breaks', 'iVBO\r\nRw+/\n'],
    ['escaped in a data URL', 'data:image/png;base64,iVBORw%2B%2F'],
    ['without padding', 'iVBORw+/AA'],
  ])('saves b64_json of another source: %s', async (_, b64_json) => {
    const file = createFile();

    await saveTo({ b64_json }, file);

    expect(readFileSync(file).toString('base64')).toMatch(/^iVBORw\+\//);
  });

  test('rejects b64_json that is not base64', async () => {
    await expect(saveTo({ b64_json: 'no base64!' }, createFile())).rejects.toThrow(/b64_json/);
  });

  test('saves an image that was sent as SVG text', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>';
    const { client } = scripted([json({ data: [{ svg }] })]);
    const file = createFile();

    const { data } = await client.images.generate(order);
    await saveTo(data[0] ?? {}, file);

    expect(data[0]?.media_type).toBe('image/svg+xml');
    expect(readFileSync(file, 'utf8')).toBe(svg);
  });
});

/** Creates a video on a gateway with these quirks, waits for it and saves it. */
async function saveVideo(quirks: EmulatorOptions['quirks']) {
  const { client, emulator } = emulated({}, { quirks, videoDuration: 1_000 });
  const file = createFile();
  const task = await client.videos.create({ model: 'm-video', prompt: 'A boat' });
  vi.useFakeTimers();
  const video = await resolved(client.videos.wait(task)).finally(() => vi.useRealTimers());
  // Files are written in real time, in which the video would be made again.
  emulator.videos.complete(emulator.videos.list[0]?.id ?? '');
  await downloadVideo(client, video, { to: file, maxRetries: 0 });
  return { emulator, video, content: readFileSync(file).toString('latin1', 4, 8) };
}

describe('downloadVideo', () => {
  test.each(videoDeliveries)('saves a video: $name', async ({ quirks }) => {
    const { emulator, content } = await saveVideo(quirks);

    expect(content).toBe('ftyp');
    expect(emulator.charges).toHaveLength(1);
  });

  test('saves a video beside an error, which the task has', async () => {
    const { video, content } = await saveVideo({ taskRemark: true });

    expect(content).toBe('ftyp');
    expect(video.error).toEqual({ message: remark, code: 'upscaling' });
  });

  describe('a task that failed', () => {
    fakeWaitingTime();

    test.each(videoFailures)(
      'a failed task does not reach downloadVideo, in the form %s',
      async (videoFailure) => {
        const { client, emulator } = emulated({}, { quirks: { videoFailure } });
        const task = await client.videos.create({ model: 'm-video', prompt: 'A boat' });
        emulator.videos.fail(task.id, 'No face was found');

        const error = await rejected(client.videos.wait(task));

        expect(String(error)).toMatch(reasonFor(videoFailure, /No face was found/));
      },
    );
  });
});
