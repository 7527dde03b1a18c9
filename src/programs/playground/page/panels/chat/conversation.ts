import type { CallView } from '../../../protocol.ts';

/** A content part of a message. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A chat message in the form of the API. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly Part[] | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: 'function';
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** Returns the messages that a call sent. */
function sentMessages({ body }: CallView): Message[] {
  const messages: readonly Message[] = JSON.parse(JSON.stringify(body['messages'] ?? []));
  return [...messages];
}

/** Returns the messages that a call sent, without the system prompt of that time. */
export const withoutSystem = (call: CallView): Message[] =>
  sentMessages(call).filter(({ role }) => role !== 'system');

/** Returns the messages before a new turn: the conversation so far and the last answer, if any. */
export function buildHistory(last: CallView | undefined): Message[] {
  if (last === undefined) return [];
  const messages = withoutSystem(last);
  const { text, toolCalls } = last;
  if (toolCalls.length > 0) {
    const called = toolCalls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: args },
    }));
    return [...messages, { role: 'assistant', content: text || null, tool_calls: called }];
  }
  // A message without an answer is replaced, so it is not sent twice.
  if (text === '') return messages.slice(0, -1);
  return [...messages, { role: 'assistant', content: text }];
}

/** Returns the last message that a call sent. */
export function lastMessage(call: CallView): { text: string; images: string[]; isTool: boolean } {
  const last = sentMessages(call).at(-1);
  const content = last?.content ?? '';
  if (typeof content === 'string') {
    return { text: content, images: [], isTool: last?.role === 'tool' };
  }
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const images = content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
  return { text, images, isTool: false };
}

/** Returns the messages of a call with another text in the last one. Its images are kept. */
export function editLast(call: CallView, text: string): Message[] {
  const messages = withoutSystem(call);
  const last = messages.pop();
  if (last === undefined) return [];
  if (!Array.isArray(last.content)) return [...messages, { ...last, content: text }];
  const images = last.content.filter(({ type }) => type === 'image_url');
  return [...messages, { ...last, content: [{ type: 'text', text }, ...images] }];
}

/** Returns the calls of a column without those that were replaced by a retry or an edit. */
export function currentCalls(calls: readonly CallView[]): CallView[] {
  const current: CallView[] = [];
  for (const call of calls) {
    const replaced = current.findIndex(({ id }) => id === call.replaces);
    if (replaced !== -1) current.length = replaced;
    current.push(call);
  }
  return current;
}
