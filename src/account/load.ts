import { later } from '../load.ts';

/** What estimates costs and keeps a budget: a page that does neither does not load it. */
export const loadCosts = later('costs', () => import('./costs.ts'));
