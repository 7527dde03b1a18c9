import { jsonAnswer } from '../http/response.ts';
import { collectAs, eventAnswer } from '../streams/open-stream.ts';
import { generateProtocol } from './accumulator.ts';
import { generateContentSchema } from './schema.ts';

export { runTools } from './run-tools.ts';

/** How an answer in one piece is read. */
export const wholeAnswer = jsonAnswer({
  schema: generateContentSchema,
  fromEvents: collectAs(generateProtocol),
});

/** How a streamed answer is read. */
export const streamedAnswer = eventAnswer(generateProtocol);
