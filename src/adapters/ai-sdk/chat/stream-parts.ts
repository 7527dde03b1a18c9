import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import {
  StreamTimeoutError,
  StreamTruncatedError,
  type ChatCompletionChunk,
  type ChatCompletionChunkDelta,
  type ChatCompletionChunkToolCall,
  type ChatCompletionMessageFunctionToolCall,
  type ChatCompletionMessageToolCall,
  type ChatCompletionReasoningDetail,
  type CompletionUsage,
} from '../../../index.ts';
import { addBlock, addReasoning } from '../../../answers/pieces.ts';
import {
  convertFinishReason,
  convertImages,
  mergeExtracted,
  mergeMetadata,
  responseMetadata,
  convertSources,
  convertUsage,
} from './answer.ts';
import { isJSONObject, jsonObjects } from '../options.ts';
import { JSONTextStream } from './json-text.ts';
import { reasoningMetadata, signatureMetadata } from './prompt.ts';
import type { ChatModelSettings, MetadataExtractor } from '../settings.ts';

type Part = LanguageModelV4StreamPart;

/** A streamed tool call. */
interface OpenCall {
  readonly index: number;
  /** The id in the chunks, if they have one. */
  sentId: string;
  id: string;
  name: string;
  input: string;
  /** Set once `tool-input-start` was emitted. Some providers send the name of the tool in a later delta. */
  isStarted: boolean;
  metadata: ReturnType<typeof signatureMetadata>;
}

/** Converts the chunks of a stream to the parts that the AI SDK expects, in their order. */
export class PartMaker {
  readonly #includesRaw: boolean;
  readonly #convertUsage: ChatModelSettings['convertUsage'];
  readonly #extractor: ReturnType<MetadataExtractor['createStreamExtractor']> | undefined;
  readonly #json: JSONTextStream | undefined;
  readonly #calls = new Map<number, OpenCall>();
  #hasHead = false;
  /** The open block. */
  #block: 'text' | 'reasoning' | undefined;
  #blocks = 0;
  #sources = 0;
  #hasRefused = false;
  #reason = '';
  /** `true` once something other than reasoning and calls was emitted. */
  #hasContent = false;
  /** Fields of reasoning that no part has yet. */
  #reasoning = noReasoning();

  /**
   * @param includesRaw - Also emit each chunk as parsed by the client.
   * @param schema - The schema of the JSON in the text, if the text is JSON.
   */
  constructor(includesRaw: boolean, settings: ChatModelSettings, schema?: object) {
    this.#includesRaw = includesRaw;
    this.#json = schema && new JSONTextStream(schema);
    this.#convertUsage = settings.convertUsage;
    this.#extractor = settings.metadataExtractor?.createStreamExtractor();
  }

