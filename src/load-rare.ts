import { later } from './load.ts';

/** What reads answers of audio, of lists of models and of routes by their path. */
export const loadRare = later('audio, models and other routes', () => import('./rare.ts'));
