import * as z from 'zod/mini';
import type { JsonObject } from '../types/common.ts';
import type { GenerateContentResponse } from '../types/generate.ts';
import { holdsSomething, isObject, objectsOf } from './objects.ts';
import {
  candidateShape,
  contentShape,
  fileDataShape,
  functionCallShape,
  functionResponseShape,
  inlineDataShape,
  partialArgShape,
  partShape,
  promptFeedbackShape,
  responseShape,
  usageMetadataShape,
} from './generate-shapes.ts';
import { withHelpers } from './generate-helpers.ts';
import type { Reader } from './reader.ts';

/** Makes one kind of object canonical in place. */
type Normalise = (value: JsonObject) => void;

function toSnakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Makes a function that renames the known keys of an object that come in snake case, which some
 * proxies write, and makes `null` missing, which converting gateways write for what they do not have.
 */
function normaliser(shape: object): Normalise {
  const known = Object.keys(shape);
  const names = new Map(known.map((key) => [toSnakeCase(key), key]));
  const fields = new Set(known);
  return (value) => {
    for (const key in value) {
      const name = names.get(key);
      if (name !== undefined && name !== key) {
        value[name] ??= value[key];
        delete value[key];
      }
      const field = name ?? key;
      if (value[field] === null && fields.has(field)) value[field] = undefined;
    }
  };
}

const normaliseResponse = normaliser(responseShape);
const normaliseCandidate = normaliser(candidateShape);
const normaliseContent = normaliser(contentShape);
const normalisePart = normaliser(partShape);
const normaliseFunctionCall = normaliser(functionCallShape);
const normalisePartialArg = normaliser(partialArgShape);
const normaliseFeedback = normaliser(promptFeedbackShape);
const normaliseUsage = normaliser(usageMetadataShape);

const dataOfPart = [
  ['inlineData', normaliser(inlineDataShape)],
  ['fileData', normaliser(fileDataShape)],
  ['functionResponse', normaliser(functionResponseShape)],
] as const;

function repairPart(part: JsonObject): void {
  normalisePart(part);
  for (const [key, normalise] of dataOfPart) {
    const data = part[key];
    if (isObject(data)) normalise(data);
  }
  const { functionCall: call } = part;
  if (!isObject(call)) return;
  normaliseFunctionCall(call);
  if (call['partialArgs'] === undefined) return;
  const pieces = objectsOf(call['partialArgs']);
  pieces.forEach(normalisePartialArg);
  call['partialArgs'] = pieces;
}

function repairCandidate(candidate: JsonObject): void {
  normaliseCandidate(candidate);
  const { content } = candidate;
  if (!isObject(content)) return;
  normaliseContent(content);
  if (content['parts'] === undefined) return;
  const parts = objectsOf(content['parts']);
  parts.forEach(repairPart);
  content['parts'] = parts;
}

/** Whether there is anything of a generation, or a word on why there is not. */
export function isGeneration(value: JsonObject): boolean {
  const { candidates, promptFeedback, prompt_feedback: feedback = promptFeedback } = value;
  if (holdsSomething(feedback)) return true;
  return objectsOf(candidates).some(({ content, finishReason, finish_reason: reason }) => {
    const parts = isObject(content) ? content['parts'] : undefined;
    return [parts, finishReason, reason].some((part) => holdsSomething(part));
  });
}

/** Reads a response of content generation, and one piece of a streamed one. */
export const generateContentReader: Reader<GenerateContentResponse> = {
  schema: z.looseObject(responseShape),
  answer: { name: 'generation', isIn: isGeneration },
  repair(value) {
    normaliseResponse(value);
    const { candidates, promptFeedback, usageMetadata } = value;
    if (candidates !== undefined) {
      const list = objectsOf(candidates);
      list.forEach(repairCandidate);
      value['candidates'] = list;
    }
    if (isObject(promptFeedback)) normaliseFeedback(promptFeedback);
    if (isObject(usageMetadata)) normaliseUsage(usageMetadata);
    withHelpers(value);
  },
};
