import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import {
  StreamTimeoutError,
  StreamTruncatedError,
  type ChatCompletionChunk,
  type ChatCompletionChunkDelta,
  type ChatCompletionChunkToolCall,
  type CompletionUsage,
} from '../index.ts';
import { finishOf, headOf, metadataOf, sourcesOf, usageOf } from './chat-answer.ts';
import { isJSONObject } from './options.ts';
import { signatureOf } from './prompt.ts';

type Part = LanguageModelV4StreamPart;

/** A tool call that is being streamed. */
interface OpenCall {
  readonly index: number;
  id: string;
  name: string;
  input: string;
  /** Whether its begin was told. Some providers name the tool only with a later piece. */
  isTold: boolean;
  metadata: ReturnType<typeof signatureOf>;
}

/** Turns the chunks of a streamed answer into the parts that the AI SDK expects, in their order. */
export class PartMaker {
  readonly #tellsRaw: boolean;
  readonly #calls = new Map<number, OpenCall>();
  #hasHead = false;
  /** The block of text or of reasoning that is open. */
  #block: 'text' | 'reasoning' | undefined;
  #blocks = 0;
  #sources = 0;
  #hasRefused = false;
  #reason = '';
  #usage: CompletionUsage | undefined;

  /** @param tellsRaw - Whether each chunk is handed on as well, as the client has read it. */
  constructor(tellsRaw: boolean) {
    this.#tellsRaw = tellsRaw;
  }

  /** The parts that a chunk brings. */
  *add(chunk: ChatCompletionChunk): Generator<Part> {
    if (this.#tellsRaw) yield { type: 'raw', rawValue: chunk };
    const head = headOf(chunk);
    if (!this.#hasHead && Object.keys(head).length > 0) {
      this.#hasHead = true;
      yield { type: 'response-metadata', ...head };
    }
    this.#usage = chunk.usage ?? this.#usage;
    const [choice] = chunk.choices;
    if (choice === undefined || choice.index !== 0) return;
    this.#reason = choice.finish_reason ?? this.#reason;
    yield* this.#addDelta(choice.delta);
  }

  *#addDelta(delta: ChatCompletionChunkDelta): Generator<Part> {
    yield* this.#write('reasoning', delta.reasoning_content ?? delta.reasoning);
    yield* this.#write('text', delta.content);
    if (delta.refusal) this.#hasRefused = true;
    yield* this.#write('text', delta.refusal);
    const annotations: unknown = 'annotations' in delta ? delta.annotations : undefined;
    for (const source of sourcesOf(annotations, `source-${this.#sources}-`)) yield source;
    if (annotations !== undefined) this.#sources += 1;
    const pieces = delta.tool_calls ?? [];
    if (pieces.length > 0 && this.#block === 'reasoning') yield* this.#endBlock();
    for (const piece of pieces) yield* this.#addPiece(piece);
  }

  *#write(kind: 'text' | 'reasoning', delta: string | null | undefined): Generator<Part> {
    if (!delta) return;
    if (this.#block !== kind) {
      yield* this.#endBlock();
      this.#block = kind;
      this.#blocks += 1;
      yield { type: `${kind}-start`, id: this.#blockId };
    }
    yield { type: `${kind}-delta`, id: this.#blockId, delta };
  }

  get #blockId(): string {
    return `${this.#block}-${this.#blocks}`;
  }

  *#endBlock(): Generator<Part> {
    if (this.#block === undefined) return;
    yield { type: `${this.#block}-end`, id: this.#blockId };
    this.#block = undefined;
  }

  /** The client has seen to it that the index of a piece tells which call it belongs to. */
  *#addPiece(piece: ChatCompletionChunkToolCall): Generator<Part> {
    const { index } = piece;
    const call = this.#calls.get(index) ?? this.#openCall(index);
    const delta = piece.function?.arguments ?? '';
    call.input += delta;
    call.metadata ??= signatureOf(piece);
    if (call.isTold) {
      if (delta !== '') yield { type: 'tool-input-delta', id: call.id, delta };
      return;
    }
    call.id ||= piece.id ?? '';
    call.name = piece.function?.name ?? '';
    if (call.name === '') return;
    call.isTold = true;
    call.id ||= `call-${index}`;
    yield { type: 'tool-input-start', id: call.id, toolName: call.name };
    if (call.input !== '') yield { type: 'tool-input-delta', id: call.id, delta: call.input };
  }

  #openCall(index: number): OpenCall {
    const call = { index, id: '', name: '', input: '', isTold: false, metadata: undefined };
    this.#calls.set(index, call);
    return call;
  }

  /**
   * The parts at the end of a stream that did not fail.
   *
   * @param isComplete - Whether the stream was whole. `onTruncated` lets others pass.
   */
  *end(isComplete: boolean): Generator<Part> {
    yield* this.#endBlock();
    const finish = this.#finishReason(isComplete);
    const isFinished = finish.unified === 'stop' || finish.unified === 'tool-calls';
    const calls = [...this.#calls.values()].filter(({ isTold }) => isTold);
    for (const call of calls.toSorted((a, b) => a.index - b.index)) {
      const { id, name, metadata } = call;
      yield { type: 'tool-input-end', id };
      // The AI SDK would run a call that was cut before its arguments.
      if (!isFinished && !isWholeObject(call.input)) continue;
      // A function without parameters is called by many models without arguments.
      const input = call.input.trim() === '' ? '{}' : call.input;
      const signed = metadata && { providerMetadata: metadata };
      yield { type: 'tool-call', toolCallId: id, toolName: name, input, ...signed };
    }
    yield this.#finish(finish);
  }

  /** A stream that was cut stops a run of tools. Some models give no reason after whole tool calls. */
  #finishReason(isComplete: boolean): LanguageModelV4FinishReason {
    if (this.#reason !== '') return finishOf(this.#reason, this.#hasRefused);
    const ended = this.#calls.size > 0 ? 'tool-calls' : 'stop';
    return { unified: isComplete ? ended : 'interrupted', raw: undefined };
  }

  /** The parts at the end of an answer that broke off. Tool calls may be cut, so none is made. */
  *fail(error: unknown, cause: unknown): Generator<Part> {
    yield* this.#endBlock();
    yield { type: 'error', error };
    const isCut = StreamTruncatedError.isInstance(cause) || StreamTimeoutError.isInstance(cause);
    yield this.#finish({ unified: isCut ? 'interrupted' : 'error', raw: undefined });
  }

  #finish(finishReason: LanguageModelV4FinishReason): Part {
    const usage = usageOf(this.#usage);
    return { type: 'finish', finishReason, usage, providerMetadata: metadataOf(this.#usage) };
  }
}

/** Whether a text is a whole JSON object. */
function isWholeObject(text: string): boolean {
  try {
    return isJSONObject(JSON.parse(text));
  } catch {
    return false;
  }
}
