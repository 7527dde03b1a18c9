import { endsAnswer, isFinishReason, noArguments, normalizeChunk } from './normalize.ts';
import { copyUnknownFields, growText, isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type {
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionChunkDelta,
  ChatCompletion,
  ChatCompletionChoice,
  ChatCompletionMessage,
  CompletionUsage,
} from './types.ts';
import { addCalled, growTexts, type OpenCall, placeOf, ToolCallAssembler } from './tool-calls.ts';
import type { StreamProgress, StreamProtocol } from '../streams/protocol.ts';
import { normalizeValue, type ResponseSchema } from '../answers/reader.ts';

const chunkFields = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);
const choiceFields = new Set(['index', 'delta', 'message', 'finish_reason', 'logprobs', 'usage']);
/** The texts that a message grows by. */
const texts = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const;
const deltaFields = new Set<string>([
  ...texts,
  'role',
  'content_parts',
  'tool_calls',
  'audio',
  'function_call',
]);
const none = new Set<string>();
const audioTexts = ['data', 'transcript'] as const;
const audioFields = new Set<string>([...audioTexts, 'id', 'expires_at']);

/** A choice that is being put together. */
export interface OpenChoice {
  readonly choice: ChatCompletionChoice;
  readonly toolCalls: ToolCallAssembler;
  /** Whether the event of the end of its text was emitted. */
  isTextDone?: boolean;
  /** The tool call whose event was emitted last. */
  current?: OpenCall | undefined;
}

/** Puts the chunks of a streamed completion together. */
export class ChatAccumulator implements StreamProgress<ChatCompletionChunk> {
  readonly #expectedChoices: number;
  readonly #keeps: boolean;
  readonly #choices = new Map<number, OpenChoice>();
  #whole: ChatCompletion | undefined;
  #unfinished = 0;

  /**
   * @param expectedChoices - How many answers were asked for.
   * @param keeps - Whether their text is kept. Arguments of tool calls always are: calls are told apart by them.
   */
  constructor(expectedChoices: number, keeps = true) {
    this.#expectedChoices = expectedChoices;
    this.#keeps = keeps;
  }

  get started(): boolean {
    return this.#choices.size > 0;
  }

  get partial(): ChatCompletion | undefined {
    return this.#keeps ? this.#whole : undefined;
  }

  get usage(): CompletionUsage | undefined {
    return this.#whole?.usage ?? undefined;
  }

  /** Some providers write one choice after the other: without a terminator all must have come. */
  isFinished(terminated: boolean): boolean {
    if (this.#unfinished > 0 && !(terminated && this.#areCallsWhole())) return false;
    return this.#choices.size >= (terminated ? 1 : this.#expectedChoices);
  }

  /** Models that speak leave out the finish reason after tool calls. */
  #areCallsWhole(): boolean {
    return [...this.#choices.values()].every(({ choice, toolCalls }) =>
      choice.finish_reason === '' ? toolCalls.areWhole : isFinishReason(choice.finish_reason),
    );
  }

  /** The choices that have begun, by index. */
  get choices(): ReadonlyMap<number, OpenChoice> {
    return this.#choices;
  }

  add(chunk: ChatCompletionChunk): void {
    const whole = (this.#whole ??= {
      id: '',
      object: 'chat.completion',
      created: 0,
      model: '',
      choices: [],
    });
    fillHead(whole, chunk);
    if (chunk.usage) whole.usage = chunk.usage;
    copyUnknownFields(chunk, whole, chunkFields);
    for (const piece of chunk.choices) this.#addChoice(whole, piece);
  }

  #addChoice(whole: ChatCompletion, piece: ChatCompletionChunkChoice): void {
    const { choice, toolCalls } = this.#choices.get(piece.index) ?? this.#begin(whole, piece.index);
    const { message } = choice;
    const { delta, logprobs } = piece;
    if (this.#keeps) {
      addDelta(message, delta);
      if (logprobs)
        copyUnknownFields(
          logprobs,
          (choice.logprobs ??= { content: null, refusal: null }),
          none,
          true,
        );
    }
    if (delta.tool_calls) {
      toolCalls.add(delta.tool_calls);
      if (toolCalls.calls.length > 0) message.tool_calls = toolCalls.calls;
    }
    copyUnknownFields(piece, choice, choiceFields);
    // A spoken answer ends with its time of expiry instead of a reason.
    const reason = piece.finish_reason || (delta.audio?.expires_at ? 'stop' : '');
    if (reason === '') return;
    this.#unfinished += Number(isFinishReason(choice.finish_reason));
    this.#unfinished -= Number(isFinishReason(reason));
    choice.finish_reason = reason;
    const isFinished = endsAnswer(reason);
    toolCalls.end(isFinished);
    if (isFinished && message.function_call) message.function_call.arguments ||= noArguments;
  }

  #begin(whole: ChatCompletion, index: number): OpenChoice {
    const choice: ChatCompletionChoice = {
      index,
      message: { role: 'assistant', content: null, refusal: null },
      finish_reason: '',
      logprobs: null,
    };
    whole.choices.splice(placeOf(index, whole.choices), 0, choice);
    const open = { choice, toolCalls: new ToolCallAssembler() };
    this.#choices.set(index, open);
    this.#unfinished += 1;
    return open;
  }
}

