import * as z from 'zod/mini';
import type {
  Content,
  FileData,
  FunctionCall,
  FunctionResponse,
  InlineData,
  PartialArg,
  Part,
  Candidate,
  GenerateContentHelpers,
  GenerateContentResponse,
  PromptFeedback,
  UsageMetadata,
} from './types.ts';
import {
  optionalFlag,
  optionalList,
  optionalNumber,
  optionalObject,
  optionalText,
  type ShapeOf,
  unread,
} from '../answers/shape-of.ts';

const inlineDataShape = {
  mimeType: optionalText,
  data: optionalText,
  displayName: optionalText,
} satisfies ShapeOf<InlineData>;

const fileDataShape = {
  mimeType: optionalText,
  fileUri: optionalText,
  displayName: optionalText,
} satisfies ShapeOf<FileData>;

const partialArgShape = {
  jsonPath: optionalText,
  stringValue: optionalText,
  numberValue: optionalNumber,
  boolValue: optionalFlag,
  nullValue: unread,
  willContinue: optionalFlag,
} satisfies ShapeOf<PartialArg>;

const functionCallShape = {
  id: optionalText,
  name: optionalText,
  args: optionalObject({}),
  partialArgs: optionalList(z.looseObject(partialArgShape)),
  willContinue: optionalFlag,
} satisfies ShapeOf<FunctionCall>;

const functionResponseShape = {
  id: optionalText,
  name: optionalText,
  response: unread,
  parts: unread,
  willContinue: optionalFlag,
  scheduling: optionalText,
} satisfies ShapeOf<FunctionResponse>;

const partShape = {
  text: optionalText,
  thought: optionalFlag,
  thoughtSignature: optionalText,
  inlineData: optionalObject(inlineDataShape),
  fileData: optionalObject(fileDataShape),
  functionCall: optionalObject(functionCallShape),
  functionResponse: optionalObject(functionResponseShape),
  executableCode: unread,
  codeExecutionResult: unread,
  toolCall: unread,
  toolResponse: unread,
  videoMetadata: unread,
  mediaResolution: unread,
} satisfies ShapeOf<Part>;

const contentShape = {
  role: optionalText,
  parts: optionalList(z.looseObject(partShape)),
} satisfies ShapeOf<Content>;

const candidateShape = {
  content: optionalObject(contentShape),
  finishReason: optionalText,
  finishMessage: optionalText,
  index: optionalNumber,
  safetyRatings: optionalList(unread),
  citationMetadata: unread,
  groundingMetadata: unread,
  urlContextMetadata: unread,
  logprobsResult: unread,
  avgLogprobs: optionalNumber,
  tokenCount: optionalNumber,
} satisfies ShapeOf<Candidate>;

const promptFeedbackShape = {
  blockReason: optionalText,
  blockReasonMessage: optionalText,
  safetyRatings: optionalList(unread),
} satisfies ShapeOf<PromptFeedback>;

const usageMetadataShape = {
  promptTokenCount: optionalNumber,
  candidatesTokenCount: optionalNumber,
  totalTokenCount: optionalNumber,
  cachedContentTokenCount: optionalNumber,
  thoughtsTokenCount: optionalNumber,
  toolUsePromptTokenCount: optionalNumber,
  promptTokensDetails: optionalList(unread),
  candidatesTokensDetails: optionalList(unread),
  cacheTokensDetails: optionalList(unread),
  toolUsePromptTokensDetails: optionalList(unread),
} satisfies ShapeOf<UsageMetadata>;

/** What travels of a response: without the getters that are added here. */
type ResponseFields = Omit<GenerateContentResponse, '_request_id' | keyof GenerateContentHelpers>;

/** A response, and one piece of a streamed one. */
export const responseSchema = z.looseObject({
  candidates: optionalList(z.looseObject(candidateShape)),
  promptFeedback: optionalObject(promptFeedbackShape),
  usageMetadata: optionalObject(usageMetadataShape),
  modelVersion: optionalText,
  responseId: optionalText,
  createTime: optionalText,
} satisfies ShapeOf<ResponseFields>);
