import { hasValue, isObject, listObjects, numberFrom, toFields } from '../../answers/objects.ts';
import { readValue } from '../../answers/reader.ts';
import type { AnswerFormat } from '../../calls/request.ts';
import { jsonAnswer } from '../../calls/response.ts';
import { collectAs } from '../../streams/open-stream.ts';
import type { StreamProtocol } from '../../streams/protocol.ts';
import type { JsonObject } from '../../types.ts';
import { ChatAccumulator } from './accumulator.ts';
import { peek } from '../../options/snapshot.ts';
import type { ChatCompletionCreateParamsBase } from './params.ts';
import { toWholePiece } from './normalize.ts';
import type { RequestOptions } from '../../options/options.ts';
import {
  chatChunkSchema,
  chatCompletionSchema,
  endsInError,
  isCompletion,
  oneCompletionSchema,
} from './schema.ts';
import type { ChatCompletion, ChatCompletionChunk } from './types.ts';

/** Returns the number of choices that a request asks for. */
export function countChoices(
  params: ChatCompletionCreateParamsBase,
  options: RequestOptions | undefined,
): number {
  const extra = numberFrom(peek(peek(options, 'extraBody'), 'n'));
  return Math.max(numberFrom(peek(params, 'n')) ?? 1, extra ?? 1);
}

/** The protocols and formats for one choice, which nearly all calls ask for. */
const single: { protocol?: ChatProtocol; answer?: CompletionAnswer; format?: CompletionFormat } =
  {};

type ChatProtocol = StreamProtocol<ChatCompletionChunk>;
type CompletionAnswer = ReturnType<typeof createAnswer>;
type CompletionFormat = AnswerFormat<ChatCompletion, 'json'>;

/**
 * Returns how to read a completion that is not streamed, but may arrive as a stream anyway.
 *
 * @param choices - Number of requested choices.
 */
export function completionAnswer(choices: number): CompletionAnswer {
  return choices > 1 ? createAnswer(choices) : (single.answer ??= createAnswer(1));
}

function createAnswer(choices: number) {
  return {
    schema: choices > 1 ? chatCompletionSchema : oneCompletionSchema,
    fromEvents: collectAs(chatProtocolFor(choices)),
  };
}

/** Returns the format of a completion that is not changed. */
export function completionFormat(choices: number): CompletionFormat {
  if (choices > 1) return jsonAnswer(completionAnswer(choices));
  return (single.format ??= jsonAnswer(completionAnswer(1)));
}

/**
 * Returns the protocol of a streamed completion.
 *
 * @param choices - Number of requested choices.
 */
export function chatProtocolFor(choices: number): ChatProtocol {
  return choices > 1 ? createProtocol(choices) : (single.protocol ??= createProtocol(1));
}

function createProtocol(choices: number): ChatProtocol {
  return {
    read: (value, check) => readValue(value, chatChunkSchema, check),
    follow: (keeps) => new ChatAccumulator(choices, keeps),
    hasContent: ({ choices: pieces }) =>
      pieces.some(({ delta }) =>
        Object.entries<unknown>({ ...delta }).some(
          ([name, value]) => name !== 'role' && hasValue(value),
        ),
      ),
    fromAnswer: (answer) => (isObject(answer) && isCompletion(answer) ? [toChunk(answer)] : []),
    isPiece: (received) => {
      const answer = toFields(received);
      const list = listObjects(answer['choices']);
      return endsInError(answer) || list.some(({ delta }) => isObject(delta));
    },
  };
}

/** Converts a complete completion to one chunk. */
function toChunk(completion: JsonObject): JsonObject {
  const { choices } = completion;
  return {
    ...completion,
    object: 'chat.completion.chunk',
    choices: Array.isArray(choices)
      ? choices.map((choice: unknown) => (isObject(choice) ? toWholePiece(choice) : choice))
      : [],
  };
}
