import * as z from 'zod/mini';
import type {
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionChunkDelta,
  ChatCompletionChunkToolCall,
} from '../types/chat-stream.ts';
import type { JsonObject } from '../types/common.ts';
import { dropNull, isObject, objectsOf } from './objects.ts';
import {
  audioSchema,
  contentSchema,
  functionCallSchema,
  logprobsSchema,
  repairContent,
  repairFunction,
  repairHead,
  repairUsage,
  timestampSchema,
  toolCallShape,
  usageSchema,
} from './chat-parts.ts';
import type { Reader } from './reader.ts';
import {
  optionalList,
  optionalNumber,
  optionalObject,
  optionalText,
  type ShapeOf,
  unread,
} from './shape-of.ts';

const toolCallPieceShape = {
  ...toolCallShape,
  index: optionalNumber,
} satisfies ShapeOf<ChatCompletionChunkToolCall>;

const deltaShape = {
  role: optionalText,
  content: contentSchema,
  content_parts: unread,
  refusal: optionalText,
  reasoning_content: optionalText,
  reasoning: optionalText,
  tool_calls: optionalList(z.looseObject(toolCallPieceShape)),
  audio: audioSchema,
  function_call: functionCallSchema,
} satisfies ShapeOf<ChatCompletionChunkDelta>;

const choiceShape = {
  index: optionalNumber,
  finish_reason: optionalText,
  delta: optionalObject(deltaShape),
  logprobs: logprobsSchema,
} satisfies ShapeOf<ChatCompletionChunkChoice>;

const chunkShape = {
  id: optionalText,
  object: optionalText,
  created: timestampSchema,
  model: optionalText,
  choices: optionalList(z.looseObject(choiceShape)),
  service_tier: optionalText,
  system_fingerprint: optionalText,
  moderation: unread,
  usage: usageSchema,
} satisfies ShapeOf<ChatCompletionChunk>;

/** Later pieces say less than the first: what is empty there means nothing. */
function repairPiece(piece: JsonObject): void {
  repairIndex(piece);
  for (const key of nullablePieceFields) dropNull(piece, key);
  if (piece['type'] !== 'custom' && piece['type'] !== 'function') piece['type'] = undefined;
  const called = piece['function'];
  if (!isObject(called)) return;
  dropNull(called, 'name');
  dropNull(called, 'arguments');
  repairFunction(called);
}

const nullablePieceFields = ['id', 'function', 'custom'] as const;
const nullableDeltaFields = ['role', 'tool_calls', 'audio', 'function_call'] as const;

function repairDelta(delta: JsonObject): void {
  if (typeof delta['content'] !== 'string') repairContent(delta);
  for (const key of nullableDeltaFields) dropNull(delta, key);
  if (delta['role'] === '') delta['role'] = undefined;
  if (delta['function_call'] !== undefined) repairFunction(delta['function_call']);
  if (delta['tool_calls'] === undefined) return;
  const calls = objectsOf(delta['tool_calls']);
  for (const call of calls) repairPiece(call);
  delta['tool_calls'] = calls;
}

/** An index as text is the same as the number. */
function repairIndex(value: JsonObject): void {
  const { index } = value;
  if (typeof index === 'string' && /^\d+$/.test(index)) value['index'] = Number(index);
}

function repairChoice(choice: JsonObject, position: number): void {
  choice['index'] ??= position;
  repairIndex(choice);
  choice['finish_reason'] ??= null;
  // Some providers put the whole message into the only chunk.
  const { delta, message } = choice;
  if (isObject(delta)) repairDelta(delta);
  else repairDelta((choice['delta'] = isObject(message) ? message : {}));
}

/**
 * Reads one chunk of a streamed completion.
 *
 * What takes the other chunks to know (the id, the index of a tool call) is filled in by whoever
 * follows the stream.
 */
export const chatChunkReader: Reader<ChatCompletionChunk> = {
  schema: z.looseObject(chunkShape),
  repair(value) {
    repairHead(value, 'chat.completion.chunk');
    const choices = objectsOf(value['choices']);
    choices.forEach(repairChoice);
    value['choices'] = choices;
    // Some providers put the usage into the choice.
    if (!isObject(value['usage'])) value['usage'] = choices[0]?.['usage'] ?? value['usage'];
    repairUsage(value);
  },
};
