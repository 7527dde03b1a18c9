import * as z from 'zod/mini';
import type { ChatCompletionFunctionCall } from './messages.ts';
import type { ChatCompletionAudio, ChatCompletionLogprobs, CompletionUsage } from './types.ts';
import type { JsonObject } from '../types.ts';
import { dropNull, isObject, objectsOf } from '../answers/objects.ts';
import {
  optionalList,
  optionalNumber,
  optionalObject,
  optionalText,
  optionalTextOr,
  type ShapeOf,
  unread,
} from '../answers/shape-of.ts';

export const usageSchema = optionalObject({
  prompt_tokens: optionalNumber,
  completion_tokens: optionalNumber,
  total_tokens: optionalNumber,
  prompt_tokens_details: optionalObject({}),
  completion_tokens_details: optionalObject({}),
} satisfies ShapeOf<CompletionUsage>);

const logprobsSchema = optionalObject({
  content: optionalList(unread),
  refusal: optionalList(unread),
} satisfies ShapeOf<ChatCompletionLogprobs>);

const audioSchema = optionalObject({
  id: optionalText,
  data: optionalText,
  expires_at: optionalNumber,
  transcript: optionalText,
} satisfies ShapeOf<ChatCompletionAudio>);

/** Arguments are promised as JSON text; some providers send the object itself. */
const functionCallSchema = optionalObject({
  name: optionalText,
  arguments: optionalTextOr(isObject, 'string or object'),
} satisfies ShapeOf<ChatCompletionFunctionCall>);

/** The fields of both kinds of tool call, whose `type` is concluded from them when it is missing. */
interface ToolCallFields {
  id: string;
  type: 'function' | 'custom';
  function: ChatCompletionFunctionCall;
  custom: { name: string; input: string };
}

export const toolCallShape = {
  id: optionalText,
  type: unread,
  function: functionCallSchema,
  custom: optionalObject({ name: optionalText, input: optionalText }),
} satisfies ShapeOf<ToolCallFields>;

/** Text is promised; some providers send a list of typed parts. */
const contentSchema = optionalTextOr(Array.isArray, 'string or array');

/** Unix seconds; some gateways send them as text. */
export const timestampSchema = z.optional(
  z.nullable(z.union([z.number(), z.any().check(z.refine(isNumeric, 'number'))])),
);

function isNumeric(value: unknown): boolean {
  return typeof value === 'string' && Number.isFinite(Number(value));
}

/** The fields that a message and its pieces share. */
export const messageFields = {
  content: contentSchema,
  content_parts: unread,
  refusal: optionalText,
  reasoning_content: optionalText,
  reasoning: optionalText,
  audio: audioSchema,
  function_call: functionCallSchema,
};

/** The fields that a choice and its pieces share. */
export const choiceFields = {
  index: optionalNumber,
  finish_reason: optionalText,
  logprobs: logprobsSchema,
};

/** The fields that a completion and its chunks share. */
export const headFields = {
  id: optionalText,
  object: optionalText,
  created: timestampSchema,
  model: optionalText,
  service_tier: optionalText,
  system_fingerprint: optionalText,
  moderation: unread,
};

/** Fills the counts of a usage object that is there. */
export function repairUsage(owner: JsonObject): void {
  const { usage } = owner;
  if (!isObject(usage)) return;
  usage['prompt_tokens'] ??= 0;
  usage['completion_tokens'] ??= 0;
  usage['total_tokens'] ??= Number(usage['prompt_tokens']) + Number(usage['completion_tokens']);
  for (const key of ['prompt_tokens_details', 'completion_tokens_details']) {
    dropNull(usage, key);
    const details = usage[key];
    if (isObject(details)) dropNull(details, ...Object.keys(details));
  }
}

/** Fills the fields that a completion and its chunks share. */
export function repairHead(value: JsonObject, object: string): void {
  value['id'] ??= '';
  value['model'] ??= '';
  value['object'] ||= object;
  const { created } = value;
  if (typeof created !== 'number') value['created'] = isNumeric(created) ? Number(created) : 0;
  dropNull(value, 'system_fingerprint');
}

/**
 * Turns content in typed parts into text, and thinking parts into reasoning. The parts themselves
 * are kept as `content_parts`, as they can also hold images and the like.
 */
export function repairContent(message: JsonObject): void {
  const { content } = message;
  if (!Array.isArray(content)) return;
  const { text, thoughts } = textsOf(content);
  message['content_parts'] = content;
  message['content'] = text;
  if (thoughts !== null) message['reasoning_content'] ??= thoughts;
}

/** What content in typed parts says, and what was thought before; `null` where there is nothing. */
export function textsOf(content: readonly unknown[]): {
  readonly text: string | null;
  readonly thoughts: string | null;
} {
  const parts = objectsOf(content);
  return {
    text: joinTexts(parts.map((part) => part['text'])),
    thoughts: joinTexts(parts.map(thinkingOf)),
  };
}

/** Thinking comes as text or as a list of text parts. */
function thinkingOf({ thinking }: JsonObject): unknown {
  if (typeof thinking === 'string') return thinking;
  return joinTexts(objectsOf(thinking).map((part) => part['text']));
}

function joinTexts(values: readonly unknown[]): string | null {
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === 0 ? null : texts.join('');
}

/** Makes the arguments of a function call text, and says which kind of tool call it is. */
export function repairToolCall(call: JsonObject): void {
  if (call['type'] !== 'function' && call['type'] !== 'custom') {
    call['type'] = isObject(call['custom']) ? 'custom' : 'function';
  }
  repairFunction(call['function']);
}

/** Makes the arguments of a function text. */
export function repairFunction(call: unknown): void {
  if (!isObject(call)) return;
  if (isObject(call['arguments'])) call['arguments'] = JSON.stringify(call['arguments']);
}

/** Gives a whole call its arguments: for a function without any, many models write nothing. */
export function fillArguments(call: unknown): void {
  if (!isObject(call)) return;
  const { arguments: text } = call;
  if (typeof text !== 'string' || text.trim() === '') call['arguments'] = noArguments;
}

/** The arguments of a function that takes none, as JSON text. */
export const noArguments = '{}';
