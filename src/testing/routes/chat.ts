import type { Quirks } from '../faults/quirks.ts';
import type { JsonObject } from '../../types.ts';
import { charge, type Call } from '../server/call.ts';
import {
  answerChat,
  createdField,
  messageBody,
  sentChoices,
  toLogprob,
  type ChatAnswer,
  type ChatChoice,
} from './chat-answer.ts';
import { readChat, type ChatRequest } from './chat-request.ts';
import { chatEvents, passedFields } from './chat-stream.ts';
import { relayed } from '../server/errors.ts';
import { eventResponse, plainDialect } from '../server/event-stream.ts';
import { present } from '../control/json.ts';
import { markers } from './prompts.ts';
import { findVendor } from '../control/models.ts';
import { chatUsage, isConverted } from './usage.ts';

function toLogprobs(
  { tokens }: ChatChoice,
  { vendor }: ChatAnswer,
  { logprobs, topLogprobs }: ChatRequest,
): JsonObject {
  if (logprobs)
    return { logprobs: { content: tokens.map((token) => toLogprob(token, topLogprobs)) } };
  return isConverted(vendor) ? {} : { logprobs: null };
}

function completionBody(answer: ChatAnswer, request: ChatRequest, quirks: Quirks): JsonObject {
  const choices = sentChoices(answer.choices, quirks).map((choice) => ({
    index: choice.index,
    message: messageBody(choice, answer, quirks),
    ...toLogprobs(choice, answer, request),
    finish_reason:
      quirks.chatFinishReason === null ? null : quirks.chatFinishReason || choice.finishReason,
  }));
  return present({
    id: answer.id,
    object: 'chat.completion',
    created: createdField(answer.created, quirks),
    model: answer.model,
    choices,
    usage:
      quirks.chatUsage === 'missing' ? undefined : chatUsage(answer.count, answer.vendor, quirks),
    ...(isConverted(answer.vendor) ? {} : passedFields),
  });
}

function wholeResponse(completion: unknown, { chatEnvelope }: Quirks): Response {
  if (chatEnvelope === 'data') return Response.json({ data: completion, success: true });
  if (chatEnvelope === 'plain') return Response.json(completion);
  const headers = { 'content-type': 'text/event-stream' };
  return new Response(`data:\n${JSON.stringify(completion)}\n\n`, { headers });
}

export function isStreamed({ fault, world }: Call, wanted: boolean): boolean {
  if (fault?.type === 'other-mode') return !wanted;
  const { chatMode } = world.quirks;
  return chatMode === 'as-asked' ? wanted : chatMode === 'always-events';
}

/** Creates the response to a chat request, in any format, and charges its tokens. */
export function chargeChat(
  call: Call,
  request: ChatRequest,
): { readonly answer: ChatAnswer; readonly amount: number } {
  const { quirks, ids, clock, models } = call.world;
  const { model } = request.question;
  const { modelAnswer } = call;
  const vendor = findVendor(models, model);
  const answer = answerChat(request, { vendor, ids, now: clock.now(), quirks, modelAnswer });
  const { prompt, completion } = answer.count;
  const amount = prompt + completion;
  charge(call, model, amount, { tokens: [prompt, completion] });
  return { answer, amount };
}

/** `POST /v1/chat/completions`. */
export function completeChat(call: Call, dialect = plainDialect): Response {
  const { quirks } = call.world;
  const request = readChat(call);
  const { answer } = chargeChat(call, request);
  const isBlocked = request.question.prompt.includes(markers.block);
  const asEvents = isStreamed(call, request.stream);
  if (isBlocked && !(asEvents && answer.vendor === 'google')) {
    const message = 'request blocked by Gemini API: PROHIBITED_CONTENT';
    throw relayed(400, { type: 'prompt_blocked', code: 'prompt_blocked', message });
  }
  if (asEvents && quirks.chatEnvelope !== 'empty-data') {
    return eventResponse(call, chatEvents(answer, request, quirks).flatMap(dialect.event));
  }
  const isEmpty = call.fault?.type === 'empty';
  const shown = isEmpty ? { ...answer, choices: [] } : answer;
  return wholeResponse(dialect.whole(completionBody(shown, request, quirks)), quirks);
}

export const chatHandlers = {
  'chat.completions.create': completeChat,
};
