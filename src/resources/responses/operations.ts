import { isObject, toFields } from '../../answers/objects.ts';
import type { GatewayPromise } from '../../calls/promise.ts';
import { jsonFormat } from '../../calls/response.ts';
import type { Transport } from '../../calls/transport.ts';
import { check, checkList, checkModel, checkText } from '../../options/check.ts';
import { checkParams } from '../../options/parameters.ts';
import type { RequestOptions } from '../../options/options.ts';
import { peek } from '../../options/snapshot.ts';
import { withJSON } from '../../structured/calls.ts';
import { eventFormat } from '../../streams/open-stream.ts';
import type { Stream } from '../../streams/stream.ts';
import { explainFailure } from './errors.ts';
import type { ResponseCreateParamsBase } from './params.ts';
import { parseOutput } from './parse.ts';
import { responseProtocol, wholeResponse } from './protocol.ts';
import type { ModelResponse, ParsedResponse, ResponseStreamEvent } from './types.ts';

const wholeFormat = jsonFormat(wholeResponse);
const streamFormat = eventFormat(responseProtocol);

/** Converts a text format of chat, such as that of `responseFormat()`. */
function toTextFormat(format: unknown): unknown {
  if (!isObject(format) || !isObject(format['json_schema'])) return format;
  return { type: 'json_schema', ...format['json_schema'] };
}

/** Converts a function of chat, such as one of `tool()`. */
function toTool(tool: unknown): unknown {
  if (!isObject(tool) || tool['type'] !== 'function' || !isObject(tool['function'])) return tool;
  return { type: 'function', strict: null, ...tool['function'] };
}

/** Converts an item of the conversation. */
const toInput = (item: unknown): unknown =>
  isObject(item) && item['type'] === 'function_call' ? withJSON(item) : item;

/** Checks parameters and returns the body of their request. */
function createBody(params: ResponseCreateParamsBase, method: string): object {
  checkParams(method, params);
  const { model, input, text, tools, prompt } = params;
  // A stored prompt may have both.
  if (!isObject(prompt) || isSet(model)) checkModel(model);
  if (!isObject(prompt) || isSet(input)) checkInput(input);
  const format = toFields(text)['format'];
  return {
    ...params,
    ...(Array.isArray(input) && { input: input.map(toInput) }),
    ...(isSet(format) && { text: { ...text, format: toTextFormat(format) } }),
    ...(Array.isArray(tools) && { tools: tools.map(toTool) }),
  };
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function checkInput(input: unknown): void {
  const wanted = 'text, or a list such as [{ role: "user", content: "Hello!" }]';
  if (!Array.isArray(input)) {
    checkText('input', input, wanted);
    return;
  }
  checkList('input', input, wanted);
  input.forEach((item: unknown, index) => {
    check(isObject(item), `input[${index}]`, 'must be an object: a message or another item.');
  });
}

const writeAs = (method: string) => (params: ResponseCreateParamsBase) => ({
  json: createBody(params, method),
  explain: explainFailure,
});

const write = writeAs('responses.create');
const whole = { kind: 'json', write, format: () => wholeFormat } as const;
const streamed = { kind: 'events', write, format: () => streamFormat } as const;

export function createResponse(
  transport: Transport,
  params: ResponseCreateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<ModelResponse> {
  return transport.operate('responses.create', params, whole, options);
}

export function streamResponse(
  transport: Transport,
  params: ResponseCreateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<Stream<ResponseStreamEvent>> {
  return transport.operate('responses.create', params, streamed, options);
}

export function parseResponse(
  transport: Transport,
  params: ResponseCreateParamsBase,
  options: RequestOptions | undefined,
): GatewayPromise<ParsedResponse<unknown>> {
  const problem = 'cannot be used with parse(); use create(), and JSON.parse() at the end.';
  check(peek(params, 'stream') !== true, 'stream', problem);
  const parts = {
    kind: 'json',
    write: writeAs('responses.parse'),
    format: (copy: ResponseCreateParamsBase) =>
      jsonFormat(wholeResponse, (response, call) => parseOutput(response, copy, call)),
  } as const;
  return transport.operate('responses.create', params, parts, options);
}
