import { createReadStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runChild, serveAsChild } from './lib/child.ts';
import { baseURL, forOpenAILike } from './lib/clients.ts';
import type { Effort, Part, PartResult } from './lib/metric.ts';
import type { Column } from './lib/packages.ts';
import { selectFigures, inRounds, taking, varying } from './lib/rounds.ts';
import { withServer } from './memory/measure.ts';

const megabytes = 512;
const rounds = 3;

/** Uploads a file on disk and gives the number of bytes that the server received. */
type Upload = (file: string) => Promise<number>;

/** As a `File` whose bytes stay on disk, and as a stream. */
type Uploads = Readonly<{ file: Upload; stream?: Upload }>;
type UploadingClient = (url: string) => Promise<Uploads>;

const model = 'translation-model';

async function openFile(file: string): Promise<File> {
  return new File([await openAsBlob(file)], 'speech.mp3', { type: 'audio/mpeg' });
}

const streaming = forOpenAILike<UploadingClient>((connect) => async (url) => {
  const { translations } = (await connect(url)).audio;
  const send = async (file: Parameters<typeof translations.create>[0]['file']) =>
    Number((await translations.create({ model, file })).text);
  return {
    file: async (file) => send(await openFile(file)),
    stream: (file) => send(createReadStream(file)),
  };
});

const clients: Readonly<Partial<Record<Column, UploadingClient>>> = {
  ...streaming,
  floor: async (url) => ({
    file: async (file) => {
      const body = new FormData();
      body.set('model', model);
      body.set('file', await openFile(file));
      const response = await fetch(`${url}/audio/translations`, { method: 'POST', body });
      const { text }: { text: string } = JSON.parse(await response.text());
      return Number(text);
    },
  }),
};

// `upload.ts <column> file|stream <base URL> <small file> <large file>`
serveAsChild({
  file: import.meta.filename,
  clients,
  async run(connect, [way, url = baseURL, small = '', large = '']) {
    const uploads = await connect(url);
    const upload = way === 'stream' ? uploads.stream : uploads.file;
    if (upload === undefined) throw new Error('This client cannot upload so.');
    // The first upload loads and compiles what every upload needs.
    await upload(small);
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    const received = await upload(large);
    const { size } = await stat(large);
    if (received < size) throw new Error(`${received} of ${size} bytes were received.`);
    // `maxRSS` is in KiB. The peak cannot have been before: nothing large had been touched.
    return { growth: Math.max(0, process.resourceUsage().maxRSS - before / 1024) / 1024 };
  },
});

function measure({ columns }: Effort): Promise<PartResult> {
  return withServer(async (origin) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'bench-upload-'));
    try {
      const small = path.join(folder, 'small.mp3');
      const large = path.join(folder, 'large.mp3');
      await writeFile(small, new Uint8Array(65_536));
      // Sparse, so it takes no place on the disk.
      await writeFile(large, '');
      await truncate(large, megabytes * 2 ** 20);
      const measureGrowth = async (way: string, taken: readonly Column[]) =>
        selectFigures(
          await inRounds(taken, rounds, (column) =>
            runChild(import.meta.filename, [column, way, `${origin}/v1`, small, large]),
          ),
          'growth',
        );
      const label = `Peak memory growth, ${megabytes} MiB upload of a File`;
      const file = await measureGrowth('file', taking(clients, columns));
      const stream = await measureGrowth('stream', taking(streaming, columns));
      return {
        metrics: [
          varying({ id: 'upload.file', label, unit: 'MiB' }, file),
          varying({ id: 'upload.stream', label: '– of a Node stream', unit: 'MiB' }, stream),
        ],
      };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

export const uploadPart: Part = { name: 'upload', measure };
