import type { ChatCompletion } from '../types/chat.ts';
import { chatProtocolFor } from './chat-protocol.ts';
import { collectStream } from './open-source.ts';
import type { StreamContext } from './protocol.ts';

/**
 * Puts a completion together from an event stream, for providers that stream although asked for a
 * whole answer.
 *
 * @param choices - How many answers were asked for.
 * @throws `StreamTruncatedError`, like a loop over the stream, when it is not whole
 */
export function collectChatCompletion(
  response: Response,
  context: StreamContext,
  choices: number,
): Promise<ChatCompletion> {
  return collectStream(response, context, chatProtocolFor(choices));
}
