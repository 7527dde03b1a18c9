import {
  completeFunction,
  continuesMessage,
  hasNamelessCall,
  hasPieces,
  joinFields,
  normalizeChunk,
  unfinishedChoices,
} from './normalize.ts';
import { isObject, toFields } from '../../answers/objects.ts';
import {
  copyUnknownFields,
  appendTexts,
  growText,
  addBlock,
  addReasoning,
} from '../../answers/pieces.ts';
import { mergeUsage } from '../../answers/usage.ts';
import type { JsonObject } from '../../types.ts';
import type {
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionChunkDelta,
  ChatCompletion,
  ChatCompletionChoice,
  ChatCompletionMessage,
  CompletionUsage,
} from './types.ts';
import {
  addCallPiece,
  type PendingToolCall,
  findPosition,
  ToolCallAssembler,
} from './tool-calls.ts';
import { isErrorReason, isFinishReason, isNaturalEnd } from '../../answers/finish-reasons.ts';
import { namelessCall } from '../../structured/calls.ts';
import type { StreamProgress, StreamProtocol } from '../../streams/protocol.ts';
import { normalizeValue, type ResponseSchema } from '../../answers/reader.ts';

const chunkFields = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);
const choiceFields = new Set(['index', 'delta', 'message', 'finish_reason', 'logprobs', 'usage']);
/** Text fields that are concatenated. */
const texts = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const;
const deltaFields = new Set<string>([
  ...texts,
  'role',
  'content_parts',
  'tool_calls',
  'reasoning_details',
  'audio',
  'function_call',
]);
const audioTexts = ['data', 'transcript'] as const;
const audioFields = new Set<string>([...audioTexts, 'id', 'expires_at']);

/** Returns whether a choice contains nothing, as on a chunk that only carries fields such as usage. */
function isEmpty(piece: ChatCompletionChunkChoice): boolean {
  const fields = { ...piece.delta, ...piece, index: null, delta: null };
  return Object.values<unknown>(fields).every((value) => value === null || value === undefined);
}

/** A choice that is being assembled. */
export interface OpenChoice {
  readonly choice: ChatCompletionChoice;
  readonly toolCalls: ToolCallAssembler;
  /** `true` once a delta had content. */
  hasDeltas?: boolean;
  /** `true` once `content.done` was emitted. */
  isTextDone?: boolean;
  /** The tool call of the last event. */
  current?: PendingToolCall | undefined;
}

/** Assembles a completion from the chunks of its stream. */
export class ChatAccumulator implements StreamProgress<ChatCompletionChunk> {
  readonly #expectedChoices: number | undefined;
  readonly #keepsText: boolean;
  readonly #choices = new Map<number, OpenChoice>();
  #completion: ChatCompletion | undefined;
  /** The indexes of choices that are parts of the first one. */
  readonly #parts = new Set<number>();

  /**
   * @param expectedChoices - Number of requested choices; `undefined` if it is not known.
   * @param keepsText - `false` drops text after it was streamed. Arguments of tool calls are always kept,
   *   because they distinguish calls.
   */
  constructor(expectedChoices: number | undefined, keepsText = true) {
    this.#expectedChoices = expectedChoices;
    this.#keepsText = keepsText;
  }

  get started(): boolean {
    return this.#choices.size > 0;
  }

  get partial(): ChatCompletion | undefined {
    return this.#keepsText ? this.#completion : undefined;
  }

  get usage(): CompletionUsage | undefined {
    return this.#completion?.usage ?? undefined;
  }

  /**
   * Returns whether all choices are complete. Some providers stream choices one after the other, so without a
   * terminator all requested ones must have begun.
   */
  isFinished(terminated: boolean): boolean {
    if (this.failure !== undefined) return false;
    // Audio models omit the finish reason after tool calls.
    const mayLackReason = terminated && this.#parts.size === 0;
    for (const { choice, toolCalls } of this.#choices.values()) {
      const { finish_reason: reason } = choice;
      const isComplete = !reason && mayLackReason && toolCalls.areComplete();
      if (!isComplete && !isFinishReason(reason)) return false;
    }
    return this.#choices.size >= (terminated ? 1 : (this.#expectedChoices ?? 1));
  }

  get failure(): string | undefined {
    for (const { choice, toolCalls } of this.#choices.values()) {
      const { finish_reason: reason, message } = choice;
      if (isErrorReason(reason)) return `ended with the finish reason "${reason}"`;
      const { function_call } = message;
      const isNameless = reason && hasNamelessCall({ function_call });
      if (isNameless || toolCalls.hasNameless) return namelessCall;
    }
    return undefined;
  }

  /** The choices so far, by index. */
  get choices(): ReadonlyMap<number, OpenChoice> {
    return this.#choices;
  }

