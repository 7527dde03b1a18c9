import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runChild } from '../lib/child.ts';
import type { Effort, Part, PartResult } from '../lib/metric.ts';
import type { Column } from '../lib/packages.ts';
import { inRounds, mediansOf, taking } from '../lib/rounds.ts';
import { clients } from './clients.ts';

const child = path.join(import.meta.dirname, 'child.ts');
const server = path.join(import.meta.dirname, 'server.ts');
const megabytes = 512;

/** Clients that can also be given a stream. */
const streaming: readonly Column[] = ['model-gateway', 'openai', 'groq-sdk'];

async function measure({ check, columns }: Effort): Promise<PartResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-upload-'));
  const receiver = spawn(process.execPath, [server], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [port]: unknown[] = await once(receiver.stdout, 'data');
    const small = path.join(folder, 'small.mp3');
    const large = path.join(folder, 'large.mp3');
    await writeFile(small, new Uint8Array(65_536));
    // Sparse, so it takes no place on the disk.
    await writeFile(large, '');
    await truncate(large, megabytes * 2 ** 20);
    const baseURL = `http://127.0.0.1:${String(port).trim()}/v1`;
    // Memory hardly varies from run to run, unlike time.
    const rounds = check ? 1 : 3;
    const measureWay = (own: readonly Column[], way: 'file' | 'stream') =>
      inRounds(own, rounds, (column) =>
        runChild(child, [column, way, baseURL, small, large], ['--expose-gc']),
      );
    const taken = taking(clients, columns);
    const file = await measureWay(taken, 'file');
    const stream = await measureWay(
      taken.filter((column) => streaming.includes(column)),
      'stream',
    );
    return {
      metrics: [
        {
          id: 'upload.file',
          label: `Peak memory growth, ${megabytes} MiB upload of a File`,
          unit: 'MiB',
          values: mediansOf(file, 'growth'),
        },
        {
          id: 'upload.stream',
          label: '– of a Node stream',
          unit: 'MiB',
          values: mediansOf(stream, 'growth'),
        },
      ],
      raw: { file, stream },
    };
  } finally {
    receiver.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

export const uploadPart: Part = { name: 'upload', measure };
