import path from 'node:path';
import { runChild } from '../lib/child.ts';
import type { Effort, Part, PartResult } from '../lib/metric.ts';
import { inRounds, mediansOf, taking } from '../lib/rounds.ts';
import { clients } from './clients.ts';

const child = path.join(import.meta.dirname, 'child.ts');

async function measure({ check, columns }: Effort): Promise<PartResult> {
  const samples = await inRounds(taking(clients, columns), check ? 3 : 5, (column) =>
    runChild(child, [column], ['--expose-gc']),
  );
  return {
    metrics: [
      {
        id: 'embeddings',
        label: '256 × 3,072 embeddings as vectors, CPU',
        unit: 'ms',
        values: mediansOf(samples, 'vectors'),
      },
      {
        id: 'embeddings.float',
        label: '– asked for as JSON numbers',
        unit: 'ms',
        values: mediansOf(samples, 'float'),
      },
    ],
    raw: { samples },
  };
}

export const embeddingsPart: Part = { name: 'embeddings', measure };
