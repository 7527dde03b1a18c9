import type { CallGuard } from '../observing/totals.ts';
import type { Transport } from '../http/transport.ts';
import { later } from '../load.ts';
import type { Budget } from '../options.ts';

/** What estimates costs and keeps a budget: a page that does neither does not load it. */
export const loadCosts = later('costs', () => import('./costs.ts'));

/** Keeps the calls of a client within its budget. */
export function guardBy(budget: Budget, transport: () => Transport): CallGuard {
  return async (call) => (await loadCosts()).keepWithin(budget, transport(), call);
}
