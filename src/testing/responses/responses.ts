import type { JsonObject } from '../../types.ts';
import type { ChatChoice } from '../routes/chat-answer.ts';
import { chargeChat, isStreamed } from '../routes/chat.ts';
import { costField, type Call } from '../server/call.ts';
import { eventResponse, plainDialect } from '../server/event-stream.ts';
import { responseEvents } from './events.ts';
import { responseUsage } from './failed.ts';
import { readResponseRequest, type ResponseRequest } from './request.ts';

/** Returns the items of a response. */
function outputItems(call: Call, choice: ChatChoice, request: ResponseRequest): JsonObject[] {
  const { ids } = call.world;
  const { thoughts, toolCalls, tokens, refusal, finishReason } = choice;
  const items: JsonObject[] = [];
  if (thoughts !== '') {
    items.push({
      id: ids.next('rs_', 24),
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: thoughts }],
      ...(request.includesReasoning && { encrypted_content: `sealed-${ids.next('', 24)}` }),
    });
  }
  for (const { id: callId, name, input } of toolCalls) {
    const isCustom = request.customTools.has(name);
    const json = JSON.stringify(input);
    items.push(
      isCustom
        ? { id: ids.next('ctc_', 24), type: 'custom_tool_call', call_id: callId, name, input: json }
        : {
            id: ids.next('fc_', 24),
            type: 'function_call',
            status: 'completed',
            call_id: callId,
            name,
            arguments: json,
          },
    );
  }
  const text = tokens.join('');
  if (text === '' && refusal === undefined) return items;
  const part =
    refusal === undefined
      ? { type: 'output_text', text, annotations: [], logprobs: [] }
      : { type: 'refusal', refusal };
  const isCut = finishReason === 'length' || finishReason === 'content_filter';
  items.push({
    id: ids.next('msg_', 24),
    type: 'message',
    status: isCut ? 'incomplete' : 'completed',
    role: 'assistant',
    content: [part],
  });
  return items;
}

const incompleteReasons: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

/** `POST /v1/responses`. */
export function createResponse(call: Call, dialect = plainDialect): Response {
  const { quirks, ids } = call.world;
  const request = readResponseRequest(call);
  const { chat, repeated, isBackground } = request;
  const { answer, amount } = chargeChat(call, chat);
  const { choices, count, created, model } = answer;
  const [choice] = choices;
  const reason = incompleteReasons[choice?.finishReason ?? ''];
  const isEmpty = choice === undefined || call.fault?.type === 'empty';
  const response: JsonObject = {
    id: ids.next('resp_', 32),
    object: 'response',
    created_at: created,
    status: reason === undefined ? 'completed' : 'incomplete',
    background: isBackground,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model,
    output: isEmpty ? [] : outputItems(call, choice, request),
    ...repeated,
    usage: { ...responseUsage(count), ...costField(amount, quirks) },
    user: null,
  };
  if (isBackground && !chat.stream) {
    return Response.json({ ...response, status: 'queued', output: [], usage: null });
  }
  if (isStreamed(call, chat.stream)) {
    return eventResponse(call, responseEvents(response).flatMap(dialect.event));
  }
  return Response.json(response);
}

export const responseHandlers = {
  'responses.create': createResponse,
};
