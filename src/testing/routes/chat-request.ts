import type { JsonObject } from '../../types.ts';
import { type Question, checkWords } from './prompts.ts';
import { decodeBase64 } from '../../answers/bytes.ts';
import { readDataURL } from '../media/bytes.ts';
import { readFields, invalid, checkModelName, type Call } from '../server/call.ts';
import { describePicture } from '../media/image-size.ts';
import { isObject } from '../../answers/objects.ts';
import { list, record, text } from '../control/json.ts';
import {
  checkOutputFormat,
  findPromptSchema,
  type OutputFormat,
} from '../faults/structured-output.ts';
import { Refusal, relayed } from '../server/errors.ts';
import { countTokens } from './usage.ts';

/** A tool that the model may call. */
export interface Tool {
  readonly name: string;
  readonly parameters: unknown;
}

/** A validated chat request. */
export interface ChatRequest {
  readonly question: Question;
  readonly promptTokens: number;
  readonly stream: boolean;
  /** `true` by default. */
  readonly includeUsage: boolean;
  readonly n: number;
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly tools: readonly Tool[];
  /** The model must call a tool. */
  readonly mustCall: boolean;
  readonly parallel: boolean;
  /** Schema of the answer. `{}` for any JSON object. */
  readonly schema: unknown;
  /** `true` if only the prompt asks for JSON. */
  readonly isPrompted: boolean;
  readonly logprobs: boolean;
  readonly topLogprobs: number;
}

function partText(part: unknown): string {
  return text(record(part)['text']) ?? '';
}

/** Returns the text of a message, in any content format. */
function contentText(content: unknown): string {
  return text(content) ?? list(content).map(partText).join('');
}

function describeMedia(part: JsonObject): string[] {
  switch (part['type']) {
    case 'image_url': {
      const url = text(part['image_url']) ?? text(record(part['image_url'])['url']) ?? '';
      return [describePicture(readDataURL(url))];
    }
    case 'input_audio': {
      const bytes = decodeBase64(text(record(part['input_audio'])['data']) ?? '');
      return [`an audio clip of ${bytes?.length ?? 0} bytes`];
    }
    case 'file':
      return [`the file ${text(record(part['file'])['filename']) ?? 'without a name'}`];
    case 'video_url':
      return ['a video'];
    default:
      return [];
  }
}

function toolNames(messages: readonly JsonObject[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) =>
    list(message['tool_calls']).map((call) => record(call)),
  );
  return new Map(
    calls.map((call) => [text(call['id']) ?? '', text(record(call['function'])['name']) ?? '']),
  );
}

export function readQuestion(model: string, messages: readonly JsonObject[]): Question {
  const names = toolNames(messages);
  const last = messages.findLastIndex((message) => message['role'] === 'user');
  // A turn may consist of several messages.
  const first = messages.slice(0, last).findLastIndex((message) => message['role'] !== 'user') + 1;
  const turn = messages.slice(first, last + 1).map((message) => message['content']);
  const results = messages
    .slice(last + 1)
    .filter((message) => message['role'] === 'tool' || message['role'] === 'function');
  return {
    model,
    prompt: turn.map(contentText).join('\n'),
    media: turn.flatMap(list).flatMap((part) => describeMedia(record(part))),
    toolResults: results.map((message) => ({
      name: names.get(text(message['tool_call_id']) ?? '') ?? text(message['name']) ?? 'The tool',
      result: contentText(message['content']),
    })),
  };
}

function readMessages(call: Call, messages: readonly unknown[] | undefined): JsonObject[] {
  if (messages === undefined || messages.length === 0) {
    throw invalid(call, 'field messages is required');
  }
  return messages.map((message, index) => {
    if (!isObject(message) || typeof message['role'] !== 'string') {
      throw invalid(call, `invalid type for field "messages[${index}].role": expected string`);
    }
    const { content } = message;
    if (content !== undefined && content !== null && typeof content === 'object') {
      if (!Array.isArray(content)) {
        throw invalid(call, `invalid type for field "messages[${index}].content"`);
      }
    }
    return message;
  });
}