  add(chunk: ChatCompletionChunk): void {
    const completion = (this.#completion ??= {
      id: '',
      object: 'chat.completion',
      created: 0,
      model: '',
      choices: [],
    });
    fillHead(completion, chunk);
    // Gateways append their own usage, without the vendor's cost.
    if (chunk.usage) completion.usage = addUsage(completion.usage, chunk.usage);
    copyUnknownFields(chunk, completion, chunkFields);
    const isOne = this.#expectedChoices === 1;
    for (const piece of chunk.choices) {
      if (isOne) this.#joinPart(piece);
      this.#addChoice(completion, piece);
    }
    if (isOne && chunk.choices.length > 1) chunk.choices = joinPieces(chunk.choices);
  }

  /**
   * Moves a piece to the first choice, if its own choice is a part of that and the request was for one choice; see
   * `continuesMessage()`.
   */
  #joinPart(piece: ChatCompletionChunkChoice): void {
    const { index, delta } = piece;
    if (this.#choices.has(index)) return;
    const [{ choice } = {}] = this.#choices.values();
    if (choice === undefined) return;
    const isFinished = isFinishReason(choice.finish_reason);
    const isEnd = !hasPieces(delta) && !isFinished;
    if (!isEnd && !this.#parts.has(index) && !continuesMessage(choice.message, delta)) return;
    piece.index = choice.index;
    if (this.#parts.has(index) || !hasPieces(delta)) return;
    this.#parts.add(index);
    // A part that follows the finish reason has one of its own.
    if (isFinished) choice.finish_reason = '';
  }

  #addChoice(completion: ChatCompletion, piece: ChatCompletionChunkChoice): void {
    if (!this.#choices.has(piece.index) && isEmpty(piece)) return;
    const open = this.#choices.get(piece.index) ?? this.#begin(completion, piece.index);
    const { choice, toolCalls } = open;
    const { message } = choice;
    // MiniMax sends the whole message after its deltas.
    const isMessage = 'message' in piece && piece.delta === piece.message;
    if (isMessage && (open.hasDeltas === true || choice.finish_reason)) piece.delta = {};
    else if (!isMessage) open.hasDeltas ||= hasPieces(piece.delta);
    const { delta, logprobs } = piece;
    if (this.#keepsText) {
      addDelta(message, delta);
      if (logprobs) {
        choice.logprobs ??= { content: null, refusal: null };
        copyUnknownFields(logprobs, choice.logprobs, undefined, true);
      }
    }
    if (delta.tool_calls) {
      toolCalls.add(delta.tool_calls);
      if (toolCalls.calls.length > 0) message.tool_calls = toolCalls.calls;
    }
    copyUnknownFields(piece, choice, choiceFields);
    // Audio ends with `expires_at` instead of a finish reason.
    const reason = piece.finish_reason || (delta.audio?.expires_at ? 'stop' : '');
    if (unfinishedChoices.has(piece)) choice.finish_reason = null;
    if (reason === '') return;
    choice.finish_reason = reason;
    const isFinished = isNaturalEnd(reason);
    toolCalls.end(isFinished);
    if (message.tool_calls && toolCalls.calls.length === 0) delete message.tool_calls;
    completeFunction(message.function_call, isFinished);
  }

  #begin(completion: ChatCompletion, index: number): OpenChoice {
    const choice: ChatCompletionChoice = {
      index,
      message: { role: 'assistant', content: null, refusal: null },
      finish_reason: '',
      logprobs: null,
    };
    completion.choices.splice(findPosition(index, completion.choices), 0, choice);
    const open = { choice, toolCalls: new ToolCallAssembler() };
    this.#choices.set(index, open);
    return open;
  }
}

function joinPieces(pieces: readonly ChatCompletionChunkChoice[]): ChatCompletionChunkChoice[] {
  const joined = new Map<number, ChatCompletionChunkChoice>();
  for (const piece of pieces) {
    const earlier = joined.get(piece.index);
    if (earlier === undefined) joined.set(piece.index, piece);
    else {
      joinFields(toFields(earlier.delta), toFields(piece.delta));
      earlier.finish_reason = piece.finish_reason || earlier.finish_reason;
    }
  }
  return [...joined.values()];
}

/**
 * Copies shared fields between the completion and a chunk, because some chunks lack them. The first chunk with
 * choices takes precedence, because callers never see a chunk without choices.
 */
function fillHead(completion: ChatCompletion, chunk: ChatCompletionChunk): void {
  const [first, second] =
    completion.choices.length === 0 ? [chunk, completion] : [completion, chunk];
  completion.id = first.id || second.id;
  completion.model = first.model || second.model;
  completion.created = first.created || second.created;
  chunk.id ||= completion.id;
  chunk.model ||= completion.model;
  chunk.created ||= completion.created;
}

