import path from 'node:path';
import { runChild } from '../lib/child.ts';
import type { Effort, Part, PartResult } from '../lib/metric.ts';
import { inRounds, mediansOf, taking } from '../lib/rounds.ts';
import { clients } from './clients.ts';
import { sizes } from './sizes.ts';

const child = path.join(import.meta.dirname, 'child.ts');

function label(size: number): string {
  return size < 1024 ? `${size} B` : size < 10_000 ? '1.4 kB' : `${size / 1024} KiB`;
}

async function measure({ check, columns }: Effort): Promise<PartResult> {
  const samples = await inRounds(taking(clients, columns), check ? 3 : 5, (column) =>
    runChild(child, [column], ['--expose-gc']),
  );
  return {
    metrics: sizes.map((size) => ({
      id: `chunks.${size}`,
      label: `A streamed chunk, CPU (reads of ${label(size)})`,
      unit: 'µs',
      values: mediansOf(samples, String(size)),
    })),
    raw: { samples },
  };
}

export const chunksPart: Part = { name: 'chunks', measure };
