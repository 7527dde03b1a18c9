import type { GenerateContentResponse } from '../types/generate.ts';
import { generateProtocol } from './generate-protocol.ts';
import { collectStream } from './open-source.ts';
import type { StreamContext } from './protocol.ts';

/**
 * Puts a generation together from an event stream, for gateways that stream although asked for a
 * whole answer.
 *
 * @throws `StreamTruncatedError`, like a loop over the stream, when it is not whole
 */
export function collectGenerateContent(
  response: Response,
  context: StreamContext,
): Promise<GenerateContentResponse> {
  return collectStream(response, context, generateProtocol);
}
