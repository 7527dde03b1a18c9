import type {
  JSONObject,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
  SharedV4Warning,
} from '@ai-sdk/provider';
import type {
  ChatCompletionAssistantMessageInput,
  ChatCompletionContentPartInput,
  ChatCompletionMessageInput,
  ChatCompletionMessageToolCall,
  ChatCompletionReasoningDetail,
  ChatCompletionToolMessageParam,
} from '../../../index.ts';
import { toBytes, dataURL, detectImageType } from '../media.ts';
import { UnsupportedError } from '../errors.ts';
import { toWireNames } from '../option-names.ts';
import { isJSONObject, jsonObjects, providerName, sharedOptions, unsupported } from '../options.ts';

/** Fields of reasoning that the next request must repeat, by their names in the metadata of a part. */
const reasoningFields = {
  reasoningDetails: 'reasoning_details',
  thinkingBlocks: 'thinking_blocks',
} as const;

type ReasoningField = (typeof reasoningFields)[keyof typeof reasoningFields];

/** Names in the metadata of a part that are not extra fields of it. */
const metadata = new Set([...Object.keys(reasoningFields), 'thoughtSignature']);

/** Returns extra fields that the caller adds to a message or part. */
function extraFields(options: SharedV4ProviderOptions | undefined): Record<string, unknown> {
  if (options === undefined) return {};
  const added = Object.entries(sharedOptions(options) ?? {}).filter(
    ([name]) => !metadata.has(name),
  );
  return toWireNames(Object.fromEntries(added));
}

/**
 * Converts a prompt of the AI SDK to chat messages.
 *
 * @param hasToolParts - Sends files in tool results as parts.
 */
export function convertPrompt(
  prompt: LanguageModelV4Prompt,
  warnings: SharedV4Warning[],
  hasToolParts = false,
): ChatCompletionMessageInput[] {
  return prompt.flatMap((message) => convertMessages(message, warnings, hasToolParts));
}

function convertMessages(
  message: LanguageModelV4Message,
  warnings: SharedV4Warning[],
  hasToolParts: boolean,
): ChatCompletionMessageInput[] {
  const added = extraFields(message.providerOptions);
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.content, ...added }];
    case 'user': {
      const [first, ...others] = message.content;
      const isText = first?.type === 'text' && others.length === 0;
      if (!isText) return [{ role: 'user', content: message.content.map(convertPart), ...added }];
      return [
        { role: 'user', content: first.text, ...added, ...extraFields(first.providerOptions) },
      ];
    }
    case 'assistant':
      return splitAtResults(message.content, warnings).flatMap(({ parts, results }) => [
        { ...assistantMessage(parts, warnings), ...added },
        ...results.map((part) => toolMessage(part, warnings, hasToolParts)),
      ]);
    case 'tool':
      return message.content.flatMap((part) =>
        part.type === 'tool-result' ? [toolMessage(part, warnings, hasToolParts)] : [],
      );
  }
}

/** Converts the result of a tool to a message. */
function toolMessage(
  { output, toolCallId, providerOptions }: LanguageModelV4ToolResultPart,
  warnings: SharedV4Warning[],
  hasToolParts: boolean,
): ChatCompletionToolMessageParam {
  const content =
    hasToolParts && output.type === 'content'
      ? toolParts(resultParts(output.value, warnings))
      : resultText(output, warnings);
  return { role: 'tool', tool_call_id: toolCallId, content, ...extraFields(providerOptions) };
}

/** Parts of a message, and the results that followed them. */
interface ResultGroup {
  readonly parts: AssistantContent;
  readonly results: LanguageModelV4ToolResultPart[];
}

/**
 * Splits the message of a model whose provider ran tools after each group of results, because chat has results
 * only in messages of their own. Omits calls of such tools without a result, which gateways reject.
 */
