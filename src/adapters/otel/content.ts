import type { Attributes } from '@opentelemetry/api';
import type { ObservedRequest } from '../../index.ts';
import { toText } from './conventions.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A part of a message, in the format of the semantic conventions. */
type MessagePart = Fields & { readonly type: string };

interface Message {
  readonly role: string;
  readonly parts: readonly MessagePart[];
  readonly finish_reason?: string;
}

/** Maximum length of a URL in a trace. Longer files are recorded by type only. */
const maxURLLength = 2_048;

const toFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

const toList = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map(toFields) : [];

const textPart = (content: string): MessagePart => ({ type: 'text', content });

/** Parses JSON; returns other values, and text that is not valid JSON, unchanged. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function uriPart(modality: string, uri: unknown): MessagePart {
  const isShort = typeof uri === 'string' && uri.length <= maxURLLength && !uri.startsWith('data:');
  return isShort ? { type: 'uri', modality, uri } : { type: 'blob', modality };
}

/** Converts a chat message to parts. */
function chatParts(message: Fields): MessagePart[] {
  const { content, role } = message;
  const reasoning = message['reasoning_content'] ?? message['reasoning'];
  const parts: MessagePart[] = [];
  if (typeof reasoning === 'string' && reasoning !== '') {
    parts.push({ type: 'reasoning', content: reasoning });
  }
  if (role === 'tool') {
    return [{ type: 'tool_call_response', id: message['tool_call_id'], response: parsed(content) }];
  }
  if (typeof content === 'string' && content !== '') parts.push(textPart(content));
  for (const part of toList(content)) {
    if (typeof part['text'] === 'string') parts.push(textPart(part['text']));
    else if (part['type'] === 'image_url') {
      parts.push(uriPart('image', toFields(part['image_url'])['url'] ?? part['image_url']));
    } else if (typeof part['type'] === 'string') parts.push({ type: part['type'] });
  }
  for (const { id, function: called } of toList(message['tool_calls'])) {
    const { name, arguments: given } = toFields(called);
    parts.push({ type: 'tool_call', id, name, arguments: parsed(given) });
  }
  return parts;
}

/** Converts Gemini content to parts. */
function geminiParts(content: Fields): MessagePart[] {
  return toList(content['parts']).map((part): MessagePart => {
    const called = toFields(part['functionCall']);
    const answered = toFields(part['functionResponse']);
    const file = toFields(part['fileData']);
    if (typeof part['text'] === 'string') {
      const type = part['thought'] === true ? 'reasoning' : 'text';
      return { type, content: part['text'] };
    }
    if ('name' in called) {
      return {
        type: 'tool_call',
        id: called['id'],
        name: called['name'],
        arguments: called['args'],
      };
    }
    if ('name' in answered) {
      return { type: 'tool_call_response', id: answered['id'], response: answered['response'] };
    }
    if ('fileUri' in file) return uriPart('document', file['fileUri']);
    return { type: 'blob', modality: 'document' };
  });
}

/** Converts an item of a response, or of the input of one, to a message. */
function itemMessage(item: Fields): Message {
  const { type = 'message', role, content, summary, call_id: id, name, output } = item;
  switch (type) {
    case 'message':
      return { role: toText(role) ?? 'user', parts: itemParts(content) };
    case 'reasoning': {
      const texts = [...toList(summary), ...toList(content)].map(({ text }) => toText(text) ?? '');
      const parts = texts.map((text) => ({ type: 'reasoning', content: text }));
      return { role: 'assistant', parts };
    }
    case 'function_call':
    case 'custom_tool_call': {
      const given = parsed(item['arguments'] ?? item['input']);
      return { role: 'assistant', parts: [{ type: 'tool_call', id, name, arguments: given }] };
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return {
        role: 'tool',
        parts: [{ type: 'tool_call_response', id, response: parsed(output) }],
      };
    default:
      return { role: 'assistant', parts: [{ type: toText(type) ?? 'item' }] };
  }
}

/** Converts the content of an item to parts. */
function itemParts(content: unknown): MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)];
  return toList(content).map((part): MessagePart => {
    const text = part['text'] ?? part['refusal'];
    if (typeof text === 'string') return textPart(text);
    if (part['type'] === 'input_image') return uriPart('image', part['image_url']);
    return { type: toText(part['type']) ?? 'item' };
  });
}

