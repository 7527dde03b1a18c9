import type { JsonObject } from '../../types.ts';
import { isErrorReason, isFinishReason } from '../../answers/finish-reasons.ts';
import { namelessCall } from '../../structured/calls.ts';
import { hasValue, isObject, listObjects, toFields } from '../../answers/objects.ts';
import type { ChatCompletionFunctionCall } from './params.ts';
import type {
  ChatCompletion,
  ChatCompletionAudio,
  ChatCompletionChoice,
  ChatCompletionLogprobs,
  ChatCompletionMessage,
  CompletionUsage,
  ChatCompletionChunk,
  ChatCompletionChunkChoice,
  ChatCompletionChunkDelta,
} from './types.ts';
import {
  hasNamelessCall,
  normalizeChunk,
  normalizeCompletion,
  normalizeOneCompletion,
} from './normalize.ts';
import { isEmptyResult } from '../../answers/failure.ts';
import { type FieldsOf, numeric, type ResponseSchema } from '../../answers/reader.ts';

/** Fields shared by completions and chunks. */
const head = {
  id: 'string',
  object: 'string',
  created: numeric,
  model: 'string',
  service_tier: 'string',
  system_fingerprint: 'string',
  moderation: 'any',
  metadata: 'any',
  obfuscation: 'any',
} as const;

/** Token usage of completions and chunks. */
const usage: FieldsOf<CompletionUsage> = {
  prompt_tokens: 'number',
  completion_tokens: 'number',
  total_tokens: 'number',
  prompt_tokens_details: 'object',
  completion_tokens_details: 'object',
  // Vendors behind a gateway may send other types.
  cost: 'any',
  cost_details: 'any',
  is_byok: 'any',
};

/** Fields shared by choices and their pieces. */
const choiceHead = {
  index: 'number',
  finish_reason: 'string',
  logprobs: {
    content: 'array',
    refusal: 'array',
    reasoning_content: 'array',
  } satisfies FieldsOf<ChatCompletionLogprobs>,
} as const;

/** Arguments are JSON text; some providers send the object itself. */
const functionCall = {
  name: 'string',
  arguments: 'string or object',
} satisfies FieldsOf<ChatCompletionFunctionCall>;

/** Fields of both kinds of tool call. */
const toolCall = {
  id: 'string',
  type: 'any',
  function: functionCall,
  custom: { name: 'string', input: 'string' },
} as const;

/** Accepts text and parsed JSON. */
function textOrJSON(value: unknown): string | undefined {
  const isKnown = typeof value === 'string' || typeof value === 'object';
  return isKnown ? undefined : 'string, array or object';
}

/** Fields shared by messages and their pieces. */
const messageHead = {
  // Text according to the types. Some providers send a list of typed parts, others parsed JSON.
  content: textOrJSON,
  content_parts: 'any',
  refusal: 'string',
  reasoning_content: 'string',
  reasoning: 'string',
  reasoning_details: 'array',
  images: 'array',
  audio: {
    id: 'string',
    data: 'string',
    expires_at: 'number',
    transcript: 'string',
  } satisfies FieldsOf<ChatCompletionAudio>,
  function_call: functionCall,
} as const;

const message: FieldsOf<ChatCompletionMessage> = {
  role: (value) => (value === 'assistant' ? undefined : 'assistant'),
  ...messageHead,
  tool_calls: [{ ...toolCall, incomplete: 'any' }],
  annotations: [{ type: 'string', url_citation: 'any', file: 'any' }],
};

const choice: FieldsOf<ChatCompletionChoice> = { ...choiceHead, message };

/** Returns whether a choice has content or a finish reason. */
function isChoice({ message: inner, delta, text, finish_reason: reason }: JsonObject): boolean {
  const content = isObject(inner) ? { ...inner, role: undefined } : inner;
  return [content, delta, text].some((part) => hasValue(part)) || isFinishReason(reason);
}

/** Returns whether an error of the provider cut the completion, whatever it contains. */
export function endsInError({ choices }: JsonObject): boolean {
  return listObjects(choices).some(
    ({ finish_reason: reason, message: inner }) =>
      isErrorReason(reason) || hasNamelessCall(toFields(inner)),
  );
}

/**
 * Returns whether a value is a completion. Providers that filter all content send an empty list of choices.
 */
export function isCompletion(value: JsonObject): boolean {
  const { choices, id } = value;
  if (isEmptyResult(choices, value)) return hasValue(id) || isObject(value['usage']);
  return listObjects(choices).some(isChoice);
}

export const chatCompletionSchema: ResponseSchema<ChatCompletion> = {
  fields: { ...head, choices: [choice], usage } satisfies FieldsOf<ChatCompletion>,
  result: {
    name: 'whole completion',
    isIn: (value) =>
      isCompletion(value) &&
      !listObjects(value['choices']).some(({ finish_reason: reason }) => isErrorReason(reason)),
  },
  normalize: normalizeCompletion,
  fault: ({ choices }) =>
    choices.some(({ message: inner }) => hasNamelessCall(toFields(inner)))
      ? { problem: namelessCall }
      : undefined,
};

/** A complete completion of a request for one choice. */
export const oneCompletionSchema: ResponseSchema<ChatCompletion> = {
  ...chatCompletionSchema,
  normalize: normalizeOneCompletion,
};

const delta: FieldsOf<ChatCompletionChunkDelta> = {
  role: 'string',
  ...messageHead,
  tool_calls: [{ ...toolCall, index: 'number' }],
};

const chunkChoice: FieldsOf<ChatCompletionChunkChoice> = { ...choiceHead, delta };

export const chatChunkSchema: ResponseSchema<ChatCompletionChunk> = {
  fields: { ...head, choices: [chunkChoice], usage } satisfies FieldsOf<ChatCompletionChunk>,
  normalize: normalizeChunk,
};
