import path from 'node:path';
import { runChild } from '../lib/child.ts';
import type { Effort, Part, PartResult } from '../lib/metric.ts';
import { inRounds, mediansOf, taking } from '../lib/rounds.ts';
import { openers } from './clients.ts';

const child = path.join(import.meta.dirname, 'child.ts');

async function measure({ check, columns }: Effort): Promise<PartResult> {
  const samples = await inRounds(taking(openers, columns), check ? 1 : 3, (column) =>
    runChild(child, [column], ['--expose-gc']),
  );
  return {
    metrics: [
      {
        id: 'streams.1000',
        label: 'Memory per open stream, of 1,000',
        unit: 'KiB',
        values: mediansOf(samples, '1000'),
      },
      {
        id: 'streams.2000',
        label: '– of 2,000 more',
        unit: 'KiB',
        values: mediansOf(samples, '2000'),
      },
    ],
    raw: { samples },
  };
}

export const concurrencyPart: Part = { name: 'concurrency', measure };
