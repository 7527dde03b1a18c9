import { isObject, listObjects, numberFrom, toFields } from '../../answers/objects.ts';
import { readValue } from '../../answers/reader.ts';
import { jsonFormat } from '../../calls/response.ts';
import { collectAs } from '../../streams/open-stream.ts';
import type { StreamProtocol } from '../../streams/protocol.ts';
import type { JsonObject } from '../../types.ts';
import { ChatAccumulator } from './accumulator.ts';
import { peek } from '../../options/snapshot.ts';
import type { ChatCompletionCreateParamsBase } from './params.ts';
import { hasPieces, toWholePiece } from './normalize.ts';
import type { RequestOptions } from '../../options/options.ts';
import {
  chatChunkSchema,
  chatCompletionSchema,
  endsInError,
  isCompletion,
  oneCompletionSchema,
} from './schema.ts';
import type { ChatCompletionChunk } from './types.ts';

/** Returns the number of choices that a request asks for. */
export function countChoices(
  params: ChatCompletionCreateParamsBase,
  options: RequestOptions | undefined,
): number {
  const extra = numberFrom(peek(peek(options, 'extraBody'), 'n'));
  return Math.max(numberFrom(peek(params, 'n')) ?? 1, extra ?? 1);
}

/** Creates the protocol of streamed completions, and the formats of whole ones, which may arrive as a stream anyway. */
function createFormats(choices: number) {
  const protocol = createProtocol(choices);
  const schema = choices > 1 ? chatCompletionSchema : oneCompletionSchema;
  const whole = { schema, fromEvents: collectAs(protocol) };
  return { protocol, whole, format: jsonFormat(whole) };
}

/** Those for one choice, which nearly all calls ask for. */
let single: ReturnType<typeof createFormats> | undefined;

/**
 * Returns how to read completions: `protocol` for streamed ones, `format` for whole ones, and `whole` for whole ones
 * that a helper changes.
 *
 * @param choices - Number of requested choices.
 */
export const formatsFor = (choices: number) =>
  choices > 1 ? createFormats(choices) : (single ??= createFormats(1));

/** Returns the protocol of a streamed completion. */
export const chatProtocolFor = (choices: number) => formatsFor(choices).protocol;

function createProtocol(choices: number): StreamProtocol<ChatCompletionChunk> {
  return {
    read: (value, check) => readValue(value, chatChunkSchema, check),
    follow: (keeps) => new ChatAccumulator(choices, keeps),
    hasContent: ({ choices: pieces }) => pieces.some(({ delta }) => hasPieces(delta)),
    fromResponse: (value) => (isObject(value) && isCompletion(value) ? [toChunk(value)] : []),
    isPiece: (received) => {
      const body = toFields(received);
      const list = listObjects(body['choices']);
      return endsInError(body) || list.some(({ delta }) => isObject(delta));
    },
  };
}

function toChunk(completion: JsonObject): JsonObject {
  const choices = listObjects(completion['choices']).map(toWholePiece);
  return { ...completion, object: 'chat.completion.chunk', choices };
}
