import type { JsonObject } from '../../types.ts';
import type { ChatChoice } from '../routes/chat-answer.ts';
import { chargeChat, isStreamed } from '../routes/chat.ts';
import { costField, type Call } from '../server/call.ts';
import { Refusal } from '../server/errors.ts';
import { eventResponse } from '../server/event-stream.ts';
import { messageEvents } from './events.ts';
import { readMessageRequest } from './request.ts';

/** Returns the blocks of a message. */
function contentBlocks(call: Call, choice: ChatChoice): JsonObject[] {
  const { ids } = call.world;
  const { thoughts, toolCalls, tokens, refusal } = choice;
  const blocks: JsonObject[] = [];
  if (thoughts !== '') {
    const signature = `sealed-${ids.next('', 24)}`;
    blocks.push({ type: 'thinking', thinking: thoughts, signature });
  }
  const text = refusal ?? tokens.join('');
  if (text !== '') blocks.push({ type: 'text', text });
  for (const { id, name, input } of toolCalls) {
    blocks.push({ type: 'tool_use', id: id.replace('call_', 'toolu_'), name, input });
  }
  return blocks;
}

const stopReasons: Readonly<Record<ChatChoice['finishReason'], string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

function answerMessage(call: Call): Response {
  const { quirks, ids } = call.world;
  const request = readMessageRequest(call);
  const { answer, amount } = chargeChat(call, request);
  const { choices, count, model } = answer;
  const [choice] = choices;
  const isEmpty = choice === undefined || call.fault?.type === 'empty';
  const reason =
    choice?.refusal === undefined ? stopReasons[choice?.finishReason ?? 'stop'] : 'refusal';
  const message: JsonObject = {
    id: ids.next('msg_', 24),
    type: 'message',
    role: 'assistant',
    model,
    content: isEmpty ? [] : contentBlocks(call, choice),
    stop_reason: reason,
    stop_sequence: null,
    usage: {
      input_tokens: count.prompt,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: count.completion,
      ...costField(amount, quirks),
    },
  };
  if (isStreamed(call, request.stream)) return eventResponse(call, messageEvents(message));
  return Response.json(message);
}

/** `POST /v1/messages`, in the format of Anthropic. */
export function createMessage(call: Call): Response {
  try {
    return answerMessage(call);
  } catch (error) {
    // Requests that reach no model are rejected before the format of the route is known.
    if (!(error instanceof Refusal) || error.envelope !== 'openai') throw error;
    throw new Refusal(error.status, 'anthropic', error.details);
  }
}

export const messageHandlers = {
  'messages.create': createMessage,
};
