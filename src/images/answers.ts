import { jsonAnswer } from '../http/response.ts';
import { collectAs, eventAnswer } from '../streams/open-stream.ts';
import { imageEditProtocol, imageGenProtocol, imagesOf, imagesSchema } from './schema.ts';

export { generateMany } from './many.ts';

const collectEvents = collectAs(imageGenProtocol(1));

/** How images are read that come in one piece. */
export const wholeAnswer = jsonAnswer({
  schema: imagesSchema,
  fromEvents: async (call, answer) => imagesOf(await collectEvents(call, answer)),
});

/** How a stream of so many new images is read. */
export const generateEvents = (expected: number) => eventAnswer(imageGenProtocol(expected));

/** How a stream of so many edited images is read. */
export const editEvents = (expected: number) => eventAnswer(imageEditProtocol(expected));
