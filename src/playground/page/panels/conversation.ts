import type { CallView } from '../../protocol.ts';

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

/** Returns the messages before a new turn: the conversation so far and the last answer, if any. */
export function buildHistory(last: CallView | undefined): Message[] {
  if (last === undefined) return [];
  const messages = sentMessages(last).filter(({ role }) => role !== 'system');
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

/** Reads a file as a data URL. */
export function readDataURL(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () =>
      resolve(typeof reader.result === 'string' ? reader.result : ''),
    );
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });
}
