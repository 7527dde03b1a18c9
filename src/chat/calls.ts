import { isObject, objectsOf } from '../answers/objects.ts';
import { checkList, checkModel, checkParams } from '../check.ts';
import { textsOf } from './normalize.ts';
import { chatChunkSchema, chatCompletionSchema, endsInError, isCompletion } from './schema.ts';
import type { ChatCompletionCreateParamsBase } from './params.ts';
import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { collectAs, eventAnswer } from '../streams/open-stream.ts';
import type { Stream } from '../streams/stream.ts';
import { ChatAccumulator } from './accumulator.ts';
import { deliverWithChoices } from './delivery.ts';
import { readValue } from '../answers/reader.ts';
import type { StreamProtocol } from '../streams/protocol.ts';
import type { JsonObject } from '../types.ts';
import type { ChatCompletion, ChatCompletionChunk } from './types.ts';

/** An answer goes back as it came: without what this package has added to it. */
function sentMessage(message: unknown): unknown {
  if (!isObject(message) || message['role'] !== 'assistant') return message;
  const { parsed: _, content_parts: parts, audio, ...sent } = message;
  // The sound itself is not taken back, only its id.
  if (audio) sent['audio'] = isObject(audio) ? { id: audio['id'] } : audio;
  if (sent['refusal'] === null) delete sent['refusal'];
  if (Array.isArray(parts)) {
    const { text, thoughts } = textsOf(parts);
    // Text that the caller has changed since counts more than what came.
    if (sent['content'] === text) sent['content'] = parts;
    if (sent['reasoning_content'] === thoughts) delete sent['reasoning_content'];
  }
  if (sent['tool_calls']) {
    sent['tool_calls'] = objectsOf(sent['tool_calls']).map((call) => {
      const { incomplete: __, ...rest } = call;
      if (!isObject(rest['function'])) return rest;
      const { parsed_arguments: ___, ...called } = rest['function'];
      return { ...rest, function: called };
    });
  }
  return sent;
}

/**
 * The body of a chat completion, checked.
 *
 * `include_usage: false` is never sent: gateways then drop the chunk with the finish reason of many
 * providers, and a whole answer could no longer be told from a cut one.
 */
export function chatBody(params: ChatCompletionCreateParamsBase): object {
  checkParams('chat.completions.create', params);
  checkModel(params.model);
  checkList('messages', params.messages, 'a message such as { role: "user", content: "Hello!" }');
  const body = { ...params, messages: params.messages.map(sentMessage) };
  if (params.stream_options?.include_usage !== false) return body;
  return { ...body, stream_options: { ...params.stream_options, include_usage: true } };
}

export function askWhole(
  transport: Transport,
  params: ChatCompletionCreateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<ChatCompletion> {
  const request = () => ({ json: chatBody(params) });
  const format = jsonAnswer(wholeAnswer(params));
  return transport.call('chat.completions.create', request, format, options);
}

export function askStream(
  transport: Transport,
  params: Omit<ChatCompletionCreateParamsBase, 'stream'>,
  options: RequestOptions | undefined,
): GatewayPromise<Stream<ChatCompletionChunk>> {
  const wantsUsage = params?.stream_options?.include_usage === true;
  return transport.call(
    'chat.completions.create',
    () => ({ json: { ...chatBody(params), stream: true } }),
    eventAnswer({
      ...chatProtocolFor(params?.n ?? 1),
      deliver: (emit) => deliverWithChoices(emit, wantsUsage),
    }),
    options,
  );
}

/** How an answer in one piece is read. */
export function wholeAnswer(params: ChatCompletionCreateParamsBase) {
  return {
    schema: chatCompletionSchema,
    fromEvents: collectAs(chatProtocolFor(params?.n ?? 1)),
  };
}

/**
 * How the stream that answers a request is read.
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
  const { message: said, ...rest } = whole;
  const { tool_calls: calls } = said;
  if (!Array.isArray(calls)) return { ...rest, delta: said };
  const pieces = calls.map((call, index) => (isObject(call) ? { index, ...call } : call));
  return { ...rest, delta: { ...said, tool_calls: pieces } };
}
