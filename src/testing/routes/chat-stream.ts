import { parseJSON } from '../../answers/objects.ts';
import type { JsonObject } from '../../types.ts';
import {
  createdField,
  messageBody,
  toLogprob,
  type ChatAnswer,
  type ChatChoice,
  type SentCall,
  sentCalls,
  sentChoices,
  thinkingBlock,
  thinkingSignature,
} from './chat-answer.ts';
import type { ChatRequest } from './chat-request.ts';
import { present } from '../control/json.ts';
import { markers } from './prompts.ts';
import type { Vendor } from '../control/models.ts';
import type { Quirks } from '../faults/quirks.ts';
import { doneEvent, type EventRole, type StreamEvent } from '../faults/stream-faults.ts';
import { splitTokens, chatUsage, gatewayUsage, isConverted } from './usage.ts';

type Delta = JsonObject;

function callIndex(style: Quirks['chatToolCalls'], position: number): number | undefined {
  if (style === 'no-index') return undefined;
  if (style === 'shared-index') return 0;
  if (style === 'negative-index') return -1;
  return position + (style === 'from-one' ? 1 : 0);
}

function toolDeltas({ id, name, json }: SentCall, position: number, quirks: Quirks): Delta[] {
  const style = quirks.chatToolCalls;
  const index = callIndex(style, position);
  const delta = (call: JsonObject): Delta => ({ tool_calls: [present({ index, ...call })] });
  if (style === 'whole' || style === 'object') {
    const whole = style === 'object' ? parseJSON(json) : json;
    return [delta({ id, type: 'function', function: { name, arguments: whole } })];
  }
  if (style === 'unwrapped') {
    return [delta({ id, type: 'function', name, arguments: '' }), delta({ arguments: json })];
  }
  const split = json.match(/.{1,5}/gsu) ?? [];
  const pieces =
    style === 'cumulative' ? split.map((_, end) => split.slice(0, end + 1).join('')) : split;
  if (style === 'repeated') pieces.push(json);
  if (style === 'bracket') pieces.splice(0, pieces.length, '{', json);
  const first = delta({
    id: style === 'shared-index' ? '' : id,
    type: 'function',
    function: { name: style === 'nameless' ? '' : name, arguments: '' },
  });
  const repeated = style === 'empty-names' ? { id: '', type: null } : {};
  // Without an index, only the id identifies the call of a delta.
  const named = style === 'no-index' ? { id } : repeated;
  const rest = pieces.map((piece) =>
    delta({
      ...named,
      ...(style === 'halves' && { index: position + 1 }),
      function: present({ name: style === 'empty-names' ? '' : undefined, arguments: piece }),
    }),
  );
  return [first, ...rest];
}

function textDelta(text: string, quirks: Quirks): Delta {
  return { content: quirks.chatContent === 'parts' ? [{ type: 'text', text }] : text };
}