const itemMessages = (items: unknown): Message[] =>
  toList(items)
    .map(itemMessage)
    .filter(({ parts }) => parts.length > 0);

const geminiRole = (role: unknown): string => (role === 'model' ? 'assistant' : 'user');

/** Converts the parameters of a request to messages. */
function toInputMessages(fields: Fields): {
  readonly system: MessagePart[];
  readonly messages: Message[];
} {
  const { messages, contents, prompt, input } = fields;
  if (Array.isArray(messages)) {
    const all = toList(messages).map((message): Message => {
      const { role } = message;
      return { role: typeof role === 'string' ? role : 'user', parts: chatParts(message) };
    });
    return { system: [], messages: all };
  }
  if (Array.isArray(contents)) {
    const system = toFields(fields['systemInstruction'] ?? fields['system_instruction']);
    const all = toList(contents).map((content) => ({
      role: geminiRole(content['role']),
      parts: geminiParts(content),
    }));
    return { system: geminiParts(system), messages: all };
  }
  const isItems = Array.isArray(input) && typeof input[0] === 'object';
  const { instructions } = fields;
  // Speech has instructions too, and a voice.
  const isInstructed = typeof instructions === 'string' && fields['voice'] === undefined;
  if (isItems || (typeof input === 'string' && isInstructed)) {
    const system = typeof instructions === 'string' ? [textPart(instructions)] : [];
    const text = { role: 'user', parts: [textPart(String(input))] };
    return { system, messages: isItems ? itemMessages(input) : [text] };
  }
  const texts = [prompt, input].flat().filter((text) => typeof text === 'string');
  if (texts.length === 0) return { system: [], messages: [] };
  return { system: [], messages: [{ role: 'user', parts: texts.map(textPart) }] };
}

/** Converts a response to messages. */
function toOutputMessages(answer: Fields): Message[] {
  if (Array.isArray(answer['choices'])) {
    return toList(answer['choices']).map((choice) => ({
      role: 'assistant',
      parts: chatParts(toFields(choice['message'])),
      finish_reason: toText(choice['finish_reason']) ?? '',
    }));
  }
  if (answer['object'] === 'response') {
    const { reason = answer['status'] } = toFields(answer['incomplete_details']);
    const finish_reason = toText(reason) ?? '';
    return itemMessages(answer['output']).map((message) => ({ ...message, finish_reason }));
  }
  return toList(answer['candidates']).map((candidate) => ({
    role: 'assistant',
    parts: geminiParts(toFields(candidate['content'])),
    finish_reason: toText(candidate['finishReason']) ?? '',
  }));
}

const messagesAttribute = (name: string, parts: readonly unknown[]): Attributes =>
  parts.length === 0 ? {} : { [name]: JSON.stringify(parts) };

/** Returns the span attributes for the messages of a request, without files. */
export function inputAttributes({ body }: ObservedRequest): Attributes {
  const fields = typeof body === 'string' ? parsed(body) : Object.fromEntries(body ?? []);
  const { system, messages } = toInputMessages(toFields(fields));
  return {
    ...messagesAttribute('gen_ai.system_instructions', system),
    ...messagesAttribute('gen_ai.input.messages', messages),
  };
}

/** Returns the span attributes for the messages of a response, without files and vectors. */
export function outputAttributes(answer: unknown): Attributes {
  if (typeof answer === 'string') {
    const parts = [textPart(answer)];
    return messagesAttribute('gen_ai.output.messages', [
      { role: 'assistant', parts, finish_reason: '' },
    ]);
  }
  return messagesAttribute('gen_ai.output.messages', toOutputMessages(toFields(answer)));
}
