import type { Figures } from './lib/child.ts';
import type { Effort, Part, PartResult } from './lib/metric.ts';
import type { Column } from './lib/packages.ts';
import { selectFigures, inRounds, taking, varying } from './lib/rounds.ts';
import { measureWaits } from './memory/measure.ts';

/** Peers have no video tasks, or their own. */
const kinds: Partial<Record<Column, string>> = {
  'model-gateway': 'wait()',
  floor: 'fetch alone',
};

async function measureKind(kind: string, isCheck: boolean): Promise<Figures> {
  const perWait = async (count: number): Promise<number> =>
    ((await measureWaits(kind, 'asleep', count))['perWait'] ?? Number.NaN) / 1_024;
  const figures = { '1000': await perWait(1_000), '10000': await perWait(10_000) };
  if (isCheck) return figures;
  const { perSecond = Number.NaN } = await measureWaits(kind, 'working', 10_000, 10);
  return { ...figures, polls: perSecond };
}

async function measure({ check, columns }: Effort): Promise<PartResult> {
  const measured = await inRounds(taking(kinds, columns), 1, (column) =>
    measureKind(kinds[column] ?? '', check),
  );
  const of = (name: string) => selectFigures(measured, name);
  const label = 'Memory per video that is waited for, of 1,000';
  const polls = 'Polls per second while 10,000 videos are waited for';
  return {
    metrics: [
      varying({ id: 'waits.1000', label, unit: 'KiB' }, of('1000')),
      varying({ id: 'waits.10000', label: '– of 10,000', unit: 'KiB' }, of('10000')),
      ...(check ? [] : [varying({ id: 'waits.polls', label: polls, unit: 'polls' }, of('polls'))]),
    ],
  };
}

export const waitsPart: Part = { name: 'waits', measure };
