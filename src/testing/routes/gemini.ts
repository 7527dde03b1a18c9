import type { JsonObject } from '../../types.ts';
import { answerText, reasoningText, markers } from './prompts.ts';
import { base64 } from '../media/bytes.ts';
import { charge, checkVendor, type Call, type World } from '../server/call.ts';
import type { ModelAnswer } from '../control/canned.ts';
import { doneEvent, type EventRole, type StreamEvent } from '../faults/stream-faults.ts';
import { eventResponse, plainDialect } from '../server/event-stream.ts';
import { readGenerate, type GenerateRequest } from './gemini-request.ts';
import { isObject } from '../../answers/objects.ts';
import { present } from '../control/json.ts';
import { findVendor } from '../control/models.ts';
import { paint } from '../media/painting.ts';
import { encodePng } from '../media/png.ts';
import type { Quirks } from '../faults/quirks.ts';
import { SchemaValues } from './schema-values.ts';
import { wrapJSON } from '../faults/structured-output.ts';
import { countTokens, splitTokens } from './usage.ts';

interface Candidate {
  readonly thoughts: string;
  readonly tokens: readonly string[];
  /** Parts that are never split: function calls and images. */
  readonly whole: readonly JsonObject[];
  readonly finishReason: string;
}

function createAnswer(request: GenerateRequest, quirks: Quirks): string {
  const { schema, wantsJson, isPrompted, question } = request;
  if (!wantsJson) return answerText(question);
  const shape = schema ?? { type: 'object', properties: { answer: { type: 'string' } } };
  const json = JSON.stringify(new SchemaValues(shape, question.prompt).make());
  return wrapJSON(json, isPrompted, quirks);
}

const finishReasons = { stop: 'STOP', length: 'MAX_TOKENS', content_filter: 'SAFETY' } as const;

/** Returns the candidate with the output that a test defines. */
function customCandidate(answer: ModelAnswer, { ids }: World, thinks: boolean): Candidate {
  const { text = '', reasoning = '', toolCalls = [], finishReason = 'stop' } = answer;
  const whole = toolCalls.map(({ name, arguments: args }) => ({
    functionCall: { id: ids.next('', 16), name, args },
  }));
  const thoughts = thinks ? reasoning : '';
  return { thoughts, tokens: splitTokens(text), whole, finishReason: finishReasons[finishReason] };
}

async function makeCandidate(request: GenerateRequest, call: Call): Promise<Candidate> {
  const { modelAnswer, world } = call;
  if (modelAnswer !== undefined)
    return customCandidate(modelAnswer, world, request.includeThoughts);
  const { question, tools, maxTokens, includeThoughts } = request;
  const reasoned = reasoningText(question);
  const thoughts = includeThoughts ? reasoned || 'I look at what the user wrote.' : '';
  const [tool] = tools;
  if (tool !== undefined && question.toolResults.length === 0) {
    const args = new SchemaValues(tool.parameters ?? { type: 'object' }, question.prompt).make();
    const functionCall = { id: call.world.ids.next('', 16), name: tool.name, args };
    return { thoughts, tokens: [], whole: [{ functionCall }], finishReason: 'STOP' };
  }
  const tokens = splitTokens(createAnswer(request, world.quirks));
  if (question.prompt.includes(markers.filter)) {
    const half = tokens.slice(0, Math.ceil(tokens.length / 2));
    return { thoughts, tokens: half, whole: [], finishReason: 'SAFETY' };
  }
  const whole: JsonObject[] = [];
  if (request.wantsImage) {
    const data = base64(await encodePng(paint(question.prompt, 256, 256)));
    whole.push({ inlineData: { mimeType: 'image/png', data } });
  }
  const isCut = tokens.length > maxTokens;
  const kept = isCut ? tokens.slice(0, maxTokens) : tokens;
  return { thoughts, tokens: kept, whole, finishReason: isCut ? 'MAX_TOKENS' : 'STOP' };
}

function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => toSnakeCase(item));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, field]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    // Keep the argument names of a function, which are defined by its schema.
    name === 'args' ? field : toSnakeCase(field),
  ]);
  return Object.fromEntries(entries);
}

function convertKeys(body: JsonObject, { generateKeys }: Quirks): unknown {
  return generateKeys === 'snake' ? toSnakeCase(body) : body;
}

const thoughtPart = (text: string): JsonObject => ({ text, thought: true });

function toParts({ thoughts, tokens, whole }: Candidate): JsonObject[] {
  const answer = tokens.join('');
  return [
    ...(thoughts === '' ? [] : [thoughtPart(thoughts)]),
    ...(answer === '' ? [] : [{ text: answer }]),
    ...whole,
  ];
}

const harassment = { category: 'HARM_CATEGORY_HARASSMENT', probability: 'HIGH', blocked: true };

/** Creates a candidate of a non-streamed response, whose text may have been filtered. */
function wholeBody(index: number, candidate: Candidate, isConverted: boolean): JsonObject {
  const { finishReason } = candidate;
  if (finishReason === 'SAFETY' && !isConverted) {
    return { finishReason, index, safetyRatings: [harassment] };
  }
  return candidateBody(index, toParts(candidate), isConverted, finishReason);
}

function candidateBody(
  index: number,
  parts: readonly JsonObject[],
  isConverted: boolean,
  finishReason?: string,
): JsonObject {
  const content = { role: 'model', parts };
  return isConverted
    ? { content, finishReason: finishReason ?? null, index, safetyRatings: [] }
    : present({ content, finishReason, index });
}