/**
 * Copies the fields that chunks share in both directions, because some chunks come without them. Those of
 * the first chunk with choices win: a chunk without any reaches no loop.
 */
function fillHead(whole: ChatCompletion, chunk: ChatCompletionChunk): void {
  const [first, second] = whole.choices.length === 0 ? [chunk, whole] : [whole, chunk];
  whole.id = first.id || second.id;
  whole.model = first.model || second.model;
  whole.created = first.created || second.created;
  chunk.id ||= whole.id;
  chunk.model ||= whole.model;
  chunk.created ||= whole.created;
}

function addDelta(message: ChatCompletionMessage, delta: ChatCompletionChunkDelta): void {
  const { audio, function_call: call } = delta;
  addParts(message, delta);
  growTexts(message, delta, texts);
  if (audio) {
    const sum = (message.audio ??= { id: '', data: '', expires_at: 0, transcript: '' });
    sum.id ||= audio.id ?? '';
    sum.expires_at ||= audio.expires_at ?? 0;
    growTexts(sum, audio, audioTexts);
    copyUnknownFields(audio, sum, audioFields);
  }
  if (call) addCalled((message.function_call ??= { name: '', arguments: '' }), call);
  copyUnknownFields(delta, message, deltaFields, true);
}

/** Some providers send part of the content as text and part of it in typed parts. */
function addParts(message: ChatCompletionMessage, delta: ChatCompletionChunkDelta): void {
  if ((delta.content_parts ?? message.content_parts) === undefined) return;
  message.content_parts = partsOf(message);
  for (const part of partsOf(delta)) addPart(message.content_parts, part);
}

function partsOf({
  content,
  content_parts: parts,
}: Pick<ChatCompletionChunkDelta, 'content' | 'content_parts'>): unknown[] {
  return parts ?? (content ? [{ type: 'text', text: content }] : []);
}

/**
 * Adds a part of streamed content to those before. What the stream has cut into pieces, text and
 * thinking, becomes one part again; a signature comes with the last piece.
 */
function addPart(parts: unknown[], part: unknown): void {
  const last = parts.at(-1);
  if (!isObject(last) || !isObject(part) || !continues(last, part)) {
    parts.push(structuredClone(part));
    return;
  }
  for (const [key, value] of Object.entries(part)) {
    if (key === '__proto__') continue;
    const before = last[key];
    const isText = key === part['type'] && typeof before === 'string';
    if (isText && typeof value === 'string') last[key] = growText(before, value);
    else if (!Array.isArray(before) || !Array.isArray(value)) last[key] = structuredClone(value);
    else for (const inner of value) addPart(before, inner);
  }
}

/** Whether a part goes on with the one before: of the same type, whose name its field has, in the same form. */
function continues(last: JsonObject, part: JsonObject): boolean {
  const { type } = part;
  if (last['type'] !== type || (type !== 'text' && type !== 'thinking')) return false;
  return part[type] === undefined || Array.isArray(last[type]) === Array.isArray(part[type]);
}

/** A chunk that whoever sent it on has compared already. */
const chunkInLine: ResponseSchema<ChatCompletionChunk> = { fields: {}, normalize: normalizeChunk };

/**
 * How streamed chat completions are read again from the lines that `toReadableStream()` gave. What wrote
 * them may be another package, so they are normalized.
 */
export const chatLines: StreamProtocol<ChatCompletionChunk> = {
  read: (value) => normalizeValue(isObject(value) ? value : {}, chunkInLine),
  follow: (keeps) => new ChatAccumulator(1, keeps),
  fromAnswer: () => [],
};
