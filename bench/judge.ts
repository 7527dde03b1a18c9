import type { Gate } from './gates.ts';
import { median, type Effort, type Metric, type Part, type Values } from './lib/metric.ts';
import type { Column } from './lib/packages.ts';
import { gateValue, limit } from './report/format.ts';

/** The result of a gate. */
export interface Verdict {
  readonly gate: Gate;
  /** In the unit of `atMost`. */
  readonly value: number;
  /** `known`: missed, but listed as such and not worse than listed. */
  readonly result: 'met' | 'known' | 'missed';
}

/** The most measurements of a varying figure before it counts as missed. */
export const attempts = 3;

/** The gates of a part, by their names. */
export function gatesFor(part: string, gates: readonly Gate[]): Gate[] {
  return gates.filter(({ metric }) => metric.split('.', 1)[0] === part);
}

/** Returns the columns of the gates of a part. A run with `--check` measures only these. */
export function columnsFor(gates: readonly Gate[]): Column[] {
  return [...new Set(['model-gateway' as const, ...gates.flatMap(({ of }) => of ?? [])])];
}

/** Judges gates whose figures are there. One that this client has no value for is missed. */
export function judge(gates: readonly Gate[], metrics: readonly Metric[]): Verdict[] {
  const byId = new Map(metrics.map((metric) => [metric.id, metric]));
  return gates.flatMap((gate): Verdict[] => {
    const metric = byId.get(gate.metric);
    if (metric === undefined) return [];
    const value = toGateValue(gate, metric, byId.get(gate.ofMetric ?? gate.metric));
    if (value <= gate.atMost) return [{ gate, value, result: 'met' }];
    const isKnown = gate.missed !== undefined && value <= gate.missed.atMost;
    return [{ gate, value, result: isKnown ? 'known' : 'missed' }];
  });
}

/** A ratio is taken within each round, where the machine was as busy for one as for the other. */
function toGateValue({ of, ofMetric }: Gate, metric: Metric, other: Metric | undefined): number {
  const ratio = (own: Values | undefined, others: Values | undefined): number =>
    (own?.['model-gateway'] ?? Number.NaN) / (others?.[of ?? 'model-gateway'] ?? Number.NaN);
  if (of === undefined && ofMetric === undefined) {
    return metric.values['model-gateway'] ?? Number.NaN;
  }
  if (metric.rounds === undefined) return ratio(metric.values, other?.values);
  return median(metric.rounds.map((round, index) => ratio(round, other?.rounds?.[index])));
}

/**
 * Measures a part. If a varying figure misses its gate, the part is measured again, up to three times in
 * total, because the machine may be busy. Gates that were met stay met. Sizes and counts are measured once.
 */
export async function measurePart(
  part: Part,
  gates: readonly Gate[],
  effort: Effort,
  say: (line: string) => void,
): Promise<{
  readonly metrics: readonly Metric[];
  readonly raw: unknown;
  readonly verdicts: readonly Verdict[];
}> {
  let { metrics, raw } = await part.measure(effort);
  let verdicts = judge(gates, metrics);
  for (let attempt = 2; attempt <= attempts; attempt += 1) {
    const varies = new Set(
      metrics.filter(({ rounds }) => rounds !== undefined).map(({ id }) => id),
    );
    const missed = verdicts.filter(
      ({ gate, result }) => result === 'missed' && varies.has(gate.metric),
    );
    if (missed.length === 0) break;
    for (const { gate, value } of missed) {
      const found = gateValue(gate, value);
      const ratchet =
        gate.missed === undefined ? '' : `, at most ${gateValue(gate, gate.missed.atMost)} for now`;
      say(
        `${gate.metric}: ${found}, asked ${limit(gate)}${ratchet}. Measured again (${attempt} of ${attempts}).`,
      );
    }
    ({ metrics, raw } = await part.measure(effort));
    const again = judge(
      missed.map(({ gate }) => gate),
      metrics,
    );
    verdicts = verdicts.map(
      (verdict) => again.find(({ gate }) => gate === verdict.gate) ?? verdict,
    );
  }
  return { metrics, raw, verdicts };
}
