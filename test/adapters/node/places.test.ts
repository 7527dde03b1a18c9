import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { downloadVideo, saveTo } from '../../../src/adapters/node/index.ts';
import type { EmulatorOptions } from '../../../src/testing/index.ts';
import { emulated, json, scripted } from '../../helpers/clients.ts';
import {
  imageEncodings,
  imagePlaces,
  pendingBodies,
  videoFailures,
  videoIds,
  videoURLs,
} from '../../helpers/media-places.ts';

const order = { model: 'm-image', prompt: 'A boat', size: '64x64' };
const png = [0x89, 0x50, 0x4e, 0x47];

function createFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'places-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'boat.png');
}

describe('saveTo', () => {
  test.each(imagePlaces)('saves an image at %s', async (imagePlace) => {
    const { client, emulator } = emulated({}, { quirks: { imagePlace } });
    vi.stubGlobal('fetch', emulator.fetch);
    const file = createFile();

    const { data } = await client.images.generate(order);
    await saveTo(data[0] ?? {}, file);

    expect([...readFileSync(file).subarray(0, 4)]).toEqual(png);
  });

  test('saves an image of a stream that was not requested', async () => {
    const { client, emulator } = emulated({}, { quirks: { imageStream: 'result-always' } });
    vi.stubGlobal('fetch', emulator.fetch);
    const file = createFile();

    await saveTo((await client.images.generate(order)).data[0] ?? {}, file);

    expect([...readFileSync(file).subarray(0, 4)]).toEqual(png);
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
  const { client, emulator } = emulated({}, { quirks, videoDuration: 0 });
  const file = createFile();
  const task = await client.videos.create({ model: 'm-video', prompt: 'A boat' });
  const video = await client.videos.wait(task);
  await downloadVideo(client, video, { to: file, maxRetries: 0 });
  return { emulator, content: readFileSync(file).toString('latin1', 4, 8) };
}

describe('downloadVideo', () => {
  test.each(videoURLs)('saves a video whose only place is the URL at %s', async (videoUrl) => {
    const { emulator, content } = await saveVideo({ videoUrl, contentStatus: 403 });

    expect(content).toBe('ftyp');
    expect(emulator.charges).toHaveLength(1);
  });

  test.each(videoIds)('saves a video whose submission has its id at %s', async (videoId) => {
    expect((await saveVideo({ videoId })).content).toBe('ftyp');
  });

  test.each(pendingBodies)('saves a video after a 202 with the body %s', async (taskPending) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const quirks = { taskPending } as const;
    const { client, emulator } = emulated({}, { quirks, videoDuration: 10_000 });
    const task = await client.videos.create({ model: 'm-video', prompt: 'A boat' });

    const waiting = client.videos.wait(task);
    await vi.advanceTimersByTimeAsync(60_000);

    expect(await waiting).toMatchObject({ status: 'completed' });
    expect(emulator.charges).toHaveLength(1);
  });

  test.each(videoFailures)('is not reached by a failure of the form %s', async (videoFailure) => {
    const { client, emulator } = emulated({}, { quirks: { videoFailure } });
    const task = await client.videos.create({ model: 'm-video', prompt: 'A boat' });
    emulator.videos.fail(task.id, 'No face was found');

    const reason = videoFailure === 'moderation' ? /moderation/ : /No face was found/;
    await expect(client.videos.wait(task)).rejects.toThrow(reason);
  });
});
