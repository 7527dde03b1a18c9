import path from 'node:path';
import { runChild } from '../lib/child.ts';
import type { Effort, Part, PartResult } from '../lib/metric.ts';
import { inRounds, mediansOf } from '../lib/rounds.ts';

const child = path.join(import.meta.dirname, 'child.ts');

async function measure({ check, columns }: Effort): Promise<PartResult> {
  const samples = await inRounds(columns, check ? 3 : 5, (column) =>
    runChild(child, [column], ['--expose-gc']),
  );
  const values = mediansOf(samples, 'call');
  return {
    metrics: [{ id: 'calls', label: 'A whole call, CPU', unit: 'µs', values }],
    raw: { samples },
  };
}

export const callsPart: Part = { name: 'calls', measure };
