import type { JsonObject } from '../../types.ts';
import { list, record, text } from '../control/json.ts';
import type { EventRole, StreamEvent } from '../faults/stream-faults.ts';
import { splitTokens } from '../routes/usage.ts';

type Event = JsonObject & { readonly type: string };

/** Returns a block before its content. */
function begin(block: JsonObject): JsonObject {
  switch (block['type']) {
    case 'thinking':
      return { ...block, thinking: '', signature: '' };
    case 'tool_use':
      return { ...block, input: {} };
    default:
      return { ...block, text: '' };
  }
}

/** Returns the deltas of a block. */
function deltas(block: JsonObject): JsonObject[] {
  switch (block['type']) {
    case 'thinking':
      return [
        ...splitTokens(text(block['thinking']) ?? '').map((thinking) => ({
          type: 'thinking_delta',
          thinking,
        })),
        { type: 'signature_delta', signature: block['signature'] },
      ];
    case 'tool_use': {
      const pieces = JSON.stringify(block['input']).match(/.{1,5}/gsu) ?? [];
      return ['', ...pieces].map((json) => ({ type: 'input_json_delta', partial_json: json }));
    }
    default:
      return splitTokens(text(block['text']) ?? '').map((piece) => ({
        type: 'text_delta',
        text: piece,
      }));
  }
}

/** Returns the events of a streamed message. */
export function messageEvents(message: JsonObject): StreamEvent[] {
  const { content, usage, stop_reason: reason, stop_sequence: sequence } = message;
  const begun = { content: [], stop_reason: null, usage: { ...record(usage), output_tokens: 1 } };
  const blocks = list(content).map(record);
  const events: Event[] = [
    { type: 'message_start', message: { ...message, ...begun } },
    { type: 'ping' },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: begin(block) },
      ...deltas(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: sequence }, usage },
    { type: 'message_stop' },
  ];
  const roleOf = ({ type }: Event): EventRole =>
    type === 'message_delta' || type === 'message_stop' ? 'finish' : 'delta';
  return events.map((event) => ({ role: roleOf(event), event: event.type, data: event }));
}