function splitAtResults(content: AssistantContent, warnings: SharedV4Warning[]): ResultGroup[] {
  const answered = new Set(
    content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])),
  );
  const called = new Map<string, ResultGroup>();
  let open: ResultGroup = { parts: [], results: [] };
  const groups = [open];
  for (const part of content) {
    const group = part.type === 'tool-result' ? called.get(part.toolCallId) : undefined;
    if (part.type === 'tool-result' && group !== undefined) {
      group.results.push(part);
      continue;
    }
    const isCall = part.type === 'tool-call';
    if (isCall && part.providerExecuted === true && !answered.has(part.toolCallId)) {
      const details = 'It was omitted, because the message has no result of it.';
      warnings.push(unsupported('tool-call that the provider executes', details));
      continue;
    }
    if (open.results.length > 0) groups.push((open = { parts: [], results: [] }));
    if (isCall) called.set(part.toolCallId, open);
    open.parts.push(part);
  }
  return groups;
}

/** Converts the result of a tool to text for the model. */
function resultText(output: LanguageModelV4ToolResultOutput, warnings: SharedV4Warning[]): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'execution-denied':
      return output.reason ?? 'Tool call execution denied.';
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value);
    case 'content': {
      // Base64 in text would be billed per token, and models cannot read it.
      const texts = output.value.map(currentPart).map((part) => {
        if (part.type === 'text') return part.text;
        warnings.push(
          unsupported(`${part.type} in a tool result`, 'The model receives only its text.'),
        );
        return part.type === 'file' ? `[${part.filename ?? part.mediaType}]` : '';
      });
      return texts.filter((text) => text !== '').join('\n');
    }
  }
}

type ResultParts = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'];

/** Converts a part of a tool result in the format of AI SDK 5 and 6, which tools of older packages return. */
function currentPart(part: ResultParts[number]): ResultParts[number] {
  const { type, data, url, mediaType: named, filename }: Record<string, unknown> = { ...part };
  if (/^(text|file|custom)$/.test(part.type)) return part;
  const kind = String(type);
  const mediaType = typeof named === 'string' ? named : kind.startsWith('image') ? 'image/*' : '';
  const file = {
    type: 'file' as const,
    mediaType,
    ...(typeof filename === 'string' && { filename }),
  };
  if (typeof data === 'string') return { ...file, data: { type: 'data', data } };
  if (typeof url === 'string' && URL.canParse(url))
    return { ...file, data: { type: 'url', url: new URL(url) } };
  throw new UnsupportedError(`${kind} in a tool result`, 'Pass text or a file.');
}

/** Converts the parts of a tool result. */
function resultParts(
  parts: ResultParts,
  warnings: SharedV4Warning[],
): ChatCompletionContentPartInput[] {
  return parts.map(currentPart).flatMap((part) => {
    if (part.type !== 'custom') return [convertPart(part)];
    warnings.push(unsupported('custom part in a tool result', 'It was omitted.'));
    return [];
  });
}

/** Types parts as the content of a tool message, which is text in OpenAI's own format. */
function toolParts(
  parts: ChatCompletionContentPartInput[],
): ChatCompletionToolMessageParam['content'];
function toolParts(parts: unknown): unknown {
  return parts;
}

const isTyped = (item: JSONObject): item is JSONObject & ChatCompletionReasoningDetail =>
  typeof item['type'] === 'string';

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