/** Adds a report of usage. The total of one that lacks a count is less than those of both. */
function addUsage(
  earlier: CompletionUsage | null | undefined,
  later: CompletionUsage,
): CompletionUsage {
  const usage = mergeUsage(earlier, later);
  if (!earlier || (later.prompt_tokens && later.completion_tokens)) return usage;
  const sum = usage.prompt_tokens + usage.completion_tokens;
  usage.total_tokens = Math.max(usage.total_tokens, sum);
  return usage;
}

function addDelta(message: ChatCompletionMessage, delta: ChatCompletionChunkDelta): void {
  const { audio, function_call: call } = delta;
  addParts(message, delta);
  appendTexts(message, delta, texts);
  if (audio) {
    const sum = (message.audio ??= { id: '', data: '', expires_at: 0, transcript: '' });
    sum.id ||= audio.id ?? '';
    sum.expires_at ||= audio.expires_at ?? 0;
    appendTexts(sum, audio, audioTexts);
    copyUnknownFields(audio, sum, audioFields);
  }
  if (call) addCallPiece((message.function_call ??= { name: '', arguments: '' }), call);
  for (const piece of [delta.reasoning_details ?? []].flat().filter(isObject)) {
    addReasoning((message.reasoning_details ??= []), piece);
  }
  for (const key in delta) {
    if (!deltaFields.has(key) && key !== '__proto__')
      addField(message, key, Reflect.get(delta, key));
  }
}

/** Names of fields whose text is not sent in pieces. */
const labels =
  /(?:^|_)(?:id|name|type|role|status|format|model|object|phase|signature)$|[a-z](?:Id|ID|Name|Type|Role)$/;

/** Adds the value of an unknown field: pieces of text and lists are joined, the last of other values wins. */
function addField(message: ChatCompletionMessage, key: string, value: unknown): void {
  if (value === null || value === undefined) return;
  const existing: unknown = Reflect.get(message, key);
  if (Array.isArray(value)) {
    const list: unknown[] = Array.isArray(existing) ? existing : [];
    for (const item of value) addBlock(list, item);
    Reflect.set(message, key, list);
  } else if (typeof value === 'string' && typeof existing === 'string' && !labels.test(key)) {
    Reflect.set(message, key, growText(existing, value));
  } else Reflect.set(message, key, value);
}

/** Merges typed content parts. Some providers mix them with plain text. */
function addParts(message: ChatCompletionMessage, delta: ChatCompletionChunkDelta): void {
  if ((delta.content_parts ?? message.content_parts) === undefined) return;
  message.content_parts = toParts(message);
  for (const part of toParts(delta)) addPart(message.content_parts, part);
}

function toParts({
  content,
  content_parts: parts,
}: Pick<ChatCompletionChunkDelta, 'content' | 'content_parts'>): unknown[] {
  return parts ?? (content ? [{ type: 'text', text: content }] : []);
}

/**
 * Adds a streamed content part. Pieces of text and thinking are merged into one part; a signature is sent
 * with the last piece.
 */
function addPart(parts: unknown[], part: unknown): void {
  const last = parts.at(-1);
  if (!isObject(last) || !isObject(part) || !continues(last, part)) {
    parts.push(structuredClone(part));
    return;
  }
  for (const [key, value] of Object.entries(part)) {
    if (key === '__proto__') continue;
    const previous = last[key];
    const isText = key === part['type'] && typeof previous === 'string';
    if (isText && typeof value === 'string') last[key] = growText(previous, value);
    else if (!Array.isArray(previous) || !Array.isArray(value)) last[key] = structuredClone(value);
    else for (const item of value) addPart(previous, item);
  }
}

/**
 * Returns whether a part continues the previous one: both have the same type, and the field named after it
 * has the same form.
 */
function continues(last: JsonObject, part: JsonObject): boolean {
  const { type } = part;
  if (last['type'] !== type || (type !== 'text' && type !== 'thinking')) return false;
  return part[type] === undefined || Array.isArray(last[type]) === Array.isArray(part[type]);
}

/** Chunks of `toReadableStream()`, whose fields were checked before. */
const forwardedChunk: ResponseSchema<ChatCompletionChunk> = {
  fields: {},
  normalize: normalizeChunk,
};

/**
 * Reads the JSON lines of `toReadableStream()`. Another package may have written them, so they are
 * normalized.
 */
export const chatLines: StreamProtocol<ChatCompletionChunk> = {
  read: (value) => normalizeValue(toFields(value), forwardedChunk),
  follow: (keeps) => new ChatAccumulator(undefined, keeps),
  fromResponse: () => [],
};