function readTools(tools: readonly unknown[] | undefined, choice: unknown): Tool[] {
  if (choice === 'none') return [];
  const wanted = text(record(record(choice)['function'])['name']);
  return (tools ?? [])
    .map((tool) => record(record(tool)['function']))
    .flatMap((tool) => {
      const name = text(tool['name']);
      const isWanted = name !== undefined && (wanted === undefined || name === wanted);
      return isWanted ? [{ name, parameters: tool['parameters'] }] : [];
    });
}

/**
 * Returns the schema of the answer: that of the format or, for other formats, that in the instructions or the
 * last prompt.
 */
export function readSchema(
  format: OutputFormat | undefined,
  formatSchema: unknown,
  messages: readonly JsonObject[],
  { prompt }: Question,
): Pick<ChatRequest, 'schema' | 'isPrompted'> {
  if (format === 'json_schema') return { schema: formatSchema, isPrompted: false };
  const instructions = messages.filter(({ role }) => role === 'system' || role === 'developer');
  const texts = instructions.map(({ content }) => contentText(content));
  const schema = findPromptSchema(texts.join('\n')) ?? findPromptSchema(prompt);
  return format === undefined
    ? { schema, isPrompted: schema !== undefined }
    : { schema: schema ?? formatSchema ?? {}, isPrompted: false };
}

export function countPrompt(messages: readonly JsonObject[]): number {
  const counts = messages.map((message) => {
    const media = list(message['content']).filter((part) => record(part)['type'] !== 'text');
    return countTokens(contentText(message['content'])) + 3 + 85 * media.length;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Throws the error of a provider that rejects `stream_options`. */
function checkStreamOptions({ world: { quirks } }: Call): void {
  const type = 'invalid_request_error';
  if (quirks.chatStreamOptions === 'rejected') {
    const message = 'stream_options: Extra inputs are not permitted';
    throw relayed(400, { message, type, param: null, code: 'BAD_REQUEST' });
  }
  if (quirks.chatStreamOptions === 'forbidden') {
    const details = { message: 'Extra inputs are not permitted', type: 'extra_forbidden' };
    throw new Refusal(422, 'fastapi', { ...details, param: 'stream_options' });
  }
}

/** Reads and validates a chat request. */
export function readChat(call: Call): ChatRequest {
  const fields = readFields(call);
  const model = checkModelName(call, fields.string('model'));
  const messages = readMessages(call, fields.list('messages'));
  for (const name of ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'top_k']) {
    fields.number(name);
  }
  const question = readQuestion(model, messages);
  checkWords(question.prompt);
  const stop = fields.raw('stop');
  const choice = fields.raw('tool_choice');
  const options = fields.object('stream_options');
  if (options !== undefined) checkStreamOptions(call);
  const format = fields.object('response_format');
  const type = format?.['type'];
  const outputFormat = type === 'json_schema' || type === 'json_object' ? type : undefined;
  checkOutputFormat(call, model, outputFormat);
  // Some providers take the schema beside `type: "json_object"`.
  const schema = record(format?.['json_schema'])['schema'] ?? format?.['schema'] ?? {};
  return {
    question,
    promptTokens: countPrompt(messages),
    stream: fields.boolean('stream') ?? false,
    includeUsage: options?.['include_usage'] !== false,
    n: fields.integer('n') ?? 1,
    maxTokens: fields.integer('max_completion_tokens') ?? fields.integer('max_tokens') ?? Infinity,
    stop: typeof stop === 'string' ? [stop] : list(stop).flatMap((word) => text(word) ?? []),
    tools: readTools(fields.list('tools'), choice),
    mustCall: choice === 'required' || isObject(choice),
    parallel: fields.boolean('parallel_tool_calls') ?? true,
    ...readSchema(outputFormat, schema, messages, question),
    logprobs: fields.boolean('logprobs') ?? false,
    topLogprobs: fields.integer('top_logprobs') ?? 0,
  };
}
