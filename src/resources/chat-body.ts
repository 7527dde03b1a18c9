import type { ChatCompletionCreateParamsBase } from '../types/chat-params.ts';
import { checkList, checkModel, checkParams } from './checks.ts';

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
  if (params.stream_options?.include_usage !== false) return params;
  return { ...params, stream_options: { ...params.stream_options, include_usage: true } };
}
