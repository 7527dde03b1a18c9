import { generateContentSchema, isGeneration } from './schema.ts';
import { isObject } from '../answers/objects.ts';
import { readValue } from '../answers/reader.ts';
import type { GenerateContentResponse } from './types.ts';
import { GenerateAccumulator } from './accumulator.ts';
import type { StreamProtocol } from '../streams/protocol.ts';

/** How streamed content generation is read: it ends with its connection and has no terminator. */
export const generateProtocol: StreamProtocol<GenerateContentResponse> = {
  read: (value, check) => readValue(value, generateContentSchema, check),
  follow: (keeps) => new GenerateAccumulator(keeps),
  fromAnswer: (answer) => (isObject(answer) && isGeneration(answer) ? [answer] : []),
};
