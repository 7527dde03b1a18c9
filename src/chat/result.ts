import { GatewayError } from '../errors/gateway-error.ts';
import type {
  ChatCompletionFunctionCall,
  ChatCompletionMessageParam,
  ChatCompletionToolMessageParam,
} from './messages.ts';
import type {
  ParsedChatCompletion,
  ParsedChatCompletionMessage,
  CompletionUsage,
} from './types.ts';
import type { ChatCompletionStreamEvents } from './stream-events.ts';
import { EventEmitter } from './event-emitter.ts';
import { addCounts } from '../streams/protocol.ts';

/** What a run has come to: its completions and its conversation. Tells the listeners of both. */
export class ChatResult<Parsed> {
  readonly emitter = new EventEmitter<ChatCompletionStreamEvents<Parsed>>();
  readonly completions: ParsedChatCompletion<Parsed>[] = [];
  /** The conversation. */
  readonly messages: ChatCompletionMessageParam[];
  /** What the last tool gave. */
  toolResult: string | undefined;

  constructor(messages: readonly ChatCompletionMessageParam[]) {
    // Bad input is refused when it is sent.
    this.messages = Array.isArray(messages) ? [...messages] : [];
  }

  /** The last completion. */
  get completion(): ParsedChatCompletion<Parsed> {
    const last = this.completions.at(-1);
    if (last !== undefined) return last;
    throw new GatewayError('The stream ended without a completion.', { outcome: 'unknown' });
  }

  /** The last message of the model. */
  get message(): ParsedChatCompletionMessage<Parsed> {
    const message = this.completion.choices[0]?.message;
    if (message !== undefined) return message;
    throw new GatewayError('The completion has no choices, so there is no message.', {
      outcome: 'unknown',
    });
  }

  /** The last function that the model wanted called. */
  get functionCall(): ChatCompletionFunctionCall | undefined {
    return this.completions.flatMap(functionCalls).at(-1);
  }

  /** The tokens of all completions. */
  get usage(): CompletionUsage {
    const total = { completion_tokens: 0, prompt_tokens: 0, total_tokens: 0 };
    return this.completions.reduce((sum, { usage }) => addCounts(sum, usage ?? {}), total);
  }

  /** Takes a completion. */
  add(completion: ParsedChatCompletion<Parsed>): void {
    this.completions.push(completion);
    this.emitter.emit('chatCompletion', completion);
    const message = completion.choices[0]?.message;
    if (message === undefined) return;
    // Without an id, a call and its result could not be told to belong together.
    for (const call of message.tool_calls ?? []) call.id ||= newCallId();
    this.messages.push(message);
    this.emitter.emit('message', message);
    for (const call of functionCalls(completion)) this.emitter.emit('functionToolCall', call);
  }

  /** Takes the result of a tool. */
  addToolResult(message: ChatCompletionToolMessageParam): void {
    this.messages.push(message);
    this.emitter.emit('message', message);
    if (typeof message.content !== 'string') return;
    this.toolResult = message.content;
    this.emitter.emit('functionToolCallResult', message.content);
  }

  /** Tells what it all has come to. */
  finish(): void {
    const { emitter, functionCall, toolResult } = this;
    const completion = this.completions.at(-1);
    if (completion === undefined) return;
    const message = completion.choices[0]?.message;
    emitter.emit('finalChatCompletion', completion);
    if (message !== undefined) emitter.emit('finalMessage', message);
    if (message?.content) emitter.emit('finalContent', message.content);
    if (functionCall !== undefined) emitter.emit('finalFunctionToolCall', functionCall);
    if (toolResult !== undefined) emitter.emit('finalFunctionToolCallResult', toolResult);
    if (this.completions.some(({ usage }) => usage)) emitter.emit('totalUsage', this.usage);
  }
}

function functionCalls({ choices }: ParsedChatCompletion<unknown>): ChatCompletionFunctionCall[] {
  const calls = choices[0]?.message.tool_calls ?? [];
  return calls.flatMap((call) => (call.type === 'function' ? [call.function] : []));
}

function newCallId(): string {
  return `call_${Math.random().toString(36).slice(2)}`;
}
