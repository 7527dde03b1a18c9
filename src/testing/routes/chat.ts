import type { Quirks } from '../faults/quirks.ts';
import type { JsonObject } from '../../types.ts';
import { charge, type Call } from '../server/call.ts';
import {
  answerChat,
  createdField,
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

function messageBody(choice: ChatChoice, { vendor }: ChatAnswer, quirks: Quirks): unknown {
  const { thoughts, toolCalls, refusal: refused } = choice;
  // Gemini withholds the whole filtered answer, so the gateway has no text.
  const isWithheld = vendor === 'google' && choice.finishReason === 'content_filter';
  const answer = isWithheld ? '' : choice.tokens.join('');
  const isTagged = quirks.chatReasoning === 'think-tags' && thoughts !== '';
  const whole = isTagged ? `<think>${thoughts}</think>${answer}` : answer;
  const parts = quirks.chatContent === 'parts' ? [{ type: 'text', text: whole }] : whole;
  return present({
    role: 'assistant',
    content: whole === '' && (toolCalls.length > 0 || refused !== undefined) ? null : parts,
    ...(isConverted(vendor) ? {} : { refusal: refused ?? null, annotations: [] }),
    [isTagged ? 'reasoning' : quirks.chatReasoning]:
      thoughts === '' || isTagged ? undefined : thoughts,
    tool_calls:
      toolCalls.length === 0
        ? undefined
        : toolCalls.map(({ id, name, input }) => ({
            id,
            type: 'function',
            function: {
              name,
              arguments: quirks.chatToolCalls === 'object' ? input : JSON.stringify(input),
            },
          })),
  });
}

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
  const choices = answer.choices.map((choice) => ({
    index: choice.index,
    message: messageBody(choice, answer, quirks),
    ...toLogprobs(choice, answer, request),
    finish_reason: choice.finishReason,
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

export function isStreamed({ fault, world }: Call, wanted: boolean): boolean {
  if (fault?.type === 'other-mode') return !wanted;
  const { chatMode } = world.quirks;
  return chatMode === 'as-asked' ? wanted : chatMode === 'always-events';
}

/** `POST /v1/chat/completions`. */
export function completeChat(call: Call, dialect = plainDialect): Response {
  const { quirks, ids, clock, models } = call.world;
  const request = readChat(call);
  const { model, prompt } = request.question;
  const toolCount = quirks.chatToolCallCount;
  const vendor = findVendor(models, model);
  const { modelAnswer } = call;
  const context = { vendor, ids, now: clock.now(), toolCount, modelAnswer };
  const answer = answerChat(request, context);
  const { count } = answer;
  charge(call, model, count.prompt + count.completion, {
    tokens: [count.prompt, count.completion],
  });
  const isBlocked = prompt.includes(markers.block);
  const asEvents = isStreamed(call, request.stream);
  if (isBlocked && !(asEvents && vendor === 'google')) {
    const message = 'request blocked by Gemini API: PROHIBITED_CONTENT';
    throw relayed(400, { type: 'prompt_blocked', code: 'prompt_blocked', message });
  }
  if (asEvents) {
    return eventResponse(call, chatEvents(answer, request, quirks).flatMap(dialect.event));
  }
  const isEmpty = call.fault?.type === 'empty';
  const shown = isEmpty ? { ...answer, choices: [] } : answer;
  return Response.json(dialect.whole(completionBody(shown, request, quirks)));
}
