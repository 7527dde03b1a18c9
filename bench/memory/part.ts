import type { Effort, Metric, Part, PartResult, Values } from '../lib/metric.ts';
import { measureWaits } from './measure.ts';

const counts = [1_000, 10_000] as const;
/** Peers have no video tasks, or their own. */
const kinds = { 'model-gateway': 'wait()', floor: 'fetch alone' } as const;

async function measureKind(kind: string, isCheck: boolean): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const count of counts) {
    const { perWait = Number.NaN } = await measureWaits(kind, 'asleep', count);
    figures[String(count)] = perWait / 1_024;
  }
  if (!isCheck) {
    const { perSecond = Number.NaN } = await measureWaits(kind, 'working', counts[1], 10);
    figures['polls'] = perSecond;
  }
  return figures;
}

async function measure({ check }: Effort): Promise<PartResult> {
  const own = await measureKind(kinds['model-gateway'], check);
  const floor: Record<string, number> = check ? {} : await measureKind(kinds.floor, check);
  const valuesOf = (name: string): Values => {
    const { [name]: value = Number.NaN } = own;
    const least = floor[name];
    return { 'model-gateway': value, ...(least !== undefined && { floor: least }) };
  };
  const polls: Metric = {
    id: 'waits.polls',
    label: 'Polls per second while 10,000 videos are waited for',
    unit: 'polls',
    values: valuesOf('polls'),
  };
  return {
    metrics: [
      {
        id: 'waits.1000',
        label: 'Memory per video that is waited for, of 1,000',
        unit: 'KiB',
        values: valuesOf('1000'),
      },
      { id: 'waits.10000', label: '– of 10,000', unit: 'KiB', values: valuesOf('10000') },
      ...(check ? [] : [polls]),
    ],
    raw: { own, floor },
  };
}

export const waitsPart: Part = { name: 'waits', measure };
