import * as z from 'zod/mini';
import type {
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionChunkDelta,
  ChatCompletionChunkToolCall,
} from './types.ts';
import type { JsonObject } from '../types.ts';
import { dropNull, isObject, repairItems } from '../answers/objects.ts';
import {
  choiceFields,
  headFields,
  messageFields,
  repairContent,
  repairFunction,
  repairHead,
  repairUsage,
  toolCallShape,
  usageSchema,
} from './part-schemas.ts';
import type { Reader } from '../answers/reader.ts';
import {
  optionalList,
  optionalNumber,
  optionalObject,
  optionalText,
  type ShapeOf,
} from '../answers/shape-of.ts';

const toolCallPieceShape = {
  ...toolCallShape,
  index: optionalNumber,
} satisfies ShapeOf<ChatCompletionChunkToolCall>;

const deltaShape = {
  role: optionalText,
  ...messageFields,
  tool_calls: optionalList(z.looseObject(toolCallPieceShape)),
} satisfies ShapeOf<ChatCompletionChunkDelta>;

const choiceShape = {
  ...choiceFields,
  delta: optionalObject(deltaShape),
} satisfies ShapeOf<ChatCompletionChunkChoice>;

const chunkShape = {
  ...headFields,
  choices: optionalList(z.looseObject(choiceShape)),
  usage: usageSchema,
} satisfies ShapeOf<ChatCompletionChunk>;

/** Later pieces say less than the first: what is empty there means nothing. */
function repairPiece(piece: JsonObject): void {
  repairIndex(piece);
  dropNull(piece, 'id', 'function', 'custom');
  if (piece['type'] !== 'custom' && piece['type'] !== 'function') piece['type'] = undefined;
  const called = piece['function'];
  if (!isObject(called)) return;
  dropNull(called, 'name', 'arguments');
  repairFunction(called);
}

function repairDelta(delta: JsonObject): void {
  if (typeof delta['content'] !== 'string') repairContent(delta);
  dropNull(delta, 'role', 'tool_calls', 'audio', 'function_call');
  if (delta['role'] === '') delta['role'] = undefined;
  if (delta['function_call'] !== undefined) repairFunction(delta['function_call']);
  if (delta['tool_calls'] === undefined) return;
  repairItems(delta, 'tool_calls', repairPiece);
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
    const choices = repairItems(value, 'choices', repairChoice);
    // Some providers put the usage into the choice.
    if (!isObject(value['usage'])) value['usage'] = choices[0]?.['usage'] ?? value['usage'];
    repairUsage(value);
  },
};
