import type {
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionChunkDelta,
} from './types.ts';
import type { JsonObject } from '../types.ts';
import { fill, isObject, normalizeItems } from '../answers/objects.ts';
import type { FieldsOf, ResponseSchema } from '../answers/reader.ts';
import {
  choiceHead,
  head,
  messageHead,
  normalizeContent,
  normalizeFunction,
  normalizeHead,
  toolCall,
  usage,
} from './schema.ts';

const delta: FieldsOf<ChatCompletionChunkDelta> = {
  role: 'string',
  ...messageHead,
  tool_calls: [{ ...toolCall, index: 'number' }],
};

const choice: FieldsOf<ChatCompletionChunkChoice> = { ...choiceHead, delta };

/** Later pieces say less than the first: what is empty there means nothing. */
function normalizePiece(piece: JsonObject): void {
  normalizeIndex(piece);
  fill(piece, { id: undefined, function: undefined, custom: undefined });
  if (piece['type'] !== 'custom' && piece['type'] !== 'function') piece['type'] = undefined;
  const called = piece['function'];
  if (!isObject(called)) return;
  fill(called, { name: undefined, arguments: undefined });
  normalizeFunction(called);
}

function normalizeDelta(value: JsonObject): void {
  normalizeContent(value);
  fill(value, {
    role: undefined,
    tool_calls: undefined,
    audio: undefined,
    function_call: undefined,
  });
  if (value['role'] === '') value['role'] = undefined;
  normalizeFunction(value['function_call']);
  if (value['tool_calls'] !== undefined) normalizeItems(value, 'tool_calls', normalizePiece);
}

/** An index as text is the same as the number. */
function normalizeIndex(value: JsonObject): void {
  const { index } = value;
  if (typeof index === 'string' && /^\d+$/.test(index)) value['index'] = Number(index);
}

function normalizeChoice(value: JsonObject, position: number): void {
  fill(value, { index: position, finish_reason: null });
  normalizeIndex(value);
  // Some providers put the whole message into the only chunk.
  const { delta: piece, message } = value;
  if (isObject(piece)) normalizeDelta(piece);
  else normalizeDelta((value['delta'] = isObject(message) ? message : {}));
}

/**
 * One chunk of a streamed completion.
 *
 * What takes the other chunks to know (the id, the index of a tool call) is filled in by whoever
 * follows the stream.
 */
export const chatChunkSchema: ResponseSchema<ChatCompletionChunk> = {
  fields: { ...head, choices: [choice], usage } satisfies FieldsOf<ChatCompletionChunk>,
  normalize(value) {
    const choices = normalizeItems(value, 'choices', normalizeChoice);
    // Some providers put the usage into the choice.
    if (!isObject(value['usage'])) value['usage'] = choices[0]?.['usage'] ?? value['usage'];
    normalizeHead(value, 'chat.completion.chunk');
  },
};
