import type { ChatCompletionChunk, ChatCompletionChunkChoice } from '../types/chat-stream.ts';
import type { ChatCompletion, ChatCompletionChoice } from '../types/chat.ts';
import { ChatAccumulator } from './chat-accumulator.ts';
import type { ChatCompletionStreamEvents } from './chat-stream-events.ts';
import type { EventEmitter } from './event-emitter.ts';
import { parseJSON } from './sent-error.ts';

/** What has been reported of one choice. */
interface Reported {
  text: boolean;
  readonly toolCalls: Set<number>;
  /** The tool call whose arguments came last. */
  currentToolCall: number | undefined;
}

/** Puts chunks together and tells, event by event, what each of them has added. */
export class ChatEventDeriver {
  readonly #emitter: EventEmitter<ChatCompletionStreamEvents>;
  readonly #accumulator = new ChatAccumulator(1);
  readonly #reported = new Map<number, Reported>();

  constructor(emitter: EventEmitter<ChatCompletionStreamEvents>) {
    this.#emitter = emitter;
  }

  /** What all chunks so far add up to; `undefined` before the first. */
  get snapshot(): ChatCompletion | undefined {
    return this.#accumulator.partial;
  }

  /** Takes the next chunk. */
  add(chunk: ChatCompletionChunk): void {
    this.#accumulator.add(chunk);
    const { snapshot } = this;
    if (snapshot === undefined) return;
    this.#emitter.emit('chunk', chunk, snapshot);
    for (const piece of chunk.choices) {
      const choice = snapshot.choices.find(({ index }) => index === piece.index);
      if (choice === undefined) continue;
      this.#reportText(piece, choice);
      this.#reportToolCalls(piece, choice);
      if (piece.finish_reason) this.#reportEnd(choice);
    }
  }

  /** Reports the end of what is still open, when the stream is over. */
  end(): void {
    for (const choice of this.snapshot?.choices ?? []) this.#reportEnd(choice);
  }

  #reportedOf(index: number): Reported {
    let reported = this.#reported.get(index);
    if (reported === undefined) {
      reported = { text: false, toolCalls: new Set(), currentToolCall: undefined };
      this.#reported.set(index, reported);
    }
    return reported;
  }

  #reportText({ delta, logprobs }: ChatCompletionChunkChoice, choice: ChatCompletionChoice): void {
    const { content, refusal } = choice.message;
    if (delta.content && content !== null) {
      this.#emitter.emit('content', delta.content, content);
      const event = { delta: delta.content, snapshot: content, parsed: null };
      this.#emitter.emit('content.delta', event);
    }
    if (delta.refusal && refusal !== null) {
      this.#emitter.emit('refusal.delta', { delta: delta.refusal, snapshot: refusal });
    }
    const { content: contentLogprobs, refusal: refusalLogprobs } = logprobs ?? {};
    if (contentLogprobs) {
      const event = { content: contentLogprobs, snapshot: choice.logprobs?.content ?? [] };
      this.#emitter.emit('logprobs.content.delta', event);
    }
    if (refusalLogprobs) {
      const event = { refusal: refusalLogprobs, snapshot: choice.logprobs?.refusal ?? [] };
      this.#emitter.emit('logprobs.refusal.delta', event);
    }
  }

  #reportToolCalls(piece: ChatCompletionChunkChoice, choice: ChatCompletionChoice): void {
    const reported = this.#reportedOf(choice.index);
    for (const { index, function: added } of piece.delta.tool_calls ?? []) {
      const before = reported.currentToolCall;
      if (before !== index) {
        this.#reportTextEnd(choice);
        if (before !== undefined) this.#reportToolCallEnd(choice, before, false);
        reported.currentToolCall = index;
      }
      const call = this.#accumulator.toolCall(choice.index, index);
      if (call?.type !== 'function') continue;
      this.#emitter.emit('tool_calls.function.arguments.delta', {
        name: call.function.name,
        index,
        arguments: call.function.arguments,
        parsed_arguments: null,
        arguments_delta: added?.arguments ?? '',
      });
    }
  }

  #reportEnd(choice: ChatCompletionChoice): void {
    this.#reportTextEnd(choice);
    for (const index of this.#accumulator.toolCallIndexes(choice.index)) {
      this.#reportToolCallEnd(choice, index, true);
    }
  }

  #reportTextEnd(choice: ChatCompletionChoice): void {
    const reported = this.#reportedOf(choice.index);
    if (reported.text) return;
    reported.text = true;
    const { content, refusal } = choice.message;
    if (content) this.#emitter.emit('content.done', { content, parsed: null });
    if (refusal) this.#emitter.emit('refusal.done', { refusal });
    const { content: contentLogprobs, refusal: refusalLogprobs } = choice.logprobs ?? {};
    if (contentLogprobs) this.#emitter.emit('logprobs.content.done', { content: contentLogprobs });
    if (refusalLogprobs) this.#emitter.emit('logprobs.refusal.done', { refusal: refusalLogprobs });
  }

  /** A call may be written in turns with others, so before the end only whole arguments count. */
  #reportToolCallEnd({ index: choiceIndex }: ChatCompletionChoice, index: number, isEnd: boolean) {
    const { toolCalls } = this.#reportedOf(choiceIndex);
    const call = this.#accumulator.toolCall(choiceIndex, index);
    if (call?.type !== 'function' || toolCalls.has(index)) return;
    const { name, arguments: text } = call.function;
    if (!isEnd && parseJSON(text) === undefined) return;
    toolCalls.add(index);
    this.#emitter.emit('tool_calls.function.arguments.done', {
      name,
      index,
      arguments: text,
      parsed_arguments: null,
    });
  }
}
