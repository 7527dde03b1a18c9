import { endsInError, isCompletion } from './schema.ts';
import { chatChunkSchema } from './chunk-schema.ts';
import { isObject, objectsOf } from '../answers/objects.ts';
import { readValue } from '../answers/reader.ts';
import type { ChatCompletionChunk } from './types.ts';
import type { JsonObject } from '../types.ts';
import { ChatAccumulator } from './accumulator.ts';
import type { StreamProtocol } from '../streams/protocol.ts';

/**
 * How the stream that answers a request is read.
 *
 * @param choices - How many answers were asked for.
 * @param isHidden - Which chunks are kept back.
 */
export function chatProtocolFor(
  choices: number,
  isHidden?: (chunk: ChatCompletionChunk) => boolean,
): StreamProtocol<ChatCompletionChunk> {
  return {
    read: (value, check) => readValue(value, chatChunkSchema, check),
    follow: (keeps) => new ChatAccumulator(choices, keeps),
    ...(isHidden && { isHidden }),
    fromAnswer: (answer) => (isObject(answer) && isCompletion(answer) ? [toChunk(answer)] : []),
    isPiece: (answer) =>
      isObject(answer) &&
      (endsInError(answer) || objectsOf(answer['choices']).some(({ delta }) => isObject(delta))),
  };
}

/** How streamed chat completions are read. */
export const chatProtocol: StreamProtocol<ChatCompletionChunk> = chatProtocolFor(1);

/** Loops read `chunk.choices[0].delta`, and gateways send chunks without choices unasked. */
export function hasNoChoices({ choices }: ChatCompletionChunk): boolean {
  return choices.length === 0;
}

/** Whether there is not even usage in a chunk; nobody can ask for those. */
export function saysNothing({ choices, usage }: ChatCompletionChunk): boolean {
  return choices.length === 0 && !usage;
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

function toChunkChoice(choice: unknown): unknown {
  if (!isObject(choice) || !isObject(choice['message'])) return choice;
  const { message, ...rest } = choice;
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return { ...rest, delta: message };
  const pieces = calls.map((call, index) => (isObject(call) ? { index, ...call } : call));
  return { ...rest, delta: { ...message, tool_calls: pieces } };
}