function assistantMessage(
  content: AssistantContent,
  warnings: SharedV4Warning[],
): ChatCompletionAssistantMessageInput {
  let text = '';
  let thoughts = '';
  const calls: ChatCompletionMessageToolCall[] = [];
  const kept: Partial<Record<ReasoningField, readonly ChatCompletionReasoningDetail[]>> = {};
  for (const part of content) {
    for (const [name, field] of Object.entries(reasoningFields)) {
      const items = jsonObjects(part.providerOptions?.[providerName]?.[name]).filter(isTyped);
      if (items.length > 0) kept[field] = [...(kept[field] ?? []), ...items];
    }
    if (part.type === 'text') text += part.text;
    else if (part.type === 'reasoning') thoughts += part.text;
    else if (part.type === 'tool-call') calls.push(convertToolCall(part));
    else warnings.push(unsupported(`${part.type} in an assistant message`, 'It was omitted.'));
  }
  const messageText = text === '' && calls.length > 0 ? null : text;
  return {
    role: 'assistant',
    content: messageText,
    ...kept,
    // The details contain the text.
    ...(thoughts !== '' && !kept.reasoning_details && { reasoning_content: thoughts }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Converts a tool call, with Gemini's signature, without which Gemini rejects the next request. */
function convertToolCall(part: LanguageModelV4ToolCallPart): ChatCompletionMessageToolCall {
  const { providerOptions, toolCallId, toolName, input } = part;
  const signature =
    providerOptions?.[providerName]?.['thoughtSignature'] ??
    providerOptions?.['google']?.['thoughtSignature'];
  const signed = typeof signature === 'string' && {
    extra_content: { google: { thought_signature: signature } },
  };
  // If the AI SDK could not parse a call, its input is the text of the model. The client sends `{}` in place of text
  // that is not JSON.
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  const called = { name: toolName, arguments: text };
  return {
    id: toolCallId,
    type: 'function',
    function: called,
    ...extraFields(providerOptions),
    ...signed,
  };
}

const audioFormats: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
};

function convertPart(
  part: LanguageModelV4TextPart | LanguageModelV4FilePart,
): ChatCompletionContentPartInput {
  const added = extraFields(part.providerOptions);
  if (part.type === 'text') return { type: 'text', text: part.text, ...added };
  return { ...filePart(part), ...added };
}

function filePart(part: LanguageModelV4FilePart): ChatCompletionContentPartInput {
  const { data, mediaType, filename } = part;
  const [kind] = mediaType.split('/');
  if (data.type === 'text') return { type: 'text', text: data.text };
  if (data.type === 'reference') {
    const id = data.reference[providerName];
    if (id !== undefined) return { type: 'file', file: { file_id: id } };
    throw new UnsupportedError('file references', `Pass one as "${providerName}".`);
  }
  const url = data.type === 'url' ? data.url.href : undefined;
  if (kind === 'image') {
    return { type: 'image_url', image_url: { url: url ?? toDataURL(part) } };
  }
  if (kind === 'video') {
    return { type: 'video_url', video_url: { url: url ?? toDataURL(part) } };
  }
  if (data.type === 'url') {
    throw new UnsupportedError(`${mediaType} files by URL`, 'Pass the bytes.');
  }
  if (kind === 'text') {
    return { type: 'text', text: new TextDecoder().decode(toBytes(data.data)) };
  }
  if (kind === 'audio') {
    const format = audioFormats[mediaType];
    if (format === undefined) {
      throw new UnsupportedError(`${mediaType} files`, 'Pass audio/wav or audio/mpeg.');
    }
    const base64 = dataURL(data.data, mediaType).split(',')[1] ?? '';
    return { type: 'input_audio', input_audio: { data: base64, format } };
  }
  const named = filename ?? (mediaType === 'application/pdf' ? 'document.pdf' : undefined);
  const file = {
    file_data: dataURL(data.data, mediaType),
    ...(named !== undefined && { filename: named }),
  };
  return { type: 'file', file };
}

/** Converts an image or video to a data URL. The media type may be a wildcard such as `image/*`. */
function toDataURL({ data, mediaType }: LanguageModelV4FilePart): string {
  const bytes = data.type === 'data' ? data.data : '';
  const type = /^\w+\/[^*]/.test(mediaType) ? mediaType : detectImageType(bytes);
  if (type !== undefined) return dataURL(bytes, type);
  throw new UnsupportedError(`files of type ${mediaType}`, 'Pass the full media type.');
}

/**
 * Returns OpenRouter's details of reasoning and Anthropic's signed blocks of thinking as provider metadata, which the
 * AI SDK sends back with the part.
 */
export function reasoningMetadata(message: object): { [providerName]: JSONObject } | undefined {
  const kept = Object.entries(reasoningFields).flatMap(([name, field]) => {
    const items = jsonObjects(Reflect.get(message, field));
    return items.length > 0 ? [[name, items]] : [];
  });
  return kept.length === 0 ? undefined : { [providerName]: Object.fromEntries(kept) };
}

/** Returns Gemini's signature of a tool call as provider metadata, which the AI SDK sends back with the call. */
export function signatureMetadata(
  call: object,
): { [providerName]: { thoughtSignature: string } } | undefined {
  const extra: unknown = 'extra_content' in call ? call.extra_content : undefined;
  const google = isJSONObject(extra) ? extra['google'] : undefined;
  const signature = isJSONObject(google) ? google['thought_signature'] : undefined;
  if (typeof signature !== 'string' || signature === '') return undefined;
  return { [providerName]: { thoughtSignature: signature } };
}