function thoughtDeltas(thoughts: string, quirks: Quirks): Delta[] {
  const tokens = splitTokens(thoughts);
  if (tokens.length === 0) return [];
  if (quirks.chatReasoning === 'think-tags') {
    return ['<think>', ...tokens, '</think>'].map((token) => textDelta(token, quirks));
  }
  if (quirks.chatReasoning === 'thinking_blocks') {
    const pieces = tokens.map((token) => thinkingBlock(token, ''));
    const whole = thinkingBlock(thoughts, thinkingSignature);
    return [...pieces, whole].map((block) => ({ content: null, thinking_blocks: [block] }));
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

function firstDeltas(vendor: Vendor | undefined): Delta[] {
  const first = { role: 'assistant', content: '' };
  if (vendor === 'anthropic') return [first, { content: '' }];
  return [isConverted(vendor) ? first : { ...first, refusal: null }];
}

function choiceDeltas(
  choice: ChatChoice,
  vendor: Vendor | undefined,
  quirks: Quirks,
): ChoiceDelta[] {
  const plain = [
    ...firstDeltas(vendor),
    ...thoughtDeltas(choice.thoughts, quirks),
    ...(choice.refusal === undefined
      ? []
      : splitTokens(choice.refusal).map((refusal) => ({ refusal }))),
    ...sentCalls(choice, quirks).flatMap((call, position) => toolDeltas(call, position, quirks)),
  ];
  return [
    ...plain.map((delta) => ({ delta })),
    ...choice.tokens.map((token) => ({ delta: textDelta(token, quirks), token })),
  ];
}

/** Additional fields of OpenAI's responses, which the gateway passes on. */
export const passedFields = { service_tier: 'default', system_fingerprint: 'fp_emulator' };

/** Returns the chunks of a streamed chat response. */
export function chatEvents(
  answer: ChatAnswer,
  request: ChatRequest,
  quirks: Quirks,
): StreamEvent[] {
  const { vendor, count } = answer;
  const isPassed = !isConverted(vendor);
  const plain = {
    id: answer.id,
    object: 'chat.completion.chunk',
    created: createdField(answer.created, quirks),
    model: answer.model,
  };
  const base = isPassed ? { ...plain, ...passedFields } : { ...plain, system_fingerprint: null };
  const last = isPassed ? { obfuscation: 'a1b2c3' } : {};
  const events: StreamEvent[] = [];
  const add = (role: EventRole, fields: JsonObject): void => {
    const head = quirks.chatBareChunks && events.length > 0 ? {} : base;
    events.push({ role, data: present({ ...head, usage: null, ...fields, ...last }) });
  };
  const noChoices = quirks.chatNullChoices ? null : [];
  if (quirks.chatEmptyFirstChunk) {
    const empty = { id: '', object: '', created: 0, model: '' };
    add('delta', { ...empty, choices: noChoices, prompt_filter_results: [] });
  }
  const isBlocked = vendor === 'google' && request.question.prompt.includes(markers.block);
  const choices = isBlocked ? [] : sentChoices(answer.choices, quirks);
  const noReason = quirks.chatFinishReason === 'null' ? 'null' : null;
  const otherReason = noReason === null ? quirks.chatFinishReason : null;
  if (isBlocked) {
    const blank = {
      delta: { role: 'assistant', content: '' },
      logprobs: null,
      finish_reason: null,
    };
    add('delta', { choices: [{ index: 0, ...blank }] });
    add('delta', { choices: noChoices });
  }
  // Gemini reports a filter with its last text, from which the gateway creates one chunk.
  const endsInText = ({ finishReason }: ChatChoice): boolean =>
    vendor === 'google' && finishReason === 'content_filter';
  for (const choice of choices) {
    const deltas = choiceDeltas(choice, vendor, quirks);
    for (const [position, { delta, token }] of deltas.entries()) {
      const isKnown = request.logprobs && token !== undefined;
      const logprobs = isKnown ? { content: [toLogprob(token, request.topLogprobs)] } : null;
      const isEnd = endsInText(choice) && position === deltas.length - 1;
      const { index, finishReason } = choice;
      const finish_reason = isEnd ? finishReason : noReason;
      add(isEnd ? 'finish' : 'delta', { choices: [{ index, delta, logprobs, finish_reason }] });
    }
  }
  if (quirks.chatHollowCall) {
    for (const { index, toolCalls } of choices) {
      const hollow = { index: toolCalls.length, id: '', function: { name: '', arguments: '' } };
      add('delta', { choices: [{ index, delta: { tool_calls: [hollow] }, finish_reason: null }] });
    }
  }
  const usage = chatUsage(count, vendor, quirks);
  const onFinish = quirks.chatUsage === 'finish-chunk' || quirks.chatUsage === 'both';
  for (const { index, finishReason } of choices.filter((choice) => !endsInText(choice))) {
    // The gateway drops a last chunk with usage and without text if usage was not requested.
    if (onFinish && !request.includeUsage) continue;
    const inChoice = quirks.chatUsage === 'in-choice' ? usage : undefined;
    const finish_reason = otherReason || finishReason;
    const end = { index, delta: {}, logprobs: null, finish_reason, usage: inChoice };
    const finish = { choices: [present(end)], usage: onFinish ? usage : null };
    add('finish', finish);
    if (quirks.chatFinishTwice) add('finish', finish);
  }
  if (quirks.chatMessageAtEnd) {
    for (const choice of choices) {
      const { index, finishReason } = choice;
      const message = messageBody(choice, answer, quirks);
      const end = { index, message, finish_reason: otherReason || finishReason };
      add('finish', { object: 'chat.completion', choices: [end] });
    }
  }
  const fingerprint = vendor === 'google' ? '' : base.system_fingerprint;
  const counted = { ...plain, system_fingerprint: fingerprint, choices: noChoices };
  const atEnd = /^(last-chunk|both|emptied)$/.test(quirks.chatUsage);
  if (atEnd && request.includeUsage) {
    if (isPassed) add('usage', { choices: noChoices, usage });
    else events.push({ role: 'usage', data: { ...counted, usage } });
  }
  if (request.includeUsage) {
    events.push({ role: 'count', data: { ...counted, usage: gatewayUsage(count, vendor) } });
    if (quirks.chatUsage === 'emptied') add('count', { choices: noChoices, usage: {} });
  }
  if (quirks.chatDone) events.push(doneEvent);
  return events;
}
