import type { CallView } from '../../protocol.ts';

/** A part of a message. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A message as the wire has it, as far as the page makes them. */
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

/** The messages that a call sent. */
function messagesOf({ body }: CallView): Message[] {
  const messages: readonly Message[] = JSON.parse(JSON.stringify(body['messages'] ?? []));
  return [...messages];
}

/** What a new turn builds on: all that was said, with the last answer, if there was any. */
export function historyOf(last: CallView | undefined): Message[] {
  if (last === undefined) return [];
  const messages = messagesOf(last).filter(({ role }) => role !== 'system');
  const { text, toolCalls } = last;
  if (toolCalls.length > 0) {
    const called = toolCalls.map(({ id, name, arguments: given }) => ({
      id,
      type: 'function' as const,
      function: { name, arguments: given },
    }));
    return [...messages, { role: 'assistant', content: text || null, tool_calls: called }];
  }
  // A question without an answer is asked anew, not twice.
  if (text === '') return messages.slice(0, -1);
  return [...messages, { role: 'assistant', content: text }];
}

/** What was asked with a call: its last message. */
export function questionOf(call: CallView): { text: string; images: string[]; isTool: boolean } {
  const last = messagesOf(call).at(-1);
  const content = last?.content ?? '';
  if (typeof content === 'string') {
    return { text: content, images: [], isTool: last?.role === 'tool' };
  }
  const text = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const images = content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
  return { text, images, isTool: false };
}

/** A file as an address that holds it. */
export function dataAddress(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () =>
      resolve(typeof reader.result === 'string' ? reader.result : ''),
    );
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });
}
