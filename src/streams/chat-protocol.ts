import { isObject } from '../schemas/objects.ts';
import { chatChunkReader } from '../schemas/chat-chunk.ts';
import { readValue } from '../schemas/reader.ts';
import type { ChatCompletionChunk } from '../types/chat-stream.ts';
import type { JsonObject } from '../types/common.ts';
import { ChatAccumulator } from './chat-accumulator.ts';
import type { StreamProtocol } from './protocol.ts';

/** What a request says of the stream that answers it. */
export interface ChatStreamRequest {
  /** How many answers were asked for. */
  readonly choices: number;
  /**
   * Whether the chunk that has nothing but usage is kept back: gateways send it unasked, and code that
   * has not asked for it reads `chunk.choices[0].delta`.
   */
  readonly hidesUsage?: boolean | undefined;
}

/** How the stream that answers such a request is read. */
export function chatProtocolFor({
  choices,
  hidesUsage,
}: ChatStreamRequest): StreamProtocol<ChatCompletionChunk> {
  return {
    read: (value, check) => readValue(value, chatChunkReader, check),
    follow: () => new ChatAccumulator(choices),
    ...(hidesUsage === true && { isHidden: isUsageOnly }),
    fromAnswer: (answer) =>
      (Array.isArray(answer) ? answer : [answer]).filter(isCompletion).map(toChunk),
  };
}

/** How streamed chat completions are read. */
export const chatProtocol: StreamProtocol<ChatCompletionChunk> = chatProtocolFor({ choices: 1 });

function isUsageOnly({ choices, usage }: ChatCompletionChunk): boolean {
  return choices.length === 0 && Boolean(usage);
}

function isCompletion(value: unknown): value is JsonObject {
  return isObject(value) && Array.isArray(value['choices']);
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
