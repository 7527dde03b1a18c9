import { noArguments } from './schema.ts';
import { isObject } from '../answers/objects.ts';
import type { JsonObject } from '../types.ts';
import type { ChatCompletionMessageToolCall } from './messages.ts';
import type {
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionChunkDelta,
  ChatCompletion,
  ChatCompletionAudio,
  ChatCompletionChoice,
  ChatCompletionLogprobs,
  ChatCompletionMessage,
  CompletionUsage,
} from './types.ts';
import { isFinishReason } from './schema.ts';
import { placeOf, ToolCallAssembler } from './tool-calls.ts';
import { growText, type StreamProgress, copyUnknownFields } from '../streams/protocol.ts';

const chunkFields = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);
const choiceFields = new Set(['index', 'delta', 'message', 'finish_reason', 'logprobs', 'usage']);
const deltaFields = new Set([
  'role',
  'content',
  'content_parts',
  'refusal',
  'reasoning_content',
  'reasoning',
  'tool_calls',
  'audio',
  'function_call',
]);

/** A choice that is being put together. */
interface OpenChoice {
  readonly choice: ChatCompletionChoice;
  readonly toolCalls: ToolCallAssembler;
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
   * @param keeps - Whether their text is kept. Arguments of tool calls are, as they tell calls apart.
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
    return this.#whole?.usage;
  }

  /** Some providers write one answer after the other: without a terminator all must have come. */
  isFinished(terminated: boolean): boolean {
    if (this.#unfinished > 0) return false;
    return this.#choices.size >= (terminated ? 1 : this.#expectedChoices);
  }

  /** The tool call of a choice that pieces with `index` belong to. */
  toolCall(choice: number, index: number): ChatCompletionMessageToolCall | undefined {
    return this.#choices.get(choice)?.toolCalls.get(index);
  }

  /** What the pieces of a choice add up to. */
  choice(index: number): ChatCompletionChoice | undefined {
    return this.#choices.get(index)?.choice;
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
    if (this.#keeps) addDelta(message, piece.delta);
    if (piece.delta.tool_calls !== undefined) {
      toolCalls.add(piece.delta.tool_calls);
      if (toolCalls.calls.length > 0) message.tool_calls = toolCalls.calls;
    }
    if (piece.logprobs && this.#keeps)
      choice.logprobs = addLogprobs(choice.logprobs, piece.logprobs);
    copyUnknownFields(piece, choice, choiceFields);
    // A spoken answer ends with its time of expiry instead of a reason.
    const reason = piece.finish_reason || (piece.delta.audio?.expires_at ? 'stop' : '');
    if (reason === '') return;
    this.#unfinished += Number(isFinishReason(choice.finish_reason));
    this.#unfinished -= Number(isFinishReason(reason));
    choice.finish_reason = reason;
    toolCalls.end();
    if (message.function_call) message.function_call.arguments ||= noArguments;
  }

  #begin(whole: ChatCompletion, index: number): OpenChoice {
    const choice: ChatCompletionChoice = {
      index,
      message: { role: 'assistant', content: null, refusal: null },
      finish_reason: '',
      logprobs: null,
    };
    whole.choices.splice(placeOf(index, whole.choices), 0, choice);
    const open: OpenChoice = { choice, toolCalls: new ToolCallAssembler() };
    this.#choices.set(index, open);
    this.#unfinished += 1;
    return open;
  }
}

/** Carries what the chunks share in both directions: some chunks come without it. */
function fillHead(whole: ChatCompletion, chunk: ChatCompletionChunk): void {
  if (whole.id === '') whole.id = chunk.id;
  else if (chunk.id === '') chunk.id = whole.id;
  if (whole.model === '') whole.model = chunk.model;
  else if (chunk.model === '') chunk.model = whole.model;
  if (whole.created === 0) whole.created = chunk.created;
  else if (chunk.created === 0) chunk.created = whole.created;
}

function addDelta(message: ChatCompletionMessage, delta: ChatCompletionChunkDelta): void {
  const { content, refusal, reasoning_content: thoughts, reasoning, audio } = delta;
  addParts(message, delta);
  // Tolerant reading lets wrong types through; only text can be added to text.
  if (typeof content === 'string') message.content = growText(message.content, content);
  if (typeof refusal === 'string') message.refusal = growText(message.refusal, refusal);
  if (typeof thoughts === 'string') {
    message.reasoning_content = growText(message.reasoning_content, thoughts);
  }
  if (typeof reasoning === 'string') message.reasoning = growText(message.reasoning, reasoning);
  if (audio) message.audio = addAudio(message.audio, audio);
  if (delta.function_call) {
    const { name, arguments: text } = delta.function_call;
    const call = (message.function_call ??= { name: '', arguments: '' });
    if (name) call.name = name;
    if (typeof text === 'string') call.arguments = growText(call.arguments, text);
  }
  copyUnknownFields(delta, message, deltaFields, true);
}

/** Some providers send part of the content as text and part of it in typed parts. */
function addParts(message: ChatCompletionMessage, delta: ChatCompletionChunkDelta): void {
  const { content, content_parts: parts } = delta;
  if (parts !== undefined) {
    message.content_parts ??= message.content ? [textPart(message.content)] : [];
    for (const part of parts) addPart(message.content_parts, part);
  } else if (message.content_parts !== undefined && content) {
    addPart(message.content_parts, textPart(content));
  }
}

const textPart = (text: string) => ({ type: 'text', text });

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
    const isText = typeof before === 'string' && (key === 'text' || key === 'thinking');
    if (isText && typeof value === 'string') last[key] = growText(before, value);
    else if (!Array.isArray(before) || !Array.isArray(value)) last[key] = structuredClone(value);
    else for (const inner of value) addPart(before, inner);
  }
}

const isAlike = (before: unknown, piece: unknown): boolean =>
  piece === undefined || Array.isArray(before) === Array.isArray(piece);

/** Whether a part goes on with the one before: of the same type, and written in the same form. */
function continues(last: JsonObject, { type, text, thinking }: JsonObject): boolean {
  if (last['type'] !== type || (type !== 'text' && type !== 'thinking')) return false;
  return isAlike(last['text'], text) && isAlike(last['thinking'], thinking);
}

function addAudio(
  before: ChatCompletionAudio | null | undefined,
  piece: Partial<ChatCompletionAudio>,
): ChatCompletionAudio {
  const audio = before ?? { id: '', data: '', expires_at: 0, transcript: '' };
  audio.id ||= piece.id ?? '';
  audio.data += piece.data ?? '';
  audio.expires_at ||= piece.expires_at ?? 0;
  audio.transcript = growText(audio.transcript, piece.transcript ?? '');
  return audio;
}

function addLogprobs(
  before: ChatCompletionLogprobs | null,
  piece: ChatCompletionLogprobs,
): ChatCompletionLogprobs {
  const logprobs = before ?? { content: null, refusal: null };
  if (piece.content) (logprobs.content ??= []).push(...piece.content);
  if (piece.refusal) (logprobs.refusal ??= []).push(...piece.refusal);
  return logprobs;
}
