import { generateContentReader, isGeneration } from '../schemas/generate.ts';
import { isObject } from '../schemas/objects.ts';
import { readValue } from '../schemas/reader.ts';
import type { GenerateContentResponse } from '../types/generate.ts';
import { GenerateAccumulator } from './generate-accumulator.ts';
import type { StreamProtocol } from './protocol.ts';

/** How streamed content generation is read: it ends with its connection and has no terminator. */
export const generateProtocol: StreamProtocol<GenerateContentResponse> = {
  read: (value, check) => readValue(value, generateContentReader, check),
  follow: (keeps) => new GenerateAccumulator(keeps),
  fromAnswer: (answer) => (isObject(answer) && isGeneration(answer) ? [answer] : []),
};
