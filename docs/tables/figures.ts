/** Figures of `bench/results/bench.json`, which `npm run bench` has measured. */
import measured from '../../bench/results/bench.json' with { type: 'json' };

/** Returns a measured size of this package in KiB, rounded up. */
export function sizeOf(id: string): string {
  const size = measured.metrics.find((metric) => metric.id === id)?.values['model-gateway'];
  if (size === undefined) throw new Error(`bench.json has no ${id}.`);
  return `${Math.ceil(size)} KiB`;
}
