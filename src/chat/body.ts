import { isObject, objectsOf } from '../answers/objects.ts';
import { checkList, checkModel, checkParams } from '../check.ts';
import { textsOf } from './normalize.ts';
import type { ChatCompletionCreateParamsBase } from './params.ts';

/** An answer goes back as it came: without what this package has added to it. */
function sentMessage(message: unknown): unknown {
  if (!isObject(message) || message['role'] !== 'assistant') return message;
  const { parsed: _, content_parts: parts, audio, ...sent } = message;
  // The sound itself is not taken back, only its id.
  if (audio) sent['audio'] = isObject(audio) ? { id: audio['id'] } : audio;
  if (sent['refusal'] === null) delete sent['refusal'];
  if (Array.isArray(parts)) {
    const { text, thoughts } = textsOf(parts);
    // Text that the caller has changed since counts more than what came.
    if (sent['content'] === text) sent['content'] = parts;
    if (sent['reasoning_content'] === thoughts) delete sent['reasoning_content'];
  }
  if (sent['tool_calls'] !== undefined) {
    sent['tool_calls'] = objectsOf(sent['tool_calls']).map((call) => {
      if (!isObject(call['function'])) return call;
      const { parsed_arguments: __, ...called } = call['function'];
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
