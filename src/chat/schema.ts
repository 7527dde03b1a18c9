import type { JsonObject } from '../types.ts';
import { holdsSomething, isObject, objectsOf } from '../answers/objects.ts';
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
import { isErrorReason, isFinishReason, normalizeChunk, normalizeCompletion } from './normalize.ts';
import { isEmptyAnswer } from '../answers/error-body.ts';
import { type FieldsOf, numeric, type ResponseSchema } from '../answers/reader.ts';

/** The fields that a completion and its chunks share. */
const head = {
  id: 'string',
  object: 'string',
  created: numeric,
  model: 'string',
  service_tier: 'string',
  system_fingerprint: 'string',
  moderation: 'any',
} as const;

/** The token counts of a completion and of its chunks. */
const usage: FieldsOf<CompletionUsage> = {
  prompt_tokens: 'number',
  completion_tokens: 'number',
  total_tokens: 'number',
  prompt_tokens_details: 'object',
  completion_tokens_details: 'object',
};

/** The fields that a choice and its pieces share. */
const choiceHead = {
  index: 'number',
  finish_reason: 'string',
  logprobs: { content: 'array', refusal: 'array' } satisfies FieldsOf<ChatCompletionLogprobs>,
} as const;

/** Arguments are promised as JSON text; some providers send the object itself. */
const functionCall = {
  name: 'string',
  arguments: 'string or object',
} satisfies FieldsOf<ChatCompletionFunctionCall>;

/** The fields of both kinds of tool call. */
const toolCall = {
  id: 'string',
  type: 'any',
  function: functionCall,
  custom: { name: 'string', input: 'string' },
} as const;

/** Accepts text, and what JSON text may be parsed to. */
function textOrJSON(value: unknown): string | undefined {
  const isKnown = typeof value === 'string' || typeof value === 'object';
  return isKnown ? undefined : 'string, array or object';
}

/** The fields that a message and its pieces share. */
const messageHead = {
  // The types promise text. Some providers send a list of typed parts, others JSON that is parsed.
  content: textOrJSON,
  content_parts: 'any',
  refusal: 'string',
  reasoning_content: 'string',
  reasoning: 'string',
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

/** Whether a choice holds anything, or says why it does not. */
function isChoice({ message: said, delta, text, finish_reason: reason }: JsonObject): boolean {
  const content = isObject(said) ? { ...said, role: undefined } : said;
  return [content, delta, text].some((part) => holdsSomething(part)) || isFinishReason(reason);
}

/** Whether a completion was cut by an error of the provider, whatever had come of it. */
export function endsInError({ choices }: JsonObject): boolean {
  return objectsOf(choices).some(({ finish_reason: reason }) => isErrorReason(reason));
}

/** Whether there is anything of a completion. Providers that filter it all out leave an empty list. */
export function isCompletion(value: JsonObject): boolean {
  const { choices, id } = value;
  if (isEmptyAnswer(choices, value)) return holdsSomething(id) || isObject(value['usage']);
  return objectsOf(choices).some(isChoice);
}

/** A whole completion. */
export const chatCompletionSchema: ResponseSchema<ChatCompletion> = {
  fields: { ...head, choices: [choice], usage } satisfies FieldsOf<ChatCompletion>,
  answer: {
    name: 'whole completion',
    isIn: (value) => isCompletion(value) && !endsInError(value),
  },
  normalize: normalizeCompletion,
};

const delta: FieldsOf<ChatCompletionChunkDelta> = {
  role: 'string',
  ...messageHead,
  tool_calls: [{ ...toolCall, index: 'number' }],
};

const chunkChoice: FieldsOf<ChatCompletionChunkChoice> = { ...choiceHead, delta };

/** One chunk of a streamed completion. */
export const chatChunkSchema: ResponseSchema<ChatCompletionChunk> = {
  fields: { ...head, choices: [chunkChoice], usage } satisfies FieldsOf<ChatCompletionChunk>,
  normalize: normalizeChunk,
};