  /** Converts a chunk. */
  *add(chunk: ChatCompletionChunk): Generator<Part> {
    if (this.#includesRaw) yield { type: 'raw', rawValue: chunk };
    this.#extractor?.processChunk(chunk);
    const head = responseMetadata(chunk);
    if (!this.#hasHead && Object.keys(head).length > 0) {
      this.#hasHead = true;
      yield { type: 'response-metadata', ...head };
    }
    const [choice] = chunk.choices;
    if (choice === undefined || choice.index !== 0) return;
    this.#reason = choice.finish_reason ?? this.#reason;
    yield* this.#addDelta(choice.delta);
  }

  *#addDelta(delta: ChatCompletionChunkDelta): Generator<Part> {
    const { reasoning_details: details, thinking_blocks: blocks } = this.#reasoning;
    const pieces = [delta.reasoning_details ?? []].flat().filter(isJSONObject);
    for (const piece of pieces) addReasoning(details, piece);
    for (const block of jsonObjects(Reflect.get(delta, 'thinking_blocks'))) addBlock(blocks, block);
    yield* this.#write('reasoning', delta.reasoning_content ?? delta.reasoning);
    yield* this.#write('text', this.#json?.add(delta.content ?? '') ?? delta.content);
    if (delta.refusal) this.#hasRefused = true;
    yield* this.#write('text', delta.refusal);
    for (const file of convertImages(delta.images)) {
      yield* this.#endBlock();
      this.#hasContent = true;
      yield file;
    }
    const annotations: unknown = 'annotations' in delta ? delta.annotations : undefined;
    for (const source of convertSources(annotations, `source-${this.#sources}-`)) yield source;
    if (annotations !== undefined) this.#sources += 1;
    const calls = delta.tool_calls ?? [];
    if (calls.length > 0 && this.#block === 'reasoning') yield* this.#endBlock();
    for (const piece of calls) yield* this.#addPiece(piece);
  }

  *#write(kind: 'text' | 'reasoning', delta: string | null | undefined): Generator<Part> {
    if (!delta) return;
    if (kind === 'text') this.#hasContent = true;
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
    const providerMetadata = this.#takeReasoning();
    const end = { type: `${this.#block}-end`, id: this.#blockId } as const;
    yield { ...end, ...(providerMetadata && { providerMetadata }) };
    this.#block = undefined;
  }

  /** Adds a delta. The client guarantees that `index` identifies the call. */
  *#addPiece(piece: ChatCompletionChunkToolCall): Generator<Part> {
    const { index } = piece;
    const call = this.#calls.get(index) ?? this.#openCall(index);
    const delta = piece.function?.arguments ?? '';
    call.input += delta;
    call.metadata ??= signatureMetadata(piece);
    if (call.isStarted) {
      if (delta !== '') yield { type: 'tool-input-delta', id: call.id, delta };
      return;
    }
    call.sentId ||= piece.id ?? '';
    call.id ||= call.sentId;
    call.name = piece.function?.name ?? '';
    if (call.name === '') return;
    call.isStarted = true;
    call.id ||= `call-${index}`;
    yield { type: 'tool-input-start', id: call.id, toolName: call.name };
    if (call.input !== '') yield { type: 'tool-input-delta', id: call.id, delta: call.input };
  }

