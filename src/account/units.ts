import { parseJSON } from '../answers/objects.ts';
import type { CallTotal } from '../observing/totals.ts';

/** The product of the ratios that the answer to a submission tells. */
export function productOf(ratios: string | null): number {
  const factors = Object.values(Object(parseJSON(ratios ?? '')));
  return factors.reduce<number>((all, factor) => all * (Number(factor) || 1), 1);
}

/** By how much the price of a call is multiplied: images by their number, videos as their answer says. */
export function unitsOf({
  operation,
  count,
  ratios,
}: Pick<CallTotal, 'operation' | 'count' | 'ratios'>): number {
  const isImage = operation.startsWith('images.');
  return productOf(ratios) * ((isImage && count) || 1);
}

/** Whether a call has to be answered with ratios, for its price to be known. */
export const needsRatios = (operation: string): boolean => operation.startsWith('videos.');
