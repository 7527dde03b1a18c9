import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { collectAs, eventAnswer } from '../streams/open-stream.ts';
import type { Stream } from '../streams/stream.ts';
import { chatBody } from './body.ts';
import type { ChatCompletionCreateParamsBase } from './params.ts';
import { chatCompletionSchema, chatProtocolFor } from './schema.ts';
import type { ChatCompletion, ChatCompletionChunk } from './types.ts';

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
  isHidden?: (chunk: ChatCompletionChunk) => boolean,
): GatewayPromise<Stream<ChatCompletionChunk>> {
  return transport.call(
    'chat.completions.create',
    () => ({ json: { ...chatBody(params), stream: true } }),
    eventAnswer(chatProtocolFor(params?.n ?? 1, isHidden)),
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
