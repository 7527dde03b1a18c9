import { defineHidden, isObject, listObjects, toFields } from '../../answers/objects.ts';
import type { CallInfo } from '../../calls/response.ts';
import {
  locateJSON,
  parseArguments,
  parseLocated,
  valueType,
} from '../../structured/locate-json.ts';
import {
  answeredCall,
  ContentFilterFinishReasonError,
  LengthFinishReasonError,
  unparsed,
} from '../chat/errors.ts';
import type { JsonObject } from '../../types.ts';
import { isRefusal, messageText } from './output.ts';
import type { ResponseFunctionToolCall } from './items.ts';
import type { ResponseCreateParamsBase } from './params.ts';
import type { ModelResponse, ParsedResponse } from './types.ts';

/** Returns the function that parses text of a format; `undefined` if it is plain text. */
function findParser(format: unknown): ((text: string) => unknown) | undefined {
  if (!isObject(format)) return undefined;
  const { $parseRaw: parse, type, schema } = format;
  const expected = valueType(schema);
  if (typeof parse === 'function') {
    return (text): unknown => Reflect.apply(parse, format, [locateJSON(text, expected)]);
  }
  return type === 'json_schema' ? (text): unknown => parseLocated(text, expected) : undefined;
}

/** Returns the message with the answer or the refusal; `undefined` if there is none. */
const finalMessage = ({ output }: ModelResponse): JsonObject | undefined =>
  listObjects(output).findLast(
    (item) => item['phase'] !== 'commentary' && (messageText(item) !== '' || isRefusal(item)),
  );

/** Returns whether a response has no item that may be the answer or leads to it, such as a call. */
const isEmpty = ({ output }: ModelResponse): boolean =>
  listObjects(output).every(({ type }) => type === 'message' || type === 'reasoning');

/** Adds the result where LangChain reads it. Not enumerable, so that the item can be sent back. */
function addToMessage(message: JsonObject, parsed: unknown): void {
  const part = listObjects(message['content']).find(({ type }) => type === 'output_text');
  if (part !== undefined) defineHidden(part, 'parsed', parsed);
}

/** Returns the definition of a called function, which may be in a namespace. */
function findTool(
  tools: unknown,
  { name, namespace }: ResponseFunctionToolCall,
): JsonObject | undefined {
  const list = listObjects(tools);
  const space = list.find((tool) => tool['type'] === 'namespace' && tool['name'] === namespace);
  return (space === undefined ? list : listObjects(space['tools'])).find((tool) => {
    // A tool of chat has its name in `function`.
    const { type, function: definition = tool } = tool;
    return type === 'function' && toFields(definition)['name'] === name;
  });
}

/** Returns the function that parses the arguments of a tool; `undefined` if they are not parsed. */
function findArgumentsParser(tool: JsonObject = {}): ((text: string) => unknown) | undefined {
  const { $parseRaw: parse, strict } = tool;
  if (typeof parse === 'function') return (text): unknown => Reflect.apply(parse, tool, [text]);
  const isStrict = strict === true || toFields(tool['function'])['strict'] === true;
  return isStrict ? parseArguments : undefined;
}

/**
 * Parses and validates the text of the final message, and the arguments of calls.
 *
 * @throws `OutputError` with the response if it is incomplete or does not match
 */
export async function parseOutput(
  response: ModelResponse,
  { text, tools }: Pick<ResponseCreateParamsBase, 'text' | 'tools'>,
  call: CallInfo,
): Promise<ParsedResponse<unknown>> {
  const init = { response, ...answeredCall(call) };
  if (response.status === 'incomplete') {
    const isFiltered = response.incomplete_details?.reason === 'content_filter';
    throw isFiltered ? new ContentFilterFinishReasonError(init) : new LengthFinishReasonError(init);
  }
  const isQueued = response.status === 'queued' || response.status === 'in_progress';
  const calls = response.output.filter((item) => item.type === 'function_call');
  for (const item of calls) {
    const parse = isQueued ? undefined : findArgumentsParser(findTool(tools, item));
    try {
      defineHidden(item, 'parsed_arguments', parse ? await parse(item.arguments) : null);
    } catch (cause) {
      throw unparsed(item.name, cause, init);
    }
  }
  const parse = findParser(text?.format);
  const message = parse && finalMessage(response);
  const isAnswer = message === undefined ? isEmpty(response) : !isRefusal(message);
  if (parse === undefined || !isAnswer || isQueued) {
    return Object.assign(response, { output_parsed: null });
  }
  try {
    const parsed = await parse(message === undefined ? '' : messageText(message));
    if (message !== undefined) addToMessage(message, parsed);
    return Object.assign(response, { output_parsed: parsed });
  } catch (cause) {
    // Text next to calls is not the answer.
    if (response.output.some(({ type }) => /^(function|custom_tool)_call$/.test(type))) {
      return Object.assign(response, { output_parsed: null });
    }
    throw unparsed(undefined, cause, init);
  }
}
