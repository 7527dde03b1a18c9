import * as z from 'zod/mini';
import type {
  ChatCompletion,
  ChatCompletionAnnotation,
  ChatCompletionChoice,
  ChatCompletionMessage,
} from './types.ts';
import type { JsonObject } from '../types.ts';
import { isEmptyAnswer } from '../answers/error-body.ts';
import { dropNull, holdsSomething, isObject, objectsOf, repairItems } from '../answers/objects.ts';
import {
  choiceFields,
  fillArguments,
  headFields,
  messageFields,
  repairContent,
  repairFunction,
  repairHead,
  repairToolCall,
  repairUsage,
  toolCallShape,
  usageSchema,
} from './part-schemas.ts';
import type { Reader } from '../answers/reader.ts';
import {
  optionalList,
  optionalObject,
  optionalText,
  type ShapeOf,
  unread,
} from '../answers/shape-of.ts';

const annotationShape = {
  type: optionalText,
  url_citation: unread,
  file: unread,
} satisfies ShapeOf<ChatCompletionAnnotation>;

const messageShape = {
  role: z.optional(z.nullable(z.literal('assistant'))),
  ...messageFields,
  tool_calls: optionalList(z.looseObject(toolCallShape)),
  annotations: optionalList(z.looseObject(annotationShape)),
} satisfies ShapeOf<ChatCompletionMessage>;

const choiceShape = {
  ...choiceFields,
  message: optionalObject(messageShape),
} satisfies ShapeOf<ChatCompletionChoice>;

const completionShape = {
  ...headFields,
  choices: optionalList(z.looseObject(choiceShape)),
  usage: usageSchema,
} satisfies ShapeOf<Omit<ChatCompletion, '_request_id'>>;

function repairMessage(message: JsonObject): void {
  message['role'] ??= 'assistant';
  repairContent(message);
  message['content'] ??= null;
  message['refusal'] ??= null;
  dropNull(message, 'annotations');
  repairFunction(message['function_call']);
  fillArguments(message['function_call']);
  dropNull(message, 'tool_calls');
  if (message['tool_calls'] === undefined) return;
  repairItems(message, 'tool_calls', (call) => {
    call['id'] ??= '';
    repairToolCall(call);
    fillArguments(call['function']);
  });
}

/** Makes one choice of a whole completion complete. */
function repairChoice(choice: JsonObject, position: number): void {
  choice['index'] ??= position;
  choice['finish_reason'] ??= '';
  choice['logprobs'] ??= null;
  if (!isObject(choice['message'])) choice['message'] = {};
  if (isObject(choice['message'])) repairMessage(choice['message']);
}

/** Whether a choice holds anything, or says why it does not. */
function isChoice({ message, delta, text, finish_reason: reason }: JsonObject): boolean {
  const said = isObject(message) ? { ...message, role: undefined } : message;
  return [said, delta, text].some((part) => holdsSomething(part)) || isFinishReason(reason);
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
  const { choices, id, usage } = value;
  if (isEmptyAnswer(choices, value)) return holdsSomething(id) || isObject(usage);
  return objectsOf(choices).some(isChoice);
}

/** Reads a whole completion. */
export const chatCompletionReader: Reader<ChatCompletion> = {
  schema: z.looseObject(completionShape),
  answer: {
    name: 'whole completion',
    isIn: (value) => isCompletion(value) && !endsInError(value),
  },
  repair(value) {
    repairHead(value, 'chat.completion');
    repairItems(value, 'choices', repairChoice);
    dropNull(value, 'usage');
    repairUsage(value);
  },
};
