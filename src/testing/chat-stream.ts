import type { JsonObject } from '../types/common.ts';
import { logprobOf, type ChatAnswer, type ChatChoice, type ToolCall } from './chat-answer.ts';
import type { ChatRequest } from './chat-request.ts';
import { createdField } from './created.ts';
import { present } from './json.ts';
import type { Quirks } from './quirks.ts';
import { doneEvent, type EventRole, type StreamEvent } from './stream-events.ts';
import { tokensOf } from './tokens.ts';

type Delta = JsonObject;

function toolDeltas({ id, name, input }: ToolCall, position: number, quirks: Quirks): Delta[] {
  const style = quirks.chatToolCalls;
  const index = style === 'no-index' ? undefined : position + (style === 'from-one' ? 1 : 0);
  const json = JSON.stringify(input);
  const delta = (call: JsonObject): Delta => ({ tool_calls: [present({ index, ...call })] });
  if (style === 'whole' || style === 'object') {
    const whole = style === 'object' ? input : json;
    return [delta({ id, type: 'function', function: { name, arguments: whole } })];
  }
  const pieces = json.match(/.{1,5}/gsu) ?? [];
  const first = delta({ id, type: 'function', function: { name, arguments: '' } });
  const repeated = style === 'empty-names' ? { id: '', type: null } : {};
  // Without an index only the id says which call a piece belongs to.
  const named = style === 'no-index' ? { id } : repeated;
  const rest = pieces.map((piece) =>
    delta({
      ...named,
      function: present({ name: style === 'empty-names' ? '' : undefined, arguments: piece }),
    }),
  );
  return [first, ...rest];
}

function textDelta(text: string, quirks: Quirks): Delta {
  return { content: quirks.chatContent === 'parts' ? [{ type: 'text', text }] : text };
}

function thoughtDeltas(thoughts: string, quirks: Quirks): Delta[] {
  const tokens = tokensOf(thoughts);
  if (tokens.length === 0) return [];
  if (quirks.chatReasoning === 'think-tags') {
    return ['<think>', ...tokens, '</think>'].map((token) => textDelta(token, quirks));
  }
  if (quirks.chatContent === 'parts') {
    return tokens.map((text) => ({
      content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }],
    }));
  }
  const field = quirks.chatReasoning;
  return tokens.map((token) => ({ content: null, [field]: token }));
}

interface ChoiceDelta {
  readonly delta: Delta;
  readonly token?: string | undefined;
}

function choiceDeltas(choice: ChatChoice, quirks: Quirks): ChoiceDelta[] {
  const plain = [
    { role: 'assistant', content: '' },
    ...thoughtDeltas(choice.thoughts, quirks),
    ...(choice.refusal === undefined
      ? []
      : tokensOf(choice.refusal).map((refusal) => ({ refusal }))),
    ...choice.toolCalls.flatMap((call, position) => toolDeltas(call, position, quirks)),
  ];
  return [
    ...plain.map((delta) => ({ delta })),
    ...choice.tokens.map((token) => ({ delta: textDelta(token, quirks), token })),
  ];
}

/** The chunks of a streamed chat answer, in order. */
export function chatEvents(
  answer: ChatAnswer,
  request: ChatRequest,
  quirks: Quirks,
): StreamEvent[] {
  const { usage } = answer;
  const base = {
    id: answer.id,
    object: 'chat.completion.chunk',
    created: createdField(answer.created, quirks),
    model: answer.model,
  };
  const events: StreamEvent[] = [];
  const add = (role: EventRole, fields: JsonObject): void => {
    const head = quirks.chatBareChunks && events.length > 0 ? {} : base;
    events.push({ role, data: present({ ...head, ...fields }) });
  };
  const noChoices = quirks.chatNullChoices ? null : [];
  if (quirks.chatEmptyFirstChunk) {
    const empty = { id: '', object: '', created: 0, model: '' };
    add('delta', { ...empty, choices: noChoices, prompt_filter_results: [] });
  }
  for (const choice of answer.choices) {
    for (const { delta, token } of choiceDeltas(choice, quirks)) {
      const isKnown = request.logprobs && token !== undefined;
      const logprobs = isKnown ? { content: [logprobOf(token, request.topLogprobs)] } : undefined;
      const index = choice.index;
      add('delta', { choices: [present({ index, delta, logprobs, finish_reason: null })] });
    }
  }
  const onFinish = quirks.chatUsage === 'finish-chunk' || quirks.chatUsage === 'both';
  for (const { index, finishReason } of answer.choices) {
    // The gateway swallows a last chunk with usage and no text when usage is not wanted.
    if (onFinish && !request.includeUsage) continue;
    const inChoice = quirks.chatUsage === 'in-choice' ? usage : undefined;
    const choice = present({ index, delta: {}, finish_reason: finishReason, usage: inChoice });
    const finish = { choices: [choice], usage: onFinish ? usage : undefined };
    add('finish', finish);
    if (quirks.chatFinishTwice) add('finish', finish);
  }
  const atEnd = quirks.chatUsage === 'last-chunk' || quirks.chatUsage === 'both';
  if (atEnd && request.includeUsage) add('usage', { choices: noChoices, usage });
  if (quirks.chatDone) events.push(doneEvent);
  return events;
}
