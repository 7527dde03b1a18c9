import { defineHidden, errorMessage, isObject, listObjects } from '../../answers/objects.ts';
import type { CallInfo } from '../../calls/response.ts';
import { SchemaMismatch } from '../../structured/json.ts';
import { locateJSON, parseLocated, valueType } from '../../structured/locate-json.ts';
import {
  ContentFilterFinishReasonError,
  InvalidOutputError,
  LengthFinishReasonError,
} from '../chat/errors.ts';
import type { JsonObject } from '../../types.ts';
import { isRefusal, messageText } from './output.ts';
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

/** Returns the message with the answer; `undefined` if there is none, or if the model refused. */
function finalMessage({ output }: ModelResponse): JsonObject | undefined {
  const message = listObjects(output).findLast(
    (item) => item['phase'] !== 'commentary' && (messageText(item) !== '' || isRefusal(item)),
  );
  return message === undefined || isRefusal(message) ? undefined : message;
}

/** Adds the result where LangChain reads it. Not enumerable, so that the item can be sent back. */
function addToMessage(message: JsonObject, parsed: unknown): void {
  const part = listObjects(message['content']).find(({ type }) => type === 'output_text');
  if (part !== undefined) defineHidden(part, 'parsed', parsed);
}

/**
 * Parses and validates the text of the final message.
 *
 * @throws `OutputError` with the response if it is incomplete or does not match
 */
export async function parseOutput(
  response: ModelResponse,
  format: unknown,
  { callId, requestId, status }: CallInfo,
): Promise<ParsedResponse<unknown>> {
  const sent = { phase: 'body', status, requestId } as const;
  const init = { response, callId, evidence: { ...sent, attempts: [sent] } };
  if (response.status === 'incomplete') {
    const isFiltered = response.incomplete_details?.reason === 'content_filter';
    throw isFiltered ? new ContentFilterFinishReasonError(init) : new LengthFinishReasonError(init);
  }
  const parse = findParser(format);
  const message = parse && finalMessage(response);
  const isQueued = response.status === 'queued' || response.status === 'in_progress';
  if (parse === undefined || message === undefined || isQueued) {
    return Object.assign(response, { output_parsed: null });
  }
  try {
    const parsed = await parse(messageText(message));
    addToMessage(message, parsed);
    return Object.assign(response, { output_parsed: parsed });
  } catch (cause) {
    // Text next to calls is not the answer.
    if (response.output.some(({ type }) => /^(function|custom_tool)_call$/.test(type))) {
      return Object.assign(response, { output_parsed: null });
    }
    const issues = cause instanceof SchemaMismatch ? cause.issues : [];
    const problem = `The answer cannot be parsed: ${errorMessage(cause)}.`;
    throw new InvalidOutputError(problem, { ...init, issues, cause });
  }
}
