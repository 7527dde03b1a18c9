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
import type { JsonObject } from '../types.ts';
import { isEmptyAnswer } from '../answers/error-body.ts';
import {
  fill,
  holdsSomething,
  isObject,
  normalizeItems,
  objectsOf,
  toNumber,
} from '../answers/objects.ts';
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

/** The fields that a message and its pieces share. */
const messageHead = {
  // Text is promised; some providers send a list of typed parts.
  content: 'string or array',
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
  tool_calls: [toolCall],
  annotations: [{ type: 'string', url_citation: 'any', file: 'any' }],
};

const choice: FieldsOf<ChatCompletionChoice> = { ...choiceHead, message };

/** Fills the fields that a completion and its chunks share, and the counts of the usage. */
function normalizeHead(value: JsonObject, object: string): void {
  fill(value, { id: '', model: '', system_fingerprint: undefined });
  value['object'] ||= object;
  toNumber(value, 'created');
  const { usage: counts } = value;
  if (!isObject(counts)) return;
  fill(counts, { prompt_tokens: 0, completion_tokens: 0 });
  counts['total_tokens'] ??= Number(counts['prompt_tokens']) + Number(counts['completion_tokens']);
  for (const key of ['prompt_tokens_details', 'completion_tokens_details']) {
    if (counts[key] === null) counts[key] = undefined;
    const details = counts[key];
    if (!isObject(details)) continue;
    for (const count in details) if (details[count] === null) details[count] = undefined;
  }
}

/**
 * Turns content in typed parts into text, and thinking parts into reasoning. The parts themselves
 * are kept as `content_parts`, as they can also hold images and the like.
 */
function normalizeContent(owner: JsonObject): void {
  const { content } = owner;
  if (!Array.isArray(content)) return;
  const { text, thoughts } = textsOf(content);
  owner['content_parts'] = content;
  owner['content'] = text;
  if (thoughts !== null) owner['reasoning_content'] ??= thoughts;
}

/** What content in typed parts says, and what was thought before; `null` where there is nothing. */
export function textsOf(content: readonly unknown[]): {
  readonly text: string | null;
  readonly thoughts: string | null;
} {
  const parts = objectsOf(content);
  return {
    text: joinTexts(parts.map(({ text }) => text)),
    thoughts: joinTexts(parts.map(thinkingOf)),
  };
}

/** Thinking comes as text or as a list of text parts. */
function thinkingOf({ thinking }: JsonObject): unknown {
  if (typeof thinking === 'string') return thinking;
  return joinTexts(objectsOf(thinking).map(({ text }) => text));
}

function joinTexts(values: readonly unknown[]): string | null {
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === 0 ? null : texts.join('');
}

/** The arguments of a function that takes none, as JSON text. */
export const noArguments = '{}';

/** Makes the arguments of a function text. */
function normalizeFunction(call: unknown): void {
  if (isObject(call) && isObject(call['arguments'])) {
    call['arguments'] = JSON.stringify(call['arguments']);
  }
}

/** The same for a whole call: for a function without arguments, many models write nothing. */
function normalizeWholeFunction(call: unknown): void {
  normalizeFunction(call);
  if (!isObject(call)) return;
  const { arguments: text } = call;
  if (typeof text !== 'string' || text.trim() === '') call['arguments'] = noArguments;
}

function normalizeToolCall(call: JsonObject): void {
  call['id'] ??= '';
  if (call['type'] !== 'function' && call['type'] !== 'custom') {
    call['type'] = isObject(call['custom']) ? 'custom' : 'function';
  }
  normalizeWholeFunction(call['function']);
}

function normalizeMessage(value: JsonObject): void {
  normalizeContent(value);
  normalizeWholeFunction(value['function_call']);
  fill(value, {
    role: 'assistant',
    content: null,
    refusal: null,
    annotations: undefined,
    tool_calls: undefined,
  });
  if (value['tool_calls'] !== undefined) normalizeItems(value, 'tool_calls', normalizeToolCall);
}

function normalizeChoice(value: JsonObject, position: number): void {
  fill(value, { index: position, finish_reason: '', logprobs: null });
  if (!isObject(value['message'])) value['message'] = {};
  if (isObject(value['message'])) normalizeMessage(value['message']);
}

/** Whether a choice holds anything, or says why it does not. */
function isChoice({ message: said, delta, text, finish_reason: reason }: JsonObject): boolean {
  const content = isObject(said) ? { ...said, role: undefined } : said;
  return [content, delta, text].some((part) => holdsSomething(part)) || isFinishReason(reason);
}

const isErrorReason = (reason: unknown): boolean =>
  typeof reason === 'string' && reason.toLowerCase() === 'error';

/** Whether a reason says that an answer is whole. An error is none, wherever providers put it. */
export function isFinishReason(reason: unknown): boolean {
  return typeof reason === 'string' && reason !== '' && !isErrorReason(reason);
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
  normalize(value) {
    normalizeHead(value, 'chat.completion');
    fill(value, { usage: undefined });
    normalizeItems(value, 'choices', normalizeChoice);
  },
};

const delta: FieldsOf<ChatCompletionChunkDelta> = {
  role: 'string',
  ...messageHead,
  tool_calls: [{ ...toolCall, index: 'number' }],
};

const chunkChoice: FieldsOf<ChatCompletionChunkChoice> = { ...choiceHead, delta };

/** Later pieces say less than the first: what is empty there means nothing. */
function normalizePiece(piece: JsonObject): void {
  normalizeIndex(piece);
  fill(piece, { id: undefined, function: undefined, custom: undefined });
  if (piece['type'] !== 'custom' && piece['type'] !== 'function') piece['type'] = undefined;
  const called = piece['function'];
  if (!isObject(called)) return;
  fill(called, { name: undefined, arguments: undefined });
  normalizeFunction(called);
}

function normalizeDelta(value: JsonObject): void {
  normalizeContent(value);
  fill(value, {
    role: undefined,
    tool_calls: undefined,
    audio: undefined,
    function_call: undefined,
  });
  if (value['role'] === '') value['role'] = undefined;
  normalizeFunction(value['function_call']);
  if (value['tool_calls'] !== undefined) normalizeItems(value, 'tool_calls', normalizePiece);
}

/** An index as text is the same as the number. */
function normalizeIndex(value: JsonObject): void {
  const { index } = value;
  if (typeof index === 'string' && /^\d+$/.test(index)) value['index'] = Number(index);
}

function normalizeChunkChoice(value: JsonObject, position: number): void {
  fill(value, { index: position, finish_reason: null });
  normalizeIndex(value);
  // Some providers put the whole message into the only chunk.
  const { delta: piece, message: whole } = value;
  if (isObject(piece)) normalizeDelta(piece);
  else normalizeDelta((value['delta'] = isObject(whole) ? whole : {}));
}

/**
 * One chunk of a streamed completion.
 *
 * What takes the other chunks to know (the id, the index of a tool call) is filled in by whoever
 * follows the stream.
 */
export const chatChunkSchema: ResponseSchema<ChatCompletionChunk> = {
  fields: { ...head, choices: [chunkChoice], usage } satisfies FieldsOf<ChatCompletionChunk>,
  normalize(value) {
    const choices = normalizeItems(value, 'choices', normalizeChunkChoice);
    // Some providers put the usage into the choice.
    if (!isObject(value['usage'])) value['usage'] = choices[0]?.['usage'] ?? value['usage'];
    normalizeHead(value, 'chat.completion.chunk');
  },
};
