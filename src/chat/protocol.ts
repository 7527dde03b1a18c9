import { isObject, objectsOf } from '../answers/objects.ts';
import { readValue } from '../answers/reader.ts';
import { collectAs } from '../streams/open-stream.ts';
import type { StreamProtocol } from '../streams/protocol.ts';
import type { JsonObject } from '../types.ts';
import { ChatAccumulator } from './accumulator.ts';
import type { ChatCompletionCreateParamsBase } from './params.ts';
import { chatChunkSchema, chatCompletionSchema, endsInError, isCompletion } from './schema.ts';
import type { ChatCompletionChunk } from './types.ts';

/** Returns how a completion in one piece is read, also when it arrives as a stream. */
export function completionAnswer(params: ChatCompletionCreateParamsBase) {
  return {
    schema: chatCompletionSchema,
    fromEvents: collectAs(chatProtocolFor(params?.n ?? 1)),
  };
}

/**
 * Returns how a streamed completion is read.
 *
 * @param choices - How many choices were requested.
 */
export function chatProtocolFor(choices: number): StreamProtocol<ChatCompletionChunk> {
  return {
    read: (value, check) => readValue(value, chatChunkSchema, check),
    follow: (keeps) => new ChatAccumulator(choices, keeps),
    fromAnswer: (answer) => (isObject(answer) && isCompletion(answer) ? [toChunk(answer)] : []),
    isPiece: (answer) =>
      isObject(answer) &&
      (endsInError(answer) ||
        objectsOf(answer['choices']).some(({ delta: piece }) => isObject(piece))),
  };
}

/** Makes one chunk of a whole completion. */
function toChunk(completion: JsonObject): JsonObject {
  const { choices } = completion;
  return {
    ...completion,
    object: 'chat.completion.chunk',
    choices: Array.isArray(choices) ? choices.map(toChunkChoice) : [],
  };
}

function toChunkChoice(whole: unknown): unknown {
  if (!isObject(whole) || !isObject(whole['message'])) return whole;
  const { message, ...rest } = whole;
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return { ...rest, delta: message };
  const pieces = calls.map((call, index) => (isObject(call) ? { index, ...call } : call));
  return { ...rest, delta: { ...message, tool_calls: pieces } };
}