  #openCall(index: number): OpenCall {
    const call = {
      index,
      sentId: '',
      id: '',
      name: '',
      input: '',
      isStarted: false,
      metadata: undefined,
    };
    this.#calls.set(index, call);
    return call;
  }

  /**
   * Returns whether there is no text, and a call with an id has no name or the model ended with tool calls of which none
   * has a name. Beside text, a call without a name and arguments is noise of the provider; one with arguments is an
   * error of the stream.
   *
   * @param final - The calls as the client assembled and repaired them.
   */
  lacksCall(final: readonly ChatCompletionMessageToolCall[]): boolean {
    if (this.#hasContent) return false;
    const isKnown = (id: string): boolean => final.some((call) => call.id === id);
    const calls = [...this.#calls.values()].filter(({ isStarted }) => !isStarted);
    if (calls.some(({ sentId }) => sentId !== '' && !isKnown(sentId))) return true;
    const isCall = convertFinishReason(this.#reason, this.#hasRefused).unified === 'tool-calls';
    const hasCall = final.length > 0 || calls.length < this.#calls.size;
    return isCall && !hasCall;
  }

  /** Returns the text that was held back, at the end of the stream. */
  async flush(): Promise<readonly Part[]> {
    return [...this.#write('text', await this.#json?.end())];
  }

  /**
   * Emits the last parts of a stream that did not fail.
   *
   * @param isComplete - `false` for a truncated stream, which `onTruncated` allows.
   * @param usage - The token usage of the stream.
   * @param final - The calls as the client assembled and repaired them; by default as they were streamed.
   */
  *end(
    isComplete: boolean,
    usage: CompletionUsage | undefined,
    final?: readonly ChatCompletionMessageToolCall[],
  ): Generator<Part> {
    yield* this.#endBlock();
    const finish = this.#finishReason(isComplete);
    const isFinished = finish.unified === 'stop' || finish.unified === 'tool-calls';
    const calls = [...this.#calls.values()].filter(({ isStarted }) => isStarted);
    const left = final?.filter((call) => call.type === 'function');
    let count = 0;
    for (const call of calls.toSorted((a, b) => a.index - b.index)) {
      yield { type: 'tool-input-end', id: call.id };
      const input = left === undefined ? call.input : takeFinal(left, call)?.function.arguments;
      // The AI SDK would run a call whose arguments are cut off. A repeated call has no input.
      if (input === undefined || (!isFinished && !isWholeObject(input))) continue;
      count += 1;
      yield this.#toolCall(call.id, call.name, input, call.metadata);
    }
    for (const { id, function: called } of left ?? []) {
      const { name, arguments: input } = called;
      if (name === '' || (!isFinished && !isWholeObject(input))) continue;
      const callId = id || `call-${this.#calls.size + count}`;
      count += 1;
      yield { type: 'tool-input-start', id: callId, toolName: name };
      yield { type: 'tool-input-delta', id: callId, delta: input };
      yield { type: 'tool-input-end', id: callId };
      yield this.#toolCall(callId, name, input, undefined);
    }
    const isEmpty = finish.unified === 'tool-calls' && count === 0;
    yield this.#finish(isEmpty ? { ...finish, unified: 'stop' } : finish, usage);
  }

  #toolCall(
    id: string,
    name: string,
    text: string,
    metadata: ReturnType<typeof signatureMetadata>,
  ): Part {
    // Many models send no arguments for a function without parameters.
    const input = text.trim() === '' ? '{}' : text;
    const providerMetadata = mergeMetadata(metadata, this.#takeReasoning());
    const kept = providerMetadata && { providerMetadata };
    return { type: 'tool-call', toolCallId: id, toolName: name, input, ...kept };
  }

  /** Truncated streams end a run of tools. Some models send no finish reason after complete tool calls. */
  #finishReason(isComplete: boolean): LanguageModelV4FinishReason {
    if (this.#reason !== '') return convertFinishReason(this.#reason, this.#hasRefused);
    const ended = this.#calls.size > 0 ? 'tool-calls' : 'stop';
    return { unified: isComplete ? ended : 'interrupted', raw: undefined };
  }

  /** Emits the last parts of a failed stream. Tool calls may be cut off, so none is emitted. */
  *fail(error: unknown, cause: unknown, usage: CompletionUsage | undefined): Generator<Part> {
    yield* this.#endBlock();
    yield { type: 'error', error };
    const isCut = StreamTruncatedError.isInstance(cause) || StreamTimeoutError.isInstance(cause);
    yield this.#finish({ unified: isCut ? 'interrupted' : 'error', raw: undefined }, usage);
  }

  /** Returns the fields of reasoning that no part has yet. */
  #takeReasoning(): ReturnType<typeof reasoningMetadata> {
    const reasoning = this.#reasoning;
    this.#reasoning = noReasoning();
    return reasoningMetadata(reasoning);
  }

  #finish(finishReason: LanguageModelV4FinishReason, usage: CompletionUsage | undefined): Part {
    const converted = convertUsage(usage, undefined, this.#convertUsage);
    return {
      type: 'finish',
      finishReason,
      ...mergeExtracted(converted, this.#extractor?.buildMetadata()),
    };
  }
}

const noReasoning = (): {
  reasoning_details: ChatCompletionReasoningDetail[];
  thinking_blocks: unknown[];
} => ({ reasoning_details: [], thinking_blocks: [] });

/** Removes and returns the assembled form of a streamed call; `undefined` if the client removed it. */
function takeFinal(
  left: ChatCompletionMessageFunctionToolCall[],
  { sentId, name }: OpenCall,
): ChatCompletionMessageFunctionToolCall | undefined {
  const byId = left.findIndex(({ id }) => sentId !== '' && id === sentId);
  const position =
    byId < 0 && sentId === '' ? left.findIndex((call) => call.function.name === name) : byId;
  return position < 0 ? undefined : left.splice(position, 1)[0];
}

/** Returns whether a text is a complete JSON object. */
function isWholeObject(text: string): boolean {
  try {
    return isJSONObject(JSON.parse(text));
  } catch {
    return false;
  }
}
