import { charge, type Call } from './call.ts';
import { answerChat, logprobOf, type ChatAnswer, type ChatChoice } from './chat-answer.ts';
import { readChat, type ChatRequest } from './chat-request.ts';
import { chatEvents } from './chat-stream.ts';
import { createdField } from './created.ts';
import { refusal } from './errors.ts';
import { eventResponse } from './event-stream.ts';
import { present } from './json.ts';
import { markers } from './markers.ts';
import type { Quirks } from './quirks.ts';

function messageBody(choice: ChatChoice, quirks: Quirks): unknown {
  const { thoughts, toolCalls, refusal: refused } = choice;
  const answer = choice.tokens.join('');
  const isTagged = quirks.chatReasoning === 'think-tags' && thoughts !== '';
  const whole = isTagged ? `<think>${thoughts}</think>${answer}` : answer;
  const parts = quirks.chatContent === 'parts' ? [{ type: 'text', text: whole }] : whole;
  return present({
    role: 'assistant',
    content: whole === '' && (toolCalls.length > 0 || refused !== undefined) ? null : parts,
    refusal: refused,
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

function completionBody(answer: ChatAnswer, request: ChatRequest, quirks: Quirks): unknown {
  const choices = answer.choices.map((choice) => ({
    index: choice.index,
    message: messageBody(choice, quirks),
    logprobs: request.logprobs
      ? { content: choice.tokens.map((token) => logprobOf(token, request.topLogprobs)) }
      : null,
    finish_reason: choice.finishReason,
  }));
  return present({
    id: answer.id,
    object: 'chat.completion',
    created: createdField(answer.created, quirks),
    model: answer.model,
    choices,
    usage: quirks.chatUsage === 'missing' ? undefined : answer.usage,
  });
}

function isStreamed({ fault, world }: Call, wanted: boolean): boolean {
  if (fault?.type === 'other-mode') return !wanted;
  const { chatMode } = world.quirks;
  return chatMode === 'as-asked' ? wanted : chatMode === 'always-events';
}

/** `POST /v1/chat/completions`. */
export function completeChat(call: Call): Response {
  const { quirks, ids, clock } = call.world;
  const request = readChat(call);
  const { model, prompt } = request.question;
  const toolCount = quirks.chatToolCallCount;
  const answer = answerChat(request, { ids, now: clock.now(), toolCount });
  charge(call, model, answer.usage.total_tokens);
  if (prompt.includes(markers.block)) {
    throw refusal(400, 'prompt_blocked', 'request blocked by the provider: SAFETY');
  }
  if (isStreamed(call, request.stream))
    return eventResponse(call, chatEvents(answer, request, quirks));
  const isEmpty = call.fault?.type === 'empty';
  return Response.json(
    completionBody(isEmpty ? { ...answer, choices: [] } : answer, request, quirks),
  );
}
