import type { ChatCompletion } from '../types/chat.ts';
import { chatProtocol } from './chat-protocol.ts';
import { collectStream } from './open-source.ts';
import type { StreamContext } from './protocol.ts';

/**
 * Puts a completion together from an event stream, for providers that stream although asked for a
 * whole answer.
 *
 * @throws `StreamTruncatedError`, like a loop over the stream, when it is not whole
 */
export function collectChatCompletion(
  response: Response,
  context: StreamContext,
): Promise<ChatCompletion> {
  return collectStream(response, context, chatProtocol);
}
