/**
 * Moves one large file, or reads a long stream, and prints how the process grew: a program of its own,
 * because what one transfer leaves behind would count for the next.
 *
 *   node --expose-gc transfer.ts <kind> <base URL> <bytes> <folder>
 */
import { createReadStream, createWriteStream, openAsBlob } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Gateway } from '../lib/model-gateway.ts';
import { downloadVideo, fileFromPath, saveTo } from '../../dist/node/index.js';
import { growthDuring } from './probe.ts';

const [kind = '', baseURL = 'http://127.0.0.1', size = '0', folder = ''] = process.argv.slice(2);
const bytes = Number(size);
const warmUp = 16 << 20;
const client = new Gateway({ apiKey: 'sk-bench', baseURL, logLevel: 'error' });

/** A file of zeros that takes no room on the disk. */
async function createFile(length: number, extension = 'mp3'): Promise<string> {
  const file = path.join(folder, `source-${length}.${extension}`);
  const handle = await open(file, 'w');
  await handle.truncate(length);
  await handle.close();
  return file;
}

const order = { model: 'm-video', prompt: 'A paper boat' };
const target = path.join(folder, 'out.mp4');

async function checkTarget(length: number): Promise<void> {
  const found = (await stat(target)).size;
  await rm(target);
  if (found !== length) throw new Error(`${found} bytes were saved instead of ${length}.`);
}

/** Transfers of a file. The two with `fetch` alone show the memory of the runtime itself. */
const transfers: Readonly<Record<string, (length: number) => Promise<void>>> = {
  async 'downloadVideo()'(length) {
    await downloadVideo(client, 'task_1', { to: target, query: { bytes: length } });
    await checkTarget(length);
  },
  async 'downloadContent() and saveTo()'(length) {
    const query = { bytes: length };
    await saveTo(await client.videos.downloadContent('task_1', { query }), target);
    await checkTarget(length);
  },
  async 'speech and saveTo()'(length) {
    const speech = { model: 'm-speech', voice: 'alloy', input: 'Hello' } as const;
    await saveTo(await client.audio.speech.create(speech, { query: { bytes: length } }), target);
    await checkTarget(length);
  },
  async 'a loop over 200 MB of a stream, partial: false'(length) {
    const size200 = Math.min(length, 200_000_000);
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const stream = await client.chat.completions.create(
      { model: 'm-chat', messages, stream: true },
      { query: { bytes: size200 }, partial: false },
    );
    let text = 0;
    for await (const { choices } of stream) text += choices[0]?.delta.content?.length ?? 0;
    // The rest of each event is the JSON around its text.
    if (text < size200 * 0.8) throw new Error(`${text} characters came instead of ${size200}.`);
  },
  async 'a download by fetch alone'(length) {
    const response = await fetch(`${baseURL}/v1/videos/task_1/content?bytes=${length}`);
    if (response.body === null) throw new Error('The response has an empty body.');
    await pipeline(response.body, createWriteStream(target));
    await checkTarget(length);
  },
  async 'input_reference from fileFromPath()'(length) {
    const reference = await fileFromPath(await createFile(length, 'png'));
    await client.videos.create({ ...order, input_reference: reference });
  },
  async 'input_reference from a stream'(length) {
    const reference = createReadStream(await createFile(length));
    await client.videos.create({ ...order, input_reference: reference });
  },
  async 'audio from fileFromPath()'(length) {
    const file = await fileFromPath(await createFile(length));
    await client.audio.translations.create({ model: 'whisper-1', file });
  },
  async 'audio from a stream'(length) {
    const file = createReadStream(await createFile(length));
    await client.audio.translations.create({ model: 'whisper-1', file });
  },
  async 'an upload by fetch alone'(length) {
    const body = new FormData();
    body.append('model', 'whisper-1');
    body.append('file', await openAsBlob(await createFile(length)), 'source.mp3');
    // Without these two it takes the size of the file.
    const options = { redirect: 'error', window: null } as const;
    await (await fetch(`${baseURL}/v1/videos`, { method: 'POST', body, ...options })).text();
  },
};

const transfer = transfers[kind];
if (transfer === undefined) {
  // Without a kind: which kinds there are.
  console.log(JSON.stringify(Object.keys(transfers)));
} else {
  // Code is loaded and caches are filled before anything is measured.
  await transfer(warmUp);
  const begun = performance.now();
  const growth = await growthDuring(() => transfer(bytes));
  const seconds = (performance.now() - begun) / 1_000;
  console.log(JSON.stringify({ ...growth, seconds }));
}
