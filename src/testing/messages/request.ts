import { isObject } from '../../answers/objects.ts';
import type { JsonObject } from '../../types.ts';
import { list, record, text } from '../control/json.ts';
import {
  type ChatRequest,
  countPrompt,
  readQuestion,
  readSchema,
  type Tool,
} from '../routes/chat-request.ts';
import { checkWords } from '../routes/prompts.ts';
import { checkModelName, invalid, readFields, type Call } from '../server/call.ts';

/** Returns the URL of a picture: its address, or its bytes as a data URL. */
function sourceURL(source: JsonObject): string {
  const { type, url, media_type: mediaType, data } = source;
  if (type === 'url') return text(url) ?? '';
  return `data:${text(mediaType) ?? ''};base64,${text(data) ?? ''}`;
}

/** Converts a block of content to parts of a chat message. Thinking is not sent to the model again. */
function toParts(block: JsonObject): JsonObject[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: block['text'] ?? '' }];
    case 'image':
      return [{ type: 'image_url', image_url: { url: sourceURL(record(block['source'])) } }];
    case 'document':
      return [{ type: 'file', file: { filename: block['title'] } }];
    default:
      return [];
  }
}

const toContent = (content: unknown): unknown =>
  typeof content === 'string' ? content : list(content).flatMap((block) => toParts(record(block)));

/** Converts a message to those of chat, in which the result of a tool is a message of its own. */
function toMessages({ role, content }: JsonObject): JsonObject[] {
  if (typeof content === 'string') return [{ role, content }];
  const blocks = list(content).map(record);
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  const parts = blocks.flatMap(toParts);
  const isEmpty = parts.length === 0 && calls.length === 0 && results.length > 0;
  const messages = results.map((result) => ({
    role: 'tool',
    tool_call_id: result['tool_use_id'],
    content: toContent(result['content']),
  }));
  if (isEmpty) return messages;
  const toolCalls = calls.map(({ id, name }) => ({ id, function: { name } }));
  return [
    ...messages,
    { role, content: parts, ...(calls.length > 0 && { tool_calls: toolCalls }) },
  ];
}

function readMessages(call: Call, items: readonly unknown[] | undefined): JsonObject[] {
  if (items === undefined || items.length === 0) throw invalid(call, 'field messages is required');
  return items.flatMap((item, index) => {
    const { role, content } = record(item);
    const isMessage =
      typeof role === 'string' && (typeof content === 'string' || Array.isArray(content));
    if (!isMessage) throw invalid(call, `invalid type for field "messages[${index}]"`);
    return toMessages(record(item));
  });
}

function readTools(tools: readonly unknown[], choice: JsonObject): Tool[] {
  if (choice['type'] === 'none') return [];
  const wanted = text(choice['name']);
  return tools.map(record).flatMap(({ type = 'custom', name, input_schema: parameters }) => {
    const isOwn = type === 'custom' && typeof name === 'string';
    return isOwn && (wanted === undefined || name === wanted) ? [{ name, parameters }] : [];
  });
}

/** Reads and validates a request for a message, as one for a chat, which has the same model behind it. */
export function readMessageRequest(call: Call): ChatRequest {
  const fields = readFields(call);
  const model = checkModelName(call, fields.string('model'));
  const items = readMessages(call, fields.list('messages'));
  const system = toContent(fields.raw('system') ?? '');
  const messages = system === '' ? items : [{ role: 'system', content: system }, ...items];
  for (const name of ['temperature', 'top_p', 'top_k']) fields.number(name);
  const question = readQuestion(model, messages);
  checkWords(question.prompt);
  const choice = fields.object('tool_choice') ?? {};
  const format = record(record(fields.object('output_config'))['format']);
  const { schema } = format;
  const type = isObject(schema) ? 'json_schema' : undefined;
  return {
    question,
    promptTokens: countPrompt(messages),
    stream: fields.boolean('stream') ?? false,
    includeUsage: true,
    n: 1,
    maxTokens: fields.integer('max_tokens') ?? Infinity,
    stop: (fields.list('stop_sequences') ?? []).flatMap((word) => text(word) ?? []),
    tools: readTools(fields.list('tools') ?? [], choice),
    mustCall: choice['type'] === 'any' || choice['type'] === 'tool',
    parallel: choice['disable_parallel_tool_use'] !== true,
    ...readSchema(type, schema, messages, question),
    logprobs: false,
    topLogprobs: 0,
  };
}
