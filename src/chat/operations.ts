import type { GatewayPromise } from '../http/promise.ts';
import { jsonAnswer } from '../http/response.ts';
import type { Transport } from '../http/transport.ts';
import type { RequestOptions } from '../options.ts';
import { chatBody } from './body.ts';
import { wholeAnswer } from './calls.ts';
import { outputParser } from './output-parser.ts';
import type { ChatCompletionCreateParamsNonStreaming } from './params.ts';
import type { ParsedChatCompletion } from './types.ts';

export { outputParser } from './output-parser.ts';
export { runTools } from './tool-run.ts';

export function parse(
  transport: Transport,
  params: ChatCompletionCreateParamsNonStreaming,
  options: RequestOptions | undefined,
): GatewayPromise<ParsedChatCompletion<unknown>> {
  const format = jsonAnswer(wholeAnswer(params), (completion, { callId, requestId, status }) => {
    const sent = { phase: 'body', status, requestId } as const;
    const evidence = { ...sent, attempts: [sent] };
    return outputParser(params, 'parse').apply(completion, { callId, evidence });
  });
  const request = () => ({ json: chatBody(params) });
  return transport.call('chat.completions.create', request, format, options);
}
