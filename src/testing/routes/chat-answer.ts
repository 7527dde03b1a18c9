import { parseJSON } from '../../answers/objects.ts';
import type { Quirks } from '../faults/quirks.ts';
import { answerText, reasoningText, markers } from './prompts.ts';
import type { ChatRequest, Tool } from './chat-request.ts';
import { hash } from '../media/hash.ts';
import type { ModelAnswer } from '../control/canned.ts';
import type { Ids } from '../control/ids.ts';
import type { Vendor } from '../control/models.ts';
import { SchemaValues } from './schema-values.ts';
import { wrapJSON } from '../faults/structured-output.ts';
import { countTokens, isConverted, splitTokens, type TokenCount } from './usage.ts';
import { present } from '../control/json.ts';

/** A tool call with its arguments as an object. */
interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A choice of a chat response. */
export interface ChatChoice {
  readonly index: number;
  readonly thoughts: string;
  /** Tokens of the answer. */
  readonly tokens: readonly string[];
  readonly refusal?: string | undefined;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
}

/** A chat response before formatting. */
export interface ChatAnswer {
  readonly id: string;
  readonly model: string;
  readonly vendor: Vendor | undefined;
  /** In seconds since 1970. */
  readonly created: number;
  readonly choices: readonly ChatChoice[];
  readonly count: TokenCount;
}

/** Returns the tools that the prompt names, or the first ones. */
function chosenTools({ tools, question }: ChatRequest, count: number): Tool[] {
  const prompt = question.prompt.toLowerCase();
  const isNamed = ({ name }: Tool): boolean =>
    name
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .some((word) => word.length > 3 && prompt.includes(word));
  return [...tools.filter(isNamed), ...tools.filter((tool) => !isNamed(tool))].slice(0, count);
}

function cutAt(value: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => value.indexOf(stop)).filter((end) => end >= 0);
  return value.slice(0, Math.min(value.length, ...ends));
}

function fullText(request: ChatRequest, index: number, quirks: Quirks): string {
  if (request.schema !== undefined) {
    const isAny = Object.keys(Object(request.schema)).length === 0;
    const schema = isAny
      ? { type: 'object', properties: { answer: { type: 'string' } } }
      : request.schema;
    const json = JSON.stringify(new SchemaValues(schema, request.question.prompt).make());
    return wrapJSON(json, request.isPrompted, quirks);
  }
  const answer = answerText(request.question);
  return index === 0 ? answer : `(${index + 1}) ${answer}`;
}

/** Returns the choice with the output that a test defines. */
function customChoice(answer: ModelAnswer, index: number, ids: Ids): ChatChoice {
  const { text = '', reasoning = '', toolCalls = [], finishReason = 'stop' } = answer;
  const calls = toolCalls.map(({ name, arguments: input }) => ({
    id: ids.next('call_', 24),
    name,
    input,
  }));
  return {
    index,
    thoughts: reasoning,
    tokens: splitTokens(text),
    toolCalls: calls,
    finishReason: calls.length > 0 && finishReason === 'stop' ? 'tool_calls' : finishReason,
  };
}

function makeChoice(
  request: ChatRequest,
  index: number,
  { ids, quirks }: Pick<AnswerContext, 'ids' | 'quirks'>,
): ChatChoice {
  const { chatToolCallCount: toolCount } = quirks;
  const { question, maxTokens, tools } = request;
  const thoughts = reasoningText(question);
  const plain = { index, thoughts, tokens: [], toolCalls: [] };
  if (question.prompt.includes(markers.refuse)) {
    return { ...plain, refusal: 'I cannot help with that.', finishReason: 'stop' };
  }
  if (tools.length > 0 && question.toolResults.length === 0) {
    const chosen = chosenTools(request, request.parallel ? toolCount : 1);
    const toolCalls = chosen.map(({ name, parameters }) => ({
      id: ids.next('call_', 24),
      name,
      input: new SchemaValues(parameters ?? { type: 'object' }, question.prompt).make() ?? {},
    }));
    return { ...plain, toolCalls, finishReason: 'tool_calls' };
  }
  const tokens = splitTokens(cutAt(fullText(request, index, quirks), request.stop));
  if (question.prompt.includes(markers.filter)) {
    const half = tokens.slice(0, Math.ceil(tokens.length / 2));
    return { ...plain, tokens: half, finishReason: 'content_filter' };
  }
  const left = Math.max(0, maxTokens - countTokens(thoughts));
  const isCut = tokens.length > left;
  return { ...plain, tokens: tokens.slice(0, left), finishReason: isCut ? 'length' : 'stop' };
}

/** Counts the tokens of a choice without its reasoning. */
function countChoiceTokens({ tokens, refusal = '', toolCalls }: ChatChoice): number {
  const calls = toolCalls.map(({ name, input }) => countTokens(name + JSON.stringify(input)));
  return tokens.length + countTokens(refusal) + calls.reduce((sum, size) => sum + size, 0);
}

/** Context for a chat response. */
interface AnswerContext {
  readonly vendor: Vendor | undefined;
  readonly ids: Ids;
  readonly now: number;
  readonly quirks: Quirks;
  readonly modelAnswer: ModelAnswer | undefined;
}

