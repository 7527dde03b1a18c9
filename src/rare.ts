/**
 * All calls but those of chat, generation and videos, and what works with files. It is one part: each alone
 * would cost more to fetch than what is in it.
 */
export { speak, transcribe, translate } from './audio/operations.ts';
export { createForEngine, createMany, embed } from './embeddings/operations.ts';
export { editImages } from './images/edit.ts';
export { generateImages, generateManyImages } from './images/operations.ts';
export { listModels, retrieveModel } from './models/answers.ts';
export { callRoute } from './routes/routes.ts';
export { readFile } from './uploads/file-input.ts';
