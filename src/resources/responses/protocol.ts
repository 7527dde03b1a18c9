import { readResponseEventError, saysFailure } from '../../answers/failure.ts';
import { hasValue, isObject, listObjects, toFields } from '../../answers/objects.ts';
import { readValue } from '../../answers/reader.ts';
import { collectAs } from '../../streams/open-stream.ts';
import type { StreamProtocol } from '../../streams/protocol.ts';
import type { JsonObject } from '../../types.ts';
import { ResponseAccumulator } from './accumulator.ts';
import { isNamelessItem } from './output.ts';
import { eventSchema, isModelResponse, responseSchema } from './schema.ts';
import type { ResponseStreamEvent } from './types.ts';

/** Returns whether a JSON value is an event, as in a stream of lines. */
function isEvent(value: unknown): value is JsonObject {
  if (!isObject(value) || value['object'] === 'response') return false;
  return typeof value['type'] === 'string' && !saysFailure(value);
}

/** Events without content of the response. */
const emptyEvents = /^response\.(created|queued|in_progress|content_part\.added)$|^keepalive$/;

function hasContent(event: JsonObject): boolean {
  const { type, item, delta } = event;
  if (typeof type !== 'string' || emptyEvents.test(type)) return false;
  if (type === 'response.output_item.added') {
    return isObject(item) && item['type'] !== 'message' && item['type'] !== 'reasoning';
  }
  return !type.endsWith('.delta') || hasValue(delta);
}

/** Protocol of a streamed response, which ends with an event of its own. */
export const responseProtocol: StreamProtocol<ResponseStreamEvent> = {
  read: (value, check) => readValue(toEvent(value), eventSchema, check),
  follow: (keeps) => new ResponseAccumulator(keeps),
  readError: readResponseEventError,
  responseBeside: (value) => (isObject(value) ? value : undefined),
  endsAtProof: true,
  hasContent: (event) => isObject(event) && hasContent(event),
  fromResponse(value) {
    if (isEvent(value)) return [value];
    return isObject(value) && isModelResponse(value) ? toEvents(value) : [];
  },
  isPiece: (value) => isEvent(value) || listObjects(toFields(value)['output']).some(isNamelessItem),
};

/** Format of a response that is not streamed, but may arrive as a stream anyway. */
export const wholeResponse = {
  schema: responseSchema,
  fromEvents: collectAs(responseProtocol),
};

/** Converts a whole response, which some gateways send in place of its events, to the event that ends it. */
const toEvent = (value: unknown): unknown =>
  isObject(value) && value['object'] === 'response' && isModelResponse(value)
    ? toLastEvent(value)
    : value;

function toLastEvent(response: JsonObject): JsonObject {
  const { status = 'completed' } = response;
  const isOver = status === 'completed' || status === 'incomplete';
  return { type: isOver ? `response.${status}` : 'response.in_progress', response };
}

/** Converts a whole response to the events of a stream. */
function toEvents(response: JsonObject): readonly JsonObject[] {
  const output = listObjects(response['output']);
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const events = [
    { type: 'response.created', response: begun },
    ...output.flatMap(toItemEvents),
    toLastEvent(response),
  ];
  return events.map((event, position) => ({ ...event, sequence_number: position }));
}

function toItemEvents(item: JsonObject, index: number): JsonObject[] {
  const { type, id, content, arguments: args } = item;
  const base = { item_id: id, output_index: index };
  const parts = type === 'message' ? listObjects(content) : [];
  const isCall = type === 'function_call' && typeof args === 'string';
  const empty = isCall ? { arguments: '' } : { content: [] };
  const begun = isCall || type === 'message' ? { ...item, status: 'in_progress', ...empty } : item;
  return [
    { type: 'response.output_item.added', output_index: index, item: begun },
    ...parts.flatMap((part, position) => toPartEvents(part, { ...base, content_index: position })),
    ...(isCall
      ? [
          { type: 'response.function_call_arguments.delta', ...base, delta: args },
          { type: 'response.function_call_arguments.done', ...base, arguments: args },
        ]
      : []),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

function toPartEvents(part: JsonObject, base: JsonObject): JsonObject[] {
  const isRefusal = part['type'] === 'refusal';
  const field = isRefusal ? 'refusal' : 'text';
  const name = isRefusal ? 'response.refusal' : 'response.output_text';
  const { [field]: text } = part;
  if (typeof text !== 'string') return [];
  return [
    { type: 'response.content_part.added', ...base, part: { ...part, [field]: '' } },
    { type: `${name}.delta`, ...base, delta: text },
    { type: `${name}.done`, ...base, [field]: text },
    { type: 'response.content_part.done', ...base, part },
  ];
}