/** Creates the response to a chat request. */
export function answerChat(
  request: ChatRequest,
  { vendor, ids, now, quirks, modelAnswer }: AnswerContext,
): ChatAnswer {
  const count = Math.max(1, request.n);
  const choices = Array.from({ length: count }, (_, index) =>
    modelAnswer === undefined
      ? makeChoice(request, index, { ids, quirks })
      : customChoice(modelAnswer, index, ids),
  );
  const reasoning = choices.reduce((sum, { thoughts }) => sum + countTokens(thoughts), 0);
  const completion = choices.reduce((sum, choice) => sum + countChoiceTokens(choice), reasoning);
  return {
    id: ids.next(vendor === 'anthropic' ? 'msg_' : 'chatcmpl-', 24),
    model: request.question.model,
    vendor,
    created: Math.floor(now / 1000),
    choices,
    count: { prompt: request.promptTokens, completion, reasoning },
  };
}

/** Returns the probability of a token in the format of the `logprobs` field. */
export function toLogprob(token: string, top: number): unknown {
  const logprob = -(hash(token) % 1000) / 1000;
  const entry = { token, logprob, bytes: [...new TextEncoder().encode(token)] };
  const others = Array.from({ length: Math.max(0, top - 1) }, (_, index) => ({
    token: `${token}${index}`,
    logprob: logprob - 1 - index,
    bytes: null,
  }));
  return { ...entry, top_logprobs: top === 0 ? [] : [entry, ...others] };
}

/** Formats a creation time in seconds according to the quirk. */
export function createdField(seconds: number, { chatCreated }: Quirks): number | string {
  if (chatCreated === 'string') return String(seconds);
  return chatCreated === 'float' ? seconds + 0.25 : seconds;
}

/** A tool call as it is sent. */
export interface SentCall {
  readonly id: string;
  readonly name: string;
  /** The arguments. */
  readonly json: string;
}

/** Returns the tool calls of a choice as gateways with this quirk send them. */
export function sentCalls({ toolCalls }: ChatChoice, { chatToolCalls }: Quirks): SentCall[] {
  const calls = toolCalls.map(({ id, name, input }) => {
    const json = JSON.stringify(input);
    return { id, name, json: chatToolCalls === 'cut' ? json.slice(0, json.length / 2) : json };
  });
  const [first] = calls;
  if (first === undefined || chatToolCalls === 'missing') return [];
  return chatToolCalls === 'same-id' ? calls.map((call) => ({ ...call, id: first.id })) : calls;
}

/** Returns reasoning as the value of its field. */
const wholeThoughts = (thoughts: string, { chatReasoning }: Quirks): unknown =>
  chatReasoning === 'thinking_blocks' ? [thinkingBlock(thoughts, thinkingSignature)] : thoughts;

/** Returns a block of thinking, or a piece of one. */
export const thinkingBlock = (thinking: string, signature: string): object => ({
  type: 'thinking',
  thinking,
  signature,
});

export const thinkingSignature = 'c2lnbmF0dXJl';

/** Returns the message of a choice. */
export function messageBody(choice: ChatChoice, { vendor }: ChatAnswer, quirks: Quirks): unknown {
  const { thoughts, toolCalls, refusal: refused } = choice;
  // Gemini withholds the whole filtered answer, so the gateway has no text.
  const isWithheld = vendor === 'google' && choice.finishReason === 'content_filter';
  const answer = isWithheld ? '' : choice.tokens.join('');
  const isTagged = quirks.chatReasoning === 'think-tags' && thoughts !== '';
  const whole = isTagged ? `<think>${thoughts}</think>${answer}` : answer;
  const parts = quirks.chatContent === 'parts' ? [{ type: 'text', text: whole }] : whole;
  return present({
    role: 'assistant',
    content: whole === '' && (toolCalls.length > 0 || refused !== undefined) ? null : parts,
    ...(isConverted(vendor) ? {} : { refusal: refused ?? null, annotations: [] }),
    ...(thoughts !== '' &&
      !isTagged && { [quirks.chatReasoning]: wholeThoughts(thoughts, quirks) }),
    tool_calls:
      toolCalls.length === 0
        ? undefined
        : sentCalls(choice, quirks).map(({ id, name, json }) => {
            const called = {
              name: quirks.chatToolCalls === 'nameless' ? '' : name,
              arguments: quirks.chatToolCalls === 'object' ? parseJSON(json) : json,
            };
            const isBare = quirks.chatToolCalls === 'unwrapped';
            return { id, type: 'function', ...(isBare ? called : { function: called }) };
          }),
  });
}

/** Returns the choices as gateways with this quirk send them: some send each call in a choice of its own. */
export function sentChoices(
  choices: readonly ChatChoice[],
  { chatToolCalls }: Quirks,
): ChatChoice[] {
  if (chatToolCalls !== 'choices') return [...choices];
  const parts = choices.flatMap((choice) => [
    { ...choice, toolCalls: [] },
    ...choice.toolCalls.map((call) => ({ ...choice, thoughts: '', tokens: [], toolCalls: [call] })),
  ]);
  return parts.map((part, index) => ({ ...part, index }));
}
