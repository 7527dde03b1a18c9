import { isObject, objectsOf } from '../schemas/objects.ts';
import type { ChatCompletionCreateParamsBase } from '../types/chat-params.ts';
import { checkList, checkModel, checkParams } from './checks.ts';

/** An answer that is sent back without what only this package, or only an answer, has. */
function sentMessage(message: unknown): unknown {
  if (!isObject(message) || !('parsed' in message)) return message;
  const { parsed: _, content_parts: __, annotations: ___, audio, ...sent } = message;
  if (isObject(audio)) sent['audio'] = { id: audio['id'] };
  if (sent['tool_calls'] !== undefined) {
    sent['tool_calls'] = objectsOf(sent['tool_calls']).map((call) => {
      if (!isObject(call['function'])) return call;
      const { parsed_arguments: ____, ...called } = call['function'];
      return { ...call, function: called };
    });
  }
  return sent;
}

/**
 * The body of a chat completion, checked.
 *
 * `include_usage: false` is never sent: gateways then drop the chunk with the finish reason of many
 * providers, and a whole answer could no longer be told from a cut one.
 */
export function chatBody(params: ChatCompletionCreateParamsBase): object {
  checkParams('chat.completions.create', params);
  checkModel(params.model);
  checkList('messages', params.messages, 'a message such as { role: "user", content: "Hello!" }');
  const body = { ...params, messages: params.messages.map(sentMessage) };
  if (params.stream_options?.include_usage !== false) return body;
  return { ...body, stream_options: { ...params.stream_options, include_usage: true } };
}
