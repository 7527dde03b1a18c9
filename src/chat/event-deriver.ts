import type {
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletion,
  ChatCompletionChoice,
} from './types.ts';
import type { OutputParser } from './output-parser.ts';
import { GrowingJSON } from '../structured/json.ts';
import { ChatAccumulator } from './accumulator.ts';
import { saysNothing } from './protocol.ts';
import type { ChatCompletionStreamEvents } from './stream-events.ts';
import type { EventEmitter } from './event-emitter.ts';

/** What has been reported of one choice. */
interface Reported {
  text: boolean;
  readonly json: GrowingJSON;
  /** The arguments of tool calls, by index. */
  readonly arguments: Map<number, GrowingJSON>;
  readonly toolCalls: Set<number>;
  /** The tool calls that have begun and whose end has not been reported. */
  readonly openToolCalls: Set<number>;
  /** The tool call whose arguments came last. */
  currentToolCall: number | undefined;
}

/** Puts chunks together and tells, event by event, what each of them has added. */
export class ChatEventDeriver<Parsed> {
  readonly #emitter: EventEmitter<ChatCompletionStreamEvents<Parsed>>;
  readonly #parser: OutputParser<Parsed>;
  readonly #accumulator = new ChatAccumulator(1);
  readonly #reported = new Map<number, Reported>();

  constructor(
    emitter: EventEmitter<ChatCompletionStreamEvents<Parsed>>,
    parser: OutputParser<Parsed>,
  ) {
    this.#emitter = emitter;
    this.#parser = parser;
  }

  /** What all chunks so far add up to; `undefined` before the first. */
  get snapshot(): ChatCompletion | undefined {
    return this.#accumulator.partial;
  }

  /** Whether every answer that has begun has its finish reason. */
  get isFinished(): boolean {
    return this.#accumulator.isFinished(true);
  }

  /** Takes the next chunk. Texts that it ends are checked before their end is reported. */
  async add(chunk: ChatCompletionChunk): Promise<void> {
    this.#accumulator.add(chunk);
    const { snapshot } = this;
    if (snapshot === undefined) return;
    if (!saysNothing(chunk)) this.#emitter.emit('chunk', chunk, snapshot);
    for (const piece of chunk.choices) {
      const choice = this.#accumulator.choice(piece.index);
      if (choice === undefined) continue;
      this.#reportText(piece, choice);
      await this.#reportToolCalls(piece, choice);
      if (piece.finish_reason) await this.#reportEnd(choice);
    }
  }

  /** Reports the end of what is still open, when the stream is over. */
  async end(): Promise<void> {
    for (const choice of this.snapshot?.choices ?? []) await this.#reportEnd(choice);
  }

  #reportedOf(index: number): Reported {
    let reported = this.#reported.get(index);
    if (reported === undefined) {
      reported = {
        text: false,
        json: new GrowingJSON(),
        arguments: new Map(),
        toolCalls: new Set(),
        openToolCalls: new Set(),
        currentToolCall: undefined,
      };
      this.#reported.set(index, reported);
    }
    return reported;
  }

  #reportText({ delta, logprobs }: ChatCompletionChunkChoice, choice: ChatCompletionChoice): void {
    const { content, refusal } = choice.message;
    if (delta.content && content !== null) {
      this.#emitter.emit('content', delta.content, content);
      if (this.#emitter.has('content.delta')) {
        const { json } = this.#reportedOf(choice.index);
        const parsed = this.#parser.parsesContent ? json.read(content) : null;
        this.#emitter.emit('content.delta', { delta: delta.content, snapshot: content, parsed });
      }
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

  async #reportToolCalls(
    piece: ChatCompletionChunkChoice,
    choice: ChatCompletionChoice,
  ): Promise<void> {
    const reported = this.#reportedOf(choice.index);
    for (const { index, function: added } of piece.delta.tool_calls ?? []) {
      const before = reported.currentToolCall;
      if (before !== index) {
        await this.#reportTextEnd(choice);
        if (before !== undefined) await this.#reportToolCallEnd(choice, before, false);
        reported.currentToolCall = index;
      }
      const call = this.#accumulator.toolCall(choice.index, index);
      if (call?.type !== 'function') continue;
      if (!reported.toolCalls.has(index)) reported.openToolCalls.add(index);
      if (!this.#emitter.has('tool_calls.function.arguments.delta')) continue;
      const { name, arguments: text } = call.function;
      this.#emitter.emit('tool_calls.function.arguments.delta', {
        name,
        index,
        arguments: text,
        parsed_arguments: this.#parser.parsesArguments(name)
          ? argumentsOf(reported, index).read(text)
          : null,
        arguments_delta: added?.arguments ?? '',
      });
    }
  }

  async #reportEnd(choice: ChatCompletionChoice): Promise<void> {
    await this.#reportTextEnd(choice);
    const { openToolCalls } = this.#reportedOf(choice.index);
    for (const index of [...openToolCalls].toSorted((one, other) => one - other)) {
      await this.#reportToolCallEnd(choice, index, true);
    }
  }

  async #reportTextEnd(choice: ChatCompletionChoice): Promise<void> {
    const reported = this.#reportedOf(choice.index);
    if (reported.text) return;
    reported.text = true;
    const { content, refusal } = choice.message;
    if (content) {
      const parsed = await this.#parser.content(content).catch(() => null);
      this.#emitter.emit('content.done', { content, parsed });
    }
    if (refusal) this.#emitter.emit('refusal.done', { refusal });
    const { content: contentLogprobs, refusal: refusalLogprobs } = choice.logprobs ?? {};
    if (contentLogprobs) this.#emitter.emit('logprobs.content.done', { content: contentLogprobs });
    if (refusalLogprobs) this.#emitter.emit('logprobs.refusal.done', { refusal: refusalLogprobs });
  }

  /** A call may be written in turns with others, so before the end only whole arguments count. */
  async #reportToolCallEnd(
    { index: choiceIndex }: ChatCompletionChoice,
    index: number,
    isEnd: boolean,
  ): Promise<void> {
    const reported = this.#reportedOf(choiceIndex);
    const { toolCalls, openToolCalls } = reported;
    const call = this.#accumulator.toolCall(choiceIndex, index);
    if (call?.type !== 'function' || toolCalls.has(index)) return;
    const { name, arguments: text } = call.function;
    if (!isEnd && !argumentsOf(reported, index).isWhole(text)) return;
    toolCalls.add(index);
    openToolCalls.delete(index);
    const parsed = await this.#parser.arguments(name, text).catch(() => null);
    this.#emitter.emit('tool_calls.function.arguments.done', {
      name,
      index,
      arguments: text,
      parsed_arguments: parsed,
    });
  }
}

function argumentsOf(reported: Reported, index: number): GrowingJSON {
  const json = reported.arguments.get(index) ?? new GrowingJSON();
  reported.arguments.set(index, json);
  return json;
}
