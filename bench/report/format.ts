import type { Gate } from '../gates.ts';
import type { Unit } from '../lib/metric.ts';

/** A figure with about three digits. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '?';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', {
    minimumFractionDigits: Number.isInteger(value) ? 0 : digits,
    maximumFractionDigits: digits,
  });
}

/** Counts say what they count in the label already. */
const counted: readonly Unit[] = ['files', 'types', 'packages', 'polls'];

/** A figure with its unit. */
export function figure(value: number, unit: Unit): string {
  if (counted.includes(unit)) return String(Math.round(value));
  return `${number(value)} ${unit}`;
}

/** Formats the limit of a gate. */
export function limit({ atMost, of, ofMetric }: Gate): string {
  if (of !== undefined) return `≤ ${atMost} × ${of}`;
  if (ofMetric !== undefined) return `≤ ${atMost} × the figure before it`;
  return `≤ ${atMost}`;
}

/** A value in the terms of its gate. */
export function gateValue({ of, ofMetric }: Gate, value: number): string {
  return of === undefined && ofMetric === undefined ? number(value) : `${value.toFixed(2)} ×`;
}
