import { spawn, type ChildProcess } from 'node:child_process';
import { createReadStream, openAsBlob } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveTo } from '../../src/adapters/node/index.ts';
import { Gateway, toStreamingFile } from '../../src/index.ts';
import { encodeForm, postForm } from '../helpers/encode-form.ts';
import { mediaHeads } from '../helpers/media.ts';

const mebibyte = 1024 * 1024;
const size = 128 * mebibyte;
const allowedGrowth = 64 * mebibyte;

/** Reads a whole request and responds with its length. */
const drainProgram = `
  import { createServer } from 'node:http';
  const server = createServer((request, response) => {
    let length = 0;
    request.on('data', (chunk) => { length += chunk.length; });
    request.on('end', () => response.end(String(length)));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

let folder = '';
let largeFile = '';
// The server is a process of its own: what it receives must not count.
let drain: ChildProcess;
let drainURL = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upload-memory-'));
  largeFile = join(folder, 'large.mp3');
  const file = await open(largeFile, 'w');
  await file.write(mediaHeads.mp3);
  await file.truncate(size);
  await file.close();
  drain = spawn(process.execPath, ['--input-type=module', '-e', drainProgram], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve) =>
    drain.stdout?.once('data', (text: Buffer) => resolve(String(text))),
  );
  drainURL = `http://127.0.0.1:${port.trim()}`;
});

afterAll(async () => {
  drain.kill();
  await rm(folder, { recursive: true });
});

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

async function* repeatedChunks(length: number): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(64 * 1024);
  for (let sent = 0; sent < length; sent += chunk.length) yield await Promise.resolve(chunk);
}

/** Runs an action, and returns by how much memory grew meanwhile. */
async function measure(action: () => Promise<unknown>) {
  collectGarbage();
  const before = process.memoryUsage();
  const growth = { resident: 0, held: 0 };
  let timer: NodeJS.Timeout | undefined;
  const sample = (): void => {
    const start = performance.now();
    // Only memory that a collection cannot free counts as held.
    collectGarbage();
    const { rss, arrayBuffers, heapUsed } = process.memoryUsage();
    const held = arrayBuffers + heapUsed - before.arrayBuffers - before.heapUsed;
    growth.resident = Math.max(growth.resident, rss - before.rss);
    growth.held = Math.max(growth.held, held);
    // A busy machine would collect all the time.
    timer = setTimeout(sample, Math.max(50, 4 * (performance.now() - start)));
  };
  timer = setTimeout(sample, 50);
  try {
    await action();
  } finally {
    clearTimeout(timer);
  }
  return growth;
}

test.each([
  { source: 'an fs stream', open: () => createReadStream(largeFile) },
  { source: 'an async iterable', open: () => toStreamingFile(repeatedChunks(size), 'talk.mp3') },
  { source: 'a file behind a Blob', open: () => openAsBlob(largeFile) },
])(
  'memory stays flat while 128 MiB are uploaded from $source',
  async ({ open: openSource }) => {
    const form = await encodeForm([['file', await openSource(), 'any']]);
    let received = 0;

    const growth = await measure(async () => {
      received = Number(await (await postForm(form, drainURL)).text());
    });

    expect(received).toBeGreaterThan(size);
    expect(growth.held).toBeLessThan(allowedGrowth);
    // Pages of a first upload are not all returned to the system.
    expect(growth.resident).toBeLessThan(1.5 * allowedGrowth);
  },
  120_000,
);

/** Chunks that may each be the beginning of an error behind the file, for a server that sends no length. */
const suspicious = new TextEncoder().encode('{"error": '.repeat(6_554));

test.each([
  ['a file', mediaHeads.mp3],
  ['a file of a container', mediaHeads.mp4],
])(
  'memory stays flat while 128 MiB of %s are downloaded and checked',
  async (_, head) => {
    let left = size;
    const client = new Gateway({
      apiKey: 'sk-test',
      baseURL: 'https://gateway.test',
      fetch: () => {
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(head),
          pull(controller) {
            left -= suspicious.length;
            if (left > 0) controller.enqueue(suspicious.slice());
            else controller.close();
          },
        });
        return Promise.resolve(new Response(body, { headers: { 'content-type': 'audio/mpeg' } }));
      },
    });
    const path = join(folder, 'download');

    const growth = await measure(async () => {
      const response = await client.audio.speech.create({ model: 'm', voice: 'a', input: 'Hi' });
      await saveTo(response, path);
    });

    expect((await stat(path)).size).toBeGreaterThan(size - suspicious.length);
    expect(growth.held).toBeLessThan(allowedGrowth / 2);
  },
  120_000,
);
