import { isObject } from '../../answers/objects.ts';
import type { JsonObject } from '../../types.ts';
import { list, record, text } from '../control/json.ts';
import { checkOutputFormat } from '../faults/structured-output.ts';
import {
  type ChatRequest,
  countPrompt,
  readQuestion,
  readSchema,
  type Tool,
} from '../routes/chat-request.ts';
import { checkWords } from '../routes/prompts.ts';
import { checkModelName, invalid, readFields, type Call } from '../server/call.ts';

/** A validated request for a response. */
export interface ResponseRequest {
  /** The request as one for a chat, which has the same model behind it. */
  readonly chat: ChatRequest;
  /** Names of the custom tools, whose input is text. */
  readonly customTools: ReadonlySet<string>;
  readonly includesReasoning: boolean;
  /** Parameters that the response repeats. */
  readonly repeated: JsonObject;
  readonly isBackground: boolean;
}

/** Converts a part of a message to one of chat. */
function toPart(part: JsonObject): JsonObject {
  switch (part['type']) {
    case 'input_image':
      return { type: 'image_url', image_url: { url: part['image_url'] ?? '' } };
    case 'input_file':
      return { type: 'file', file: { filename: part['filename'] } };
    case 'input_audio':
      return part;
    default:
      return { type: 'text', text: part['text'] ?? part['refusal'] ?? '' };
  }
}

const toContent = (content: unknown): unknown =>
  typeof content === 'string' ? content : list(content).map((part) => toPart(record(part)));

/** Converts an item of the input to messages of chat. Items without text for the model have none. */
function toMessages(item: JsonObject): JsonObject[] {
  const { type = 'message', role, content, call_id: id, name, output } = item;
  switch (type) {
    case 'message':
      return [{ role, content: toContent(content) }];
    case 'function_call':
    case 'custom_tool_call':
      return [{ role: 'assistant', tool_calls: [{ id, function: { name } }] }];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ role: 'tool', tool_call_id: id, content: toContent(output) }];
    default:
      return [];
  }
}

function readInput(call: Call, input: unknown, instructions: string | undefined): JsonObject[] {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  if (!Array.isArray(items) || items.length === 0) throw invalid(call, 'input is required');
  const system = instructions === undefined ? [] : [{ role: 'system', content: instructions }];
  const messages = items.map((item: unknown, index) => {
    const isMessage = isObject(item) && (typeof item['role'] === 'string' || 'type' in item);
    if (!isMessage) throw invalid(call, `invalid type for field "input[${index}]"`);
    return toMessages(item);
  });
  return [...system, ...messages.flat()];
}

function readTools(tools: readonly unknown[], choice: unknown): Tool[] {
  if (choice === 'none') return [];
  const wanted = text(record(choice)['name']);
  return tools.map(record).flatMap(({ type, name, parameters }) => {
    const isOwn = (type === 'function' || type === 'custom') && typeof name === 'string';
    const isWanted = isOwn && (wanted === undefined || name === wanted);
    return isWanted ? [{ name, parameters: type === 'custom' ? undefined : parameters }] : [];
  });
}

/** Reads and validates a request for a response. */
export function readResponseRequest(call: Call): ResponseRequest {
  const fields = readFields(call);
  const model = checkModelName(call, fields.string('model'));
  const instructions = fields.string('instructions');
  const messages = readInput(call, fields.raw('input'), instructions);
  for (const name of ['temperature', 'top_p']) fields.number(name);
  const question = readQuestion(model, messages);
  checkWords(question.prompt);
  const tools = fields.list('tools') ?? [];
  const choice = fields.raw('tool_choice');
  const textConfig = fields.object('text') ?? {};
  const format = record(textConfig['format']);
  const type = format['type'];
  const outputFormat = type === 'json_schema' || type === 'json_object' ? type : undefined;
  if (type === 'json_schema' && !isObject(format['schema'])) {
    throw invalid(call, "Missing required parameter: 'text.format.schema'.");
  }
  for (const [index, tool] of tools.map(record).entries()) {
    const isNamed = tool['type'] !== 'function' || typeof tool['name'] === 'string';
    if (!isNamed) throw invalid(call, `Missing required parameter: 'tools[${index}].name'.`);
  }
  checkOutputFormat(call, model, outputFormat);
  const maxTokens = fields.integer('max_output_tokens');
  const parallel = fields.boolean('parallel_tool_calls') ?? true;
  const custom = tools.map(record).filter((tool) => tool['type'] === 'custom');
  return {
    chat: {
      question,
      promptTokens: countPrompt(messages),
      stream: fields.boolean('stream') ?? false,
      includeUsage: true,
      n: 1,
      maxTokens: maxTokens ?? Infinity,
      stop: [],
      tools: readTools(tools, choice),
      mustCall: choice === 'required' || isObject(choice),
      parallel,
      ...readSchema(outputFormat, format['schema'], messages, question),
      logprobs: false,
      topLogprobs: 0,
    },
    customTools: new Set(custom.flatMap(({ name }) => text(name) ?? [])),
    includesReasoning: list(fields.raw('include')).includes('reasoning.encrypted_content'),
    isBackground: fields.boolean('background') ?? false,
    repeated: {
      instructions: instructions ?? null,
      max_output_tokens: maxTokens ?? null,
      metadata: fields.object('metadata') ?? {},
      parallel_tool_calls: parallel,
      previous_response_id: fields.string('previous_response_id') ?? null,
      prompt_cache_key: fields.string('prompt_cache_key') ?? null,
      reasoning: fields.object('reasoning') ?? { effort: null, summary: null },
      store: fields.boolean('store') ?? true,
      temperature: fields.number('temperature') ?? 1,
      text: { ...textConfig, format: type === undefined ? { type: 'text' } : format },
      tool_choice: choice ?? 'auto',
      tools,
      top_p: fields.number('top_p') ?? 1,
      truncation: fields.string('truncation') ?? 'disabled',
    },
  };
}
