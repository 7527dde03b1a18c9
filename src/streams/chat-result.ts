import { GatewayError } from '../errors/gateway-error.ts';
import type { ChatCompletionFunctionCall } from '../types/chat-messages.ts';
import type { ChatCompletion, ChatCompletionMessage, CompletionUsage } from '../types/chat.ts';
import type { ChatCompletionStreamEvents } from './chat-stream-events.ts';
import type { EventEmitter } from './event-emitter.ts';

/** What a streamed chat completion has ended in. */
export class ChatResult {
  #completion: ChatCompletion | undefined;

  /** The completion, in a list; empty until it is there. */
  get completions(): ChatCompletion[] {
    return this.#completion === undefined ? [] : [this.#completion];
  }

  get completion(): ChatCompletion {
    if (this.#completion !== undefined) return this.#completion;
    throw new GatewayError('The stream ended without a completion.', { outcome: 'unknown' });
  }

  get message(): ChatCompletionMessage {
    const message = this.completion.choices[0]?.message;
    if (message !== undefined) return message;
    throw new GatewayError('The completion has no choices, so there is no message.', {
      outcome: 'unknown',
    });
  }

  /** The functions that the model wants called. */
  get functionCalls(): ChatCompletionFunctionCall[] {
    const calls = this.#completion?.choices[0]?.message.tool_calls ?? [];
    return calls.flatMap((call) => (call.type === 'function' ? [call.function] : []));
  }

  get usage(): CompletionUsage {
    const none = { completion_tokens: 0, prompt_tokens: 0, total_tokens: 0 };
    return this.completion.usage ?? none;
  }

  /** Takes the completion and tells the listeners of it, part by part. */
  complete(completion: ChatCompletion, emitter: EventEmitter<ChatCompletionStreamEvents>): void {
    this.#completion = completion;
    const { functionCalls: calls } = this;
    const message = completion.choices[0]?.message;
    emitter.emit('chatCompletion', completion);
    if (message !== undefined) emitter.emit('message', message);
    for (const call of calls) emitter.emit('functionToolCall', call);
    emitter.emit('finalChatCompletion', completion);
    if (message !== undefined) emitter.emit('finalMessage', message);
    if (message?.content) emitter.emit('finalContent', message.content);
    const last = calls.at(-1);
    if (last !== undefined) emitter.emit('finalFunctionToolCall', last);
    if (completion.usage !== undefined) emitter.emit('totalUsage', completion.usage);
  }
}