function candidateEvents(
  candidate: Candidate,
  index: number,
  isConverted: boolean,
  quirks: Quirks,
): [EventRole, JsonObject][] {
  const pieces: JsonObject[] = [
    ...splitTokens(candidate.thoughts).map(thoughtPart),
    ...candidate.tokens.map((token) => ({ text: token })),
    ...candidate.whole,
  ];
  const { finishReason } = candidate;
  const body = (parts: JsonObject[], reason?: string): JsonObject =>
    candidateBody(index, parts, isConverted, reason);
  const isExtra = quirks.generateFinish === 'extra-chunk' || isConverted;
  if (isExtra || pieces.length === 0) {
    const deltas = pieces.map((part): [EventRole, JsonObject] => ['delta', body([part])]);
    return [...deltas, ['finish', body([], finishReason)]];
  }
  return pieces.map((part, position) =>
    position === pieces.length - 1
      ? ['finish', body([part], finishReason)]
      : ['delta', body([part])],
  );
}

interface Generated {
  readonly candidates: readonly Candidate[];
  readonly promptFeedback?: unknown;
  /** `true` if the gateway converts the response from OpenAI's format. */
  readonly isConverted: boolean;
  /** Last fields of every body and chunk. */
  readonly tail: JsonObject;
  readonly usage: JsonObject;
  /** Usage in chunks before the last one. */
  readonly usageSoFar: JsonObject;
}

/** Creates the usage of a converted response: all fields, without modalities. */
function convertedUsage(prompt: number, answered: number, thought: number): JsonObject {
  return {
    promptTokenCount: prompt,
    toolUsePromptTokenCount: 0,
    candidatesTokenCount: answered,
    totalTokenCount: prompt + answered + thought,
    thoughtsTokenCount: thought,
    cachedContentTokenCount: 0,
    promptTokensDetails: null,
    toolUsePromptTokensDetails: null,
    candidatesTokensDetails: null,
  };
}

async function generate(call: Call): Promise<Generated> {
  const request = readGenerate(call);
  const { promptTokens } = request;
  const { model, prompt } = request.question;
  checkVendor(call, model, 'anthropic');
  const isConverted = findVendor(call.world.models, model) === 'openai';
  const isBlocked = prompt.includes(markers.block);
  const count = isBlocked ? 0 : Math.max(1, request.candidateCount);
  const { generateFinishReason } = call.world.quirks;
  const candidates = await Promise.all(
    Array.from({ length: count }, async () => {
      const candidate = await makeCandidate(request, call);
      return { ...candidate, finishReason: generateFinishReason || candidate.finishReason };
    }),
  );
  const answered = candidates.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const thought = candidates.reduce((sum, { thoughts }) => sum + countTokens(thoughts), 0);
  const total = promptTokens + answered + thought;
  charge(call, model, total, { tokens: [promptTokens, answered + thought] });
  return {
    candidates: call.fault?.type === 'empty' ? [] : candidates,
    promptFeedback: isBlocked ? { blockReason: 'PROHIBITED_CONTENT' } : undefined,
    isConverted,
    tail: isConverted ? {} : { modelVersion: model, responseId: call.world.ids.next('', 22) },
    usage: isConverted
      ? convertedUsage(promptTokens, answered, thought)
      : present({
          promptTokenCount: promptTokens,
          candidatesTokenCount: isBlocked ? undefined : answered,
          thoughtsTokenCount: thought === 0 ? undefined : thought,
          totalTokenCount: total,
          promptTokensDetails: isBlocked
            ? undefined
            : [{ modality: 'TEXT', tokenCount: promptTokens }],
        }),
    usageSoFar: isConverted
      ? convertedUsage(promptTokens, 0, 0)
      : { promptTokenCount: promptTokens, totalTokenCount: promptTokens },
  };
}

/** `POST /v1beta/models/{model}:streamGenerateContent`. */
export async function generateContentStream(call: Call, dialect = plainDialect): Promise<Response> {
  const { quirks } = call.world;
  const { candidates, promptFeedback, isConverted, tail, usage, usageSoFar } = await generate(call);
  const chunks = candidates
    .flatMap((candidate, index) => candidateEvents(candidate, index, isConverted, quirks))
    .map(([role, body]): [EventRole, JsonObject] => [role, { candidates: [body] }]);
  if (promptFeedback !== undefined) chunks.push(['finish', { promptFeedback }]);
  const events: StreamEvent[] = chunks.map(([role, body], position) => {
    const isLast = position === chunks.length - 1;
    const hasUsage = quirks.generateUsage === 'every-chunk' || isLast;
    const isCounted = hasUsage && quirks.generateUsage !== 'missing';
    const counted = isCounted ? { usageMetadata: isLast ? usage : usageSoFar } : {};
    return { role, data: convertKeys({ ...body, ...counted, ...tail }, quirks) };
  });
  const all = quirks.generateDone ? [...events, doneEvent] : events;
  return eventResponse(call, all.flatMap(dialect.event));
}

/** `POST /v1beta/models/{model}:generateContent`. Also streams if the query contains `alt=sse`. */
export async function generateContent(call: Call, dialect = plainDialect): Promise<Response> {
  if (call.url.searchParams.get('alt') === 'sse') return generateContentStream(call, dialect);
  const { quirks } = call.world;
  const { candidates, promptFeedback, isConverted, tail, usage } = await generate(call);
  const body = present({
    candidates:
      promptFeedback === undefined
        ? candidates.map((candidate, index) => wholeBody(index, candidate, isConverted))
        : undefined,
    promptFeedback,
    usageMetadata: quirks.generateUsage === 'missing' ? undefined : usage,
    ...tail,
  });
  return Response.json(convertKeys(dialect.whole(body), quirks));
}

export const geminiHandlers = {
  'generate.content': generateContent,
  'generate.contentStream': generateContentStream,
};
