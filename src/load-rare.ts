import { later } from './load.ts';

/** All calls but those of chat, generation and videos. */
export const loadRare = later(
  'audio, embeddings, images, models, files and other routes',
  () => import('./rare.ts'),
);
