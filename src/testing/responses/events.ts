import type { JsonObject } from '../../types.ts';
import { list, record, text } from '../control/json.ts';
import type { EventRole, StreamEvent } from '../faults/stream-faults.ts';
import { splitTokens } from '../routes/usage.ts';

type Event = JsonObject & { readonly type: string };

/** Returns the events of a part with text. */
function partEvents(part: JsonObject, base: JsonObject, kind: string, stem: string): Event[] {
  const field = part['type'] === 'refusal' ? 'refusal' : 'text';
  const whole = text(part[field]) ?? '';
  const logprobs = stem === 'response.output_text' ? { logprobs: [] } : {};
  return [
    { type: `response.${kind}_part.added`, ...base, part: { ...part, [field]: '' } },
    ...splitTokens(whole).map((delta) => ({ type: `${stem}.delta`, ...base, delta, ...logprobs })),
    { type: `${stem}.done`, ...base, [field]: whole, ...logprobs },
    { type: `response.${kind}_part.done`, ...base, part },
  ];
}

/** Returns the events of arguments or of another text that belongs to the item itself. */
function textEvents(stem: string, base: JsonObject, field: string, value: unknown): Event[] {
  const whole = text(value) ?? '';
  const pieces = whole.match(/.{1,5}/gsu) ?? [];
  return [
    ...pieces.map((delta) => ({ type: `${stem}.delta`, ...base, delta })),
    { type: `${stem}.done`, ...base, [field]: whole },
  ];
}

function innerEvents(item: JsonObject, base: JsonObject): Event[] {
  switch (item['type']) {
    case 'message':
      return list(item['content'])
        .map(record)
        .flatMap((part, index) => {
          const stem = part['type'] === 'refusal' ? 'response.refusal' : 'response.output_text';
          return partEvents(part, { ...base, content_index: index }, 'content', stem);
        });
    case 'reasoning':
      return list(item['summary'])
        .map(record)
        .flatMap((part, index) => {
          const stem = 'response.reasoning_summary_text';
          return partEvents(part, { ...base, summary_index: index }, 'reasoning_summary', stem);
        });
    case 'function_call': {
      const { name, arguments: whole } = item;
      const stem = 'response.function_call_arguments';
      return textEvents(stem, { ...base, name }, 'arguments', whole);
    }
    case 'custom_tool_call':
      return textEvents('response.custom_tool_call_input', base, 'input', item['input']);
    default:
      return [];
  }
}

/** Returns an item before its content. */
function begin(item: JsonObject): JsonObject {
  switch (item['type']) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'reasoning':
      return { ...item, summary: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
    default:
      return { ...item, input: '' };
  }
}

/** Returns the events of a streamed response. */
export function responseEvents(response: JsonObject): StreamEvent[] {
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  const items = list(response['output']).map(record);
  const events: Event[] = [
    { type: 'response.created', response: { ...begun, incomplete_details: null } },
    { type: 'response.in_progress', response: { ...begun, incomplete_details: null } },
    ...items.flatMap((item, index) => [
      { type: 'response.output_item.added', output_index: index, item: begin(item) },
      ...innerEvents(item, { item_id: item['id'], output_index: index }),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: `response.${text(response['status']) ?? 'completed'}`, response },
  ];
  return events.map((event, position) => {
    const role: EventRole = position === events.length - 1 ? 'finish' : 'delta';
    return { role, event: event.type, data: { ...event, sequence_number: position } };
  });
}
