import type { JsonObject } from '../types/common.ts';
import { answerText, thoughtsOf } from './answers.ts';
import { base64 } from './bytes.ts';
import { charge, type Call, type Handler } from './call.ts';
import { eventResponse } from './event-stream.ts';
import { readGenerate, type GenerateRequest } from './gemini-request.ts';
import { isRecord, present } from './json.ts';
import { markers } from './markers.ts';
import { paint } from './painting.ts';
import { encodePng } from './png.ts';
import type { Quirks } from './quirks.ts';
import { SchemaValues } from './schema-values.ts';
import { doneEvent, type EventRole, type StreamEvent } from './stream-events.ts';
import { countTokens, tokensOf } from './tokens.ts';

interface Candidate {
  readonly thoughts: string;
  readonly tokens: readonly string[];
  /** Parts that are never sent in pieces: function calls and pictures. */
  readonly whole: readonly JsonObject[];
  readonly finishReason: string;
}

function answerOf(request: GenerateRequest): string {
  const { schema, wantsJson, question } = request;
  if (!wantsJson) return answerText(question);
  const shape = schema ?? { type: 'object', properties: { answer: { type: 'string' } } };
  return JSON.stringify(new SchemaValues(shape, question.prompt).make());
}

async function makeCandidate(request: GenerateRequest, call: Call): Promise<Candidate> {
  const { question, tools, maxTokens, includeThoughts } = request;
  const reasoned = thoughtsOf(question);
  const thoughts = includeThoughts ? reasoned || 'I look at what the user wrote.' : '';
  const [tool] = tools;
  if (tool !== undefined && question.toolResults.length === 0) {
    const args = new SchemaValues(tool.parameters ?? { type: 'object' }, question.prompt).make();
    const functionCall = { id: call.world.ids.next('', 16), name: tool.name, args };
    return { thoughts, tokens: [], whole: [{ functionCall }], finishReason: 'STOP' };
  }
  const tokens = tokensOf(answerOf(request));
  if (question.prompt.includes(markers.filter)) {
    return { thoughts, tokens: [], whole: [], finishReason: 'SAFETY' };
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

function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => inSnakeCase(item));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, field]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    // The arguments of a function have the names that its schema gives them.
    name === 'args' ? field : inSnakeCase(field),
  ]);
  return Object.fromEntries(entries);
}

function inKeys(body: JsonObject, { generateKeys }: Quirks): unknown {
  return generateKeys === 'snake' ? inSnakeCase(body) : body;
}

const thoughtPart = (text: string): JsonObject => ({ text, thought: true });

function partsOf({ thoughts, tokens, whole }: Candidate): JsonObject[] {
  const answer = tokens.join('');
  return [
    ...(thoughts === '' ? [] : [thoughtPart(thoughts)]),
    ...(answer === '' ? [] : [{ text: answer }]),
    ...whole,
  ];
}

function candidateBody(
  index: number,
  parts: readonly JsonObject[],
  finishReason?: string,
): unknown {
  const content = finishReason === 'SAFETY' ? undefined : { role: 'model', parts };
  return present({ content, finishReason, index });
}

function candidateEvents(
  candidate: Candidate,
  index: number,
  quirks: Quirks,
): [EventRole, unknown][] {
  const pieces: JsonObject[] = [
    ...tokensOf(candidate.thoughts).map(thoughtPart),
    ...candidate.tokens.map((token) => ({ text: token })),
    ...candidate.whole,
  ];
  const { finishReason } = candidate;
  if (quirks.generateFinish === 'extra-chunk' || pieces.length === 0) {
    const deltas = pieces.map((part): [EventRole, unknown] => [
      'delta',
      candidateBody(index, [part]),
    ]);
    return [...deltas, ['finish', candidateBody(index, [], finishReason)]];
  }
  return pieces.map((part, position) =>
    position === pieces.length - 1
      ? ['finish', candidateBody(index, [part], finishReason)]
      : ['delta', candidateBody(index, [part])],
  );
}

interface Generated {
  readonly candidates: readonly Candidate[];
  readonly promptFeedback?: unknown;
  /** Fields that every body and every chunk ends with. */
  readonly tail: JsonObject;
  readonly usage: JsonObject;
}

async function generate(call: Call): Promise<Generated> {
  const request = readGenerate(call);
  const { model, prompt } = request.question;
  const isBlocked = prompt.includes(markers.block);
  const count = isBlocked ? 0 : Math.max(1, request.candidateCount);
  const candidates = await Promise.all(
    Array.from({ length: count }, () => makeCandidate(request, call)),
  );
  const answered = candidates.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const thought = candidates.reduce((sum, { thoughts }) => sum + countTokens(thoughts), 0);
  const total = request.promptTokens + answered + thought;
  charge(call, model, total);
  return {
    candidates: call.fault?.type === 'empty' ? [] : candidates,
    promptFeedback: isBlocked ? { blockReason: 'SAFETY' } : undefined,
    tail: { modelVersion: model, responseId: call.world.ids.next('', 22) },
    usage: present({
      promptTokenCount: request.promptTokens,
      candidatesTokenCount: isBlocked ? undefined : answered,
      thoughtsTokenCount: thought === 0 ? undefined : thought,
      totalTokenCount: total,
    }),
  };
}

/** `POST /v1beta/models/{model}:streamGenerateContent`. */
export const generateContentStream: Handler = async (call) => {
  const { quirks } = call.world;
  const { candidates, promptFeedback, tail, usage } = await generate(call);
  const bodies =
    promptFeedback === undefined
      ? candidates.flatMap((candidate, index) => candidateEvents(candidate, index, quirks))
      : [];
  const chunks: [EventRole, JsonObject][] = bodies.map(([role, body]) => [
    role,
    { candidates: [body] },
  ]);
  if (promptFeedback !== undefined) chunks.push(['finish', { promptFeedback }]);
  const events: StreamEvent[] = chunks.map(([role, body], position) => {
    const isLast = position === chunks.length - 1;
    const hasUsage = quirks.generateUsage === 'every-chunk' || isLast;
    const isCounted = hasUsage && quirks.generateUsage !== 'missing';
    const counted = isCounted ? { usageMetadata: usage } : {};
    return { role, data: inKeys({ ...body, ...counted, ...tail }, quirks) };
  });
  return eventResponse(call, quirks.generateDone ? [...events, doneEvent] : events);
};

/** `POST /v1beta/models/{model}:generateContent`. It streams too when the query says `alt=sse`. */
export const generateContent: Handler = async (call) => {
  if (call.url.searchParams.get('alt') === 'sse') return generateContentStream(call);
  const { quirks } = call.world;
  const { candidates, promptFeedback, tail, usage } = await generate(call);
  const body = present({
    candidates:
      promptFeedback === undefined
        ? candidates.map((candidate, index) =>
            candidateBody(index, partsOf(candidate), candidate.finishReason),
          )
        : undefined,
    promptFeedback,
    usageMetadata: quirks.generateUsage === 'missing' ? undefined : usage,
    ...tail,
  });
  return Response.json(inKeys(body, quirks));
};
