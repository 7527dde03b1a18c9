import type { JsonObject } from '../../types.ts';
import type {
  Candidate,
  Content,
  FunctionCall,
  GenerateContentHelpers,
  GenerateContentResponse,
  Part,
  PromptFeedback,
  UsageMetadata,
} from './types.ts';
import {
  hasValue,
  isMissingWord,
  isObject,
  listObjects,
  normalizeItems,
  toFields,
} from '../../answers/objects.ts';
import { isHollowCall, isNamelessCall, namelessCall } from '../../structured/calls.ts';
import type { Fields, FieldsOf, ResponseSchema } from '../../answers/reader.ts';

const functionCall: FieldsOf<FunctionCall> = {
  id: 'string',
  name: 'string',
  args: 'object',
  partialArgs: [
    {
      jsonPath: 'string',
      stringValue: 'string',
      numberValue: 'number',
      boolValue: 'boolean',
      nullValue: 'any',
      willContinue: 'boolean',
    },
  ],
  willContinue: 'boolean',
};

const part: FieldsOf<Part> = {
  text: 'string',
  thought: 'boolean',
  thoughtSignature: 'string',
  inlineData: { mimeType: 'string', data: 'string', displayName: 'string' },
  fileData: { mimeType: 'string', fileUri: 'string', displayName: 'string' },
  functionCall,
  functionResponse: 'any',
  executableCode: 'any',
  codeExecutionResult: 'any',
  toolCall: 'any',
  toolResponse: 'any',
  videoMetadata: 'any',
  mediaResolution: 'any',
};

const candidate: FieldsOf<Candidate> = {
  content: { role: 'string', parts: [part] } satisfies FieldsOf<Content>,
  finishReason: 'string',
  finishMessage: 'string',
  index: 'number',
  safetyRatings: 'array',
  citationMetadata: 'any',
  groundingMetadata: 'any',
  urlContextMetadata: 'any',
  logprobsResult: 'any',
  avgLogprobs: 'number',
  tokenCount: 'number',
};

const usage: FieldsOf<UsageMetadata> = {
  promptTokenCount: 'number',
  candidatesTokenCount: 'number',
  totalTokenCount: 'number',
  cachedContentTokenCount: 'number',
  thoughtsTokenCount: 'number',
  toolUsePromptTokenCount: 'number',
  promptTokensDetails: 'array',
  candidatesTokensDetails: 'array',
  cacheTokensDetails: 'array',
  toolUsePromptTokensDetails: 'array',
};

const response = {
  candidates: [candidate],
  promptFeedback: {
    blockReason: 'string',
    blockReasonMessage: 'string',
    safetyRatings: 'array',
  } satisfies FieldsOf<PromptFeedback>,
  usageMetadata: usage,
  modelVersion: 'string',
  responseId: 'string',
  createTime: 'string',
} satisfies FieldsOf<Omit<GenerateContentResponse, keyof GenerateContentHelpers>>;

function toCamelCase(key: string): string {
  if (!key.includes('_')) return key;
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Renames snake-case fields, which some proxies send, and removes `null`, which converting gateways send for
 * missing fields. Lists of objects lose other items.
 */
function normalizeFields(value: JsonObject, fields: Fields): void {
  for (const key in value) {
    const name = toCamelCase(key);
    if (!Object.hasOwn(fields, name)) continue;
    if (name !== key) {
      value[name] ??= value[key];
      delete value[key];
    }
    const field = (value[name] ??= undefined);
    const kind = fields[name];
    const [item] = Array.isArray(kind) ? kind : [kind];
    if (field === undefined || typeof item !== 'object' || Array.isArray(item)) continue;
    if (item !== kind) normalizeItems(value, name, (inner) => normalizeFields(inner, item));
    else if (isObject(field)) normalizeFields(field, item);
  }
}

const blockingReasons = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII|LANGUAGE/i;

/** The getters that responses inherit. They are absent from JSON and cost nothing if unused. */
class GenerateContentResult implements GenerateContentHelpers {
  declare readonly candidates?: Candidate[] | undefined;
  declare readonly promptFeedback?: PromptFeedback | undefined;

  get text(): string | undefined {
    const texts = getParts(this).map(({ text, thought }) => (thought === true ? undefined : text));
    const found = texts.filter((text) => typeof text === 'string');
    return found.length === 0 ? undefined : found.join('');
  }

  get functionCalls(): FunctionCall[] | undefined {
    const calls = getParts(this).map((item) => item.functionCall);
    const found = calls.filter((call) => call !== undefined).filter(({ name }) => name);
    return found.length === 0 ? undefined : found;
  }

  get blockReason(): string | undefined {
    const reason = this.promptFeedback?.blockReason;
    if (reason) return reason;
    const finish = this.candidates?.[0]?.finishReason;
    return finish && blockingReasons.test(finish) ? finish : undefined;
  }
}

function getParts({ candidates }: GenerateContentResult): readonly Part[] {
  return candidates?.[0]?.content?.parts ?? [];
}

/** Returns whether a value is a generation: it has content, a finish reason or prompt feedback. */
export function isGeneration(value: JsonObject): boolean {
  const { candidates, promptFeedback, prompt_feedback: feedback = promptFeedback } = value;
  if (hasValue(feedback)) return true;
  return listObjects(candidates).some(({ content, finishReason, finish_reason: reason }) => {
    const parts = isObject(content) ? content['parts'] : undefined;
    return [parts, finishReason, reason].some((item) => hasValue(item) && !isMissingWord(item));
  });
}

/** A response of content generation, or a piece of a streamed one. */
export const generateContentSchema: ResponseSchema<GenerateContentResponse> = {
  fields: response,
  result: { name: 'generation', isIn: isGeneration },
  normalize(value) {
    normalizeFields(value, response);
    for (const item of listObjects(value['candidates'])) {
      if (isMissingWord(item['finishReason'])) delete item['finishReason'];
    }
    Object.setPrototypeOf(value, GenerateContentResult.prototype);
  },
};

const listParts = ({ candidates = [] }: GenerateContentResponse): readonly Part[] =>
  candidates.flatMap(({ content }) => content?.parts ?? []);

const isHollow = ({ functionCall: call }: JsonObject): boolean =>
  isObject(call) && isHollowCall(call['name'], call['args']);

/** A complete response. */
export const wholeGenerationSchema: ResponseSchema<GenerateContentResponse> = {
  ...generateContentSchema,
  normalize(value) {
    generateContentSchema.normalize?.(value);
    for (const { content } of listObjects(value['candidates'])) {
      const fields = toFields(content);
      const parts = listObjects(fields['parts']);
      if (parts.some(isHollow)) fields['parts'] = parts.filter((item) => !isHollow(item));
    }
  },
  fault: (whole) =>
    listParts(whole).some(({ functionCall: call }) => call && isNamelessCall(call.name, call.args))
      ? { problem: namelessCall }
      : undefined,
};
