import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { collectAs, eventAnswer } from '../streams/open-stream.ts';
import type { Stream } from '../streams/stream.ts';
import { generateProtocol } from './accumulator.ts';
import { generateBody } from './body.ts';
import type { GenerateContentParams } from './params.ts';
import { generateContentSchema } from './schema.ts';
import type { GenerateContentResponse } from './types.ts';

export { runTools } from './run-tools.ts';

const wholeAnswer = jsonAnswer({
  schema: generateContentSchema,
  fromEvents: collectAs(generateProtocol),
});

const streamedAnswer = eventAnswer(generateProtocol);

/** What is sent, for either way of answering. */
const requestOf = (params: GenerateContentParams, method: string) => () => ({
  json: generateBody(params, method),
  params: { model: params.model },
});

export function content(
  transport: Transport,
  params: GenerateContentParams,
  options: RequestOptions | undefined,
): GatewayPromise<GenerateContentResponse> {
  const request = requestOf(params, 'generate.content');
  return transport.call('generate.content', request, wholeAnswer, options);
}

export function contentStream(
  transport: Transport,
  params: GenerateContentParams,
  options: RequestOptions | undefined,
): GatewayPromise<Stream<GenerateContentResponse>> {
  const request = requestOf(params, 'generate.contentStream');
  return transport.call('generate.contentStream', request, streamedAnswer, options);
}
